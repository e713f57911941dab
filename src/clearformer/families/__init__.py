"""Foreign models in our words: each family's config translator and weight table.

Reading order: `family` (what one is) → `llama`, `gpt2`, `bert`, `t5`, `marian`, `bart`, `own` → `registry`
(which one a config names); beneath them `config_reader` (strict reading), `rope`, `heads`, `paper_blocks`,
`generation`.
"""

from clearformer.families.family import Family, GGUFForm
from clearformer.families.generation import GenerationDefaults
from clearformer.families.registry import FAMILIES, PUBLISHED, family_for, family_of, gguf_form_of

__all__ = [
    "FAMILIES",
    "PUBLISHED",
    "Family",
    "GGUFForm",
    "GenerationDefaults",
    "family_for",
    "family_of",
    "gguf_form_of",
]

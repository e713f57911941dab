"""Foreign models in our words: each family's config translator and weight table.

Reading order: `family` (what one is) → `llama`, `gpt2`, `bert`, `t5`, `marian`, `bart`, `own` → `registry`
(which one a config names); beneath them `config_reader` (strict reading), `rope`, `heads`, `paper_blocks`,
`generation`; in `gguf/` the forms of llama.cpp.
"""

from clearformer.families.family import Family
from clearformer.families.generation import GenerationDefaults
from clearformer.families.gguf.form import GGUFForm
from clearformer.families.registry import (
    FAMILIES,
    GGUF_FORMS,
    PUBLISHED,
    family_for,
    family_of,
    gguf_form_for,
    gguf_form_of,
)

__all__ = [
    "FAMILIES",
    "GGUF_FORMS",
    "PUBLISHED",
    "Family",
    "GGUFForm",
    "GenerationDefaults",
    "family_for",
    "family_of",
    "gguf_form_for",
    "gguf_form_of",
]

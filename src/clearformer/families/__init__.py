"""Foreign models in our words: each family's config translator and weight table.

Reading order: `family` (what one is) → `llama`, `gpt2`, `bert` → `registry` (which one a config names); beneath them
`config_reader` (strict reading), `rope`, `heads`, `generation`.
"""

from clearformer.families.family import Family, GGUFForm
from clearformer.families.generation import GenerationDefaults
from clearformer.families.registry import FAMILIES, family_for, family_of, family_of_gguf

__all__ = ["FAMILIES", "Family", "GGUFForm", "GenerationDefaults", "family_for", "family_of", "family_of_gguf"]

"""Foreign models in our words: each family's config translator and weight table.

A family's file says only what is its own. What several share stands in one place each:

- every config: `config_reader` (strict reading), `pretrained_config` (keys that transformers gives every family),
  `activations`, `generation`
- attention: `multi_head` (the paper's), `gated_decoder` (Llama's, grouped), `latent_decoder` (DeepSeek's); `rope`;
  `layer_kinds` (windows), `qwen_windows`
- the whole stack: `gated_decoder`, `latent_decoder`, `mixtures`, `bert_encoder`, `paper_blocks`, `clip_towers`
- behind it: `heads`, `sentence_head`
- weights that are stored otherwise: `fused_attention`, `shared_table`, `patches`
- the files of llama.cpp: `gguf/`

Reading order: `family` (what one is) → `llama`, `gemma`, `gpt2`, `bert`, `t5`, `marian`, `own` → `registry` (which one
a config names).
"""

from clearformer.families.family import Examined, Family
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
    "Examined",
    "Family",
    "GGUFForm",
    "GenerationDefaults",
    "family_for",
    "family_of",
    "gguf_form_for",
    "gguf_form_of",
]

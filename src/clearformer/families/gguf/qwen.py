"""llama.cpp's `qwen2` and `qwen3`. Their query and key rows lie as on the Hub: no rotary pairs side by side."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families import qwen2, qwen3
from clearformer.families.gguf.decoder import (
    ATTENTION,
    GATED,
    HEAD_NORMS,
    NORMS,
    Dialect,
    Metadata,
    Parts,
    block_rows,
    decoder_form,
    decoder_table,
    require_heads_fill_width,
)
from clearformer.spec import Spec


def _write(parts: Parts) -> Metadata:
    require_heads_fill_width("qwen2", parts)
    return {}


def table(spec: Spec) -> Table:
    return decoder_table(block_rows(ATTENTION + HEAD_NORMS + GATED + NORMS))


QWEN2 = decoder_form(Dialect("qwen2", "Qwen2ForCausalLM", qwen2.translate, table, write=_write))
QWEN3 = decoder_form(Dialect("qwen3", "Qwen3ForCausalLM", qwen3.translate, table))

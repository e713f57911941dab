"""llama.cpp's `phi3`: query, key and value in one matrix, gate and up in another, LongRoPE's divisors as tensors."""

from __future__ import annotations

from clearformer.checkpoint.renames import Split, Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.families import phi3
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.decoder import (
    ATTENTION,
    GATED,
    NORMS,
    Dialect,
    Metadata,
    Parts,
    block_rows,
    decoder_form,
    decoder_table,
    divisors_ignored,
    parts_of,
    require_heads_fill_width,
)
from clearformer.families.gguf.rotary import Words
from clearformer.families.layer_kinds import reach_of
from clearformer.spec import LongRoPE, Spec

_ROTARY = Words("phi3.", "by length", kinds=("none",), partial=True)
_ORIGINAL, _WINDOW = "phi3.rope.scaling.original_context_length", "phi3.attention.sliding_window"


def _read(metadata: ConfigReader, tensors: TensorFile, sizes: Metadata) -> Metadata:
    rotary = sizes["rope_parameters"]
    assert isinstance(rotary, dict)
    original = rotary.get("original_max_position_embeddings", sizes["max_position_embeddings"])
    window = metadata.whole(_WINDOW, 0, at_least=0)
    return {"original_max_position_embeddings": original, "sliding_window": window or None}


def _write(parts: Parts) -> Metadata:
    """llama.cpp reads the window and leaves it out of its computation, but for a warning."""
    require_heads_fill_width("phi3", parts)
    scaling = parts.rotary.scaling
    original = scaling.original_length if isinstance(scaling, LongRoPE) else parts.spec.context
    return {_ORIGINAL: original, _WINDOW: reach_of(parts.attention) or 0}


def table(spec: Spec) -> Table:
    parts = parts_of(spec)
    assert parts is not None
    assert parts.gated is not None
    attention, block = parts.attention, "decoder.blocks.{i}"
    queries, keys = attention.heads * attention.key_width, attention.kv_heads * attention.key_width
    fused = tuple(f"{block}.{ours}.weight" for _, ours in ATTENTION[:3])
    gate_up = tuple(f"{block}.{ours}.weight" for _, ours in GATED[:2])
    rows = [
        Split("blk.{i}.attn_qkv.weight", fused, (queries, keys, keys)),
        Split("blk.{i}.ffn_up.weight", gate_up, (parts.gated.width,) * 2),
        *block_rows(ATTENTION[3:] + GATED[2:] + NORMS),
    ]
    return (*decoder_table(rows), *divisors_ignored(_ROTARY.divisors))


PHI3 = decoder_form(Dialect("phi3", "Phi3ForCausalLM", phi3.translate, table, _read, _write, rotary=_ROTARY))

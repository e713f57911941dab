"""llama.cpp's `llama`: Llama, Mistral without a window, and Mixtral, whose experts `llama.expert_count` counts."""

from __future__ import annotations

from functools import partial

from clearformer.checkpoint.renames import Permuted, Row, Same, Stacked, Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families import llama, mixtral
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
)
from clearformer.families.gguf.rotary import Words
from clearformer.families.gguf.values import rows_of
from clearformer.messages import families as say
from clearformer.spec import Experts, Spec

# As llama.cpp bounds them; the largest published model has 384.
MAX_EXPERTS = 1024
_COUNT, _USED = "llama.expert_count", "llama.expert_used_count"
_ROTARY = Words("llama.", "one or by length")
_EXPERT = "decoder.blocks.{i}.feedforward.experts.{e}"


def _read(metadata: ConfigReader, tensors: TensorFile, sizes: Metadata) -> Metadata:
    metadata.only("llama.tensor_data_layout", "Meta AI original pth")
    names = frozenset(tensors.names())
    experts = metadata.whole(_COUNT, 0, at_least=0, limit=MAX_EXPERTS)
    if experts == 0:
        metadata.only(_USED, 0)
        return {"attention_bias": "blk.0.attn_q.bias" in names, "mlp_bias": "blk.0.ffn_up.bias" in names}
    active = metadata.whole(_USED, limit=experts)
    _require_experts(tensors, experts)
    return {"num_local_experts": experts, "num_experts_per_tok": active}


def _require_experts(tensors: TensorFile, count: int) -> None:
    """As many experts lie in the file as it claims, before anything is built for them."""
    names = tensors.names()
    merged = [name for name in names if name.endswith(".ffn_down_exps.weight")]
    held = [rows_of(tensors, name) if all(tensors.shape(name)) else 0 for name in merged]
    apart = [int(expert) for name in names if (expert := _expert_of(name)) is not None]
    found = min(held) if held else len(set(apart))
    if found != count:
        key = merged[0] if merged else _COUNT
        raise CheckpointError(say.BAD_VALUE, path=tensors.path, key=key, expected=f"{count} experts", found=found)


def _expert_of(name: str) -> str | None:
    """The expert's number in a name of the older form, `blk.0.ffn_down.3.weight`."""
    match name.split("."):
        case ["blk", _, "ffn_down", expert, "weight"] if expert.isdecimal():
            return expert
    return None


def _translate(config: ConfigReader, language: str) -> Spec:
    if config.has("num_local_experts"):
        return mixtral.translate(config, "MixtralForCausalLM")
    return llama.translate(config, language)


def _write(parts: Parts) -> Metadata:
    if not isinstance(parts.feedforward, Experts):
        return {}
    return {_COUNT: parts.feedforward.count, _USED: parts.feedforward.active}


def table(spec: Spec) -> Table:
    """Query and key rows lie as rotary pairs side by side; experts in one tensor, in older files each in its own."""
    parts = parts_of(spec)
    assert parts is not None
    heads = {"attn_q": parts.attention.heads, "attn_k": parts.attention.kv_heads}
    rows: list[Row] = block_rows(ATTENTION[2:] + NORMS)
    for pair in ATTENTION[:2]:
        rows += block_rows((pair,), partial(Permuted, heads=heads[pair[0]]))
    if isinstance(parts.feedforward, Experts):
        rows.append(Same("blk.{i}.ffn_gate_inp.weight", "decoder.blocks.{i}.feedforward.router.weight"))
        for theirs, ours in GATED:
            expert = f"{_EXPERT}.{ours.removeprefix('feedforward.')}.weight"
            rows.append(Stacked(f"blk.{{i}}.{theirs}_exps.weight", expert, parts.feedforward.count))
            rows.append(Same(f"blk.{{i}}.{theirs}.{{e}}.weight", expert))
    else:
        rows += block_rows(GATED)
    return (*decoder_table(rows), *divisors_ignored(_ROTARY.divisors))


LLAMA = decoder_form(Dialect("llama", "LlamaForCausalLM", _translate, table, _read, _write, rotary=_ROTARY))

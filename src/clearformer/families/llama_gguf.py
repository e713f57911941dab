"""Llama's GGUF metadata as the config that Hugging Face would have written, so that one translator reads both.

llama.cpp: gguf-py/gguf/constants.py and conversion's LlamaModel.
"""

from __future__ import annotations

import math

from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf_values import decimal, rows_of
from clearformer.messages import families as say

LAYER = (
    ("attn_q", "attention.query"),
    ("attn_k", "attention.key"),
    ("attn_v", "attention.value"),
    ("attn_output", "attention.output"),
    ("ffn_gate", "feedforward.gate"),
    ("ffn_up", "feedforward.up"),
    ("ffn_down", "feedforward.down"),
    ("attn_norm", "attention_norm"),
    ("ffn_norm", "feedforward_norm"),
)
_FACTORS = "rope_freqs.weight"
# How Llama 3.1 to 3.3 were trained; the file keeps the resulting divisors and not these.
_LLAMA3 = {"original_max_position_embeddings": 8192, "low_freq_factor": 1.0, "high_freq_factor": 4.0}


def to_config(metadata: ConfigReader, tensors: TensorFile) -> ConfigReader:
    """The metadata under Hugging Face's keys. Raises CheckpointError naming the metadata key that has none."""
    width = metadata.whole("llama.embedding_length")
    heads = metadata.whole("llama.attention.head_count")
    if not metadata.has("llama.attention.key_length") and width % heads:
        metadata.contradiction("llama.embedding_length", "llama.attention.head_count", say.HEADS_DO_NOT_DIVIDE_WIDTH)
    key_width = metadata.whole("llama.attention.key_length", max(width // heads, 1))
    for key in ("llama.attention.value_length", "llama.rope.dimension_count"):
        metadata.only(key, key_width)
    metadata.only("llama.expert_count", 0)
    metadata.only("llama.expert_used_count", 0)
    metadata.only("llama.attention.causal", True)
    metadata.only("llama.tensor_data_layout", "Meta AI original pth")
    # Training facts and bookkeeping of the converter.
    metadata.harmless(("llama.rope.scaling.finetuned", "split.no", "split.count", "split.tensors.count"))
    names = frozenset(tensors.names())
    context = metadata.whole("llama.context_length")
    base = metadata.number("llama.rope.freq_base", 10000.0)
    config: dict[str, object] = {
        "hidden_size": width,
        "vocab_size": metadata.whole("llama.vocab_size", rows_of(tensors, "token_embd.weight")),
        "intermediate_size": metadata.whole("llama.feed_forward_length"),
        "num_hidden_layers": metadata.whole("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": metadata.whole("llama.attention.head_count_kv", heads),
        "head_dim": key_width,
        "max_position_embeddings": context,
        "rms_norm_eps": decimal(metadata.number("llama.attention.layer_norm_rms_epsilon")),
        "rope_theta": decimal(base),
        "attention_bias": "blk.0.attn_q.bias" in names,
        "mlp_bias": "blk.0.ffn_up.bias" in names,
        "tie_word_embeddings": "output.weight" not in names,
    }
    scaling = _scaling(metadata, context)
    if _FACTORS in names:
        if scaling:
            metadata.contradiction("llama.rope.scaling.type", _FACTORS, say.SCALED_TWICE)
        scaling = _from_divisors(tensors, base, key_width, context)
    return ConfigReader(config | ({"rope_scaling": scaling} if scaling else {}), tensors.path)


def _scaling(metadata: ConfigReader, context: int) -> dict[str, object] | None:
    """`rope_scaling` from `llama.rope.scaling.*`."""
    stem = "llama.rope.scaling."
    kind = metadata.choice(f"{stem}type", {"none": None, "linear": "linear", "yarn": "yarn"}, "none")
    metadata.only(f"{stem}attn_factor", 1.0)
    metadata.only(f"{stem}yarn_ext_factor", 1.0)
    metadata.only(f"{stem}yarn_attn_factor", 1.0)
    metadata.only(f"{stem}yarn_log_multiplier", 0.0)
    factor = metadata.number(f"{stem}factor", metadata.number("llama.rope.scale_linear", 1.0))
    original = metadata.whole(f"{stem}original_context_length", context)
    fast, slow = metadata.number(f"{stem}yarn_beta_fast", 32.0), metadata.number(f"{stem}yarn_beta_slow", 1.0)
    if kind == "yarn":
        return {
            "rope_type": kind,
            "factor": decimal(factor),
            "original_max_position_embeddings": original,
            "beta_fast": decimal(fast),
            "beta_slow": decimal(slow),
        }
    return {"rope_type": "linear", "factor": decimal(factor)} if factor != 1.0 else None


def _from_divisors(tensors: TensorFile, base: float, key_width: int, context: int) -> dict[str, object]:
    """Llama 3's scaling if its published settings give these divisors, else the divisors themselves."""
    found = tensors.tensor(_FACTORS).double().flatten().tolist()
    if len(found) != key_width // 2:
        raise CheckpointError(
            say.BAD_VALUE,
            path=tensors.path,
            key=_FACTORS,
            expected=f"{key_width // 2} numbers",
            found=f"{len(found)}",
        )
    factor = decimal(max(found))
    if (
        base > 0
        and factor >= 1
        and all(
            math.isclose(a, b, rel_tol=1e-5)
            for a, b in zip(_llama3_divisors(factor, base, key_width), found, strict=True)
        )
    ):
        return {"rope_type": "llama3", "factor": factor, **_LLAMA3}
    return {
        "rope_type": "longrope",
        "short_factor": found,
        "long_factor": found,
        "original_max_position_embeddings": context,
        "attention_factor": 1.0,
    }


def _llama3_divisors(factor: float, base: float, key_width: int) -> list[float]:
    """By how much Llama 3 slows each pair: 1 for short waves, `factor` for long ones, a blend between."""
    length, low, high = _LLAMA3.values()
    divisors = []
    for pair in range(key_width // 2):
        turns = length / (2 * math.pi * base ** (2 * pair / key_width))
        kept = min(max((turns - low) / (high - low), 0.0), 1.0)
        divisors.append(1 / ((1 - kept) / factor + kept))
    return divisors

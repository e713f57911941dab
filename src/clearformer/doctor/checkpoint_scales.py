"""Scales that a published checkpoint must carry: those of quantised weights, and those that its family has.

Without them everything loads and has the right shape, and the numbers are off by a factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError

_QUANTISED = ("int8", "uint8", "int32", "float8_e4m3fn", "float8_e5m2")
_WEIGHTS = ("weight", "qweight", "weight_packed")
_SCALES = ("scale", "absmax", "scb", "quant_state")
"""What bitsandbytes, GPTQ, AWQ, compressed-tensors and the float8 checkpoints call them, in parts."""
_OF_FAMILY: Mapping[str, tuple[str, ...]] = {
    "gemma2": ("query_pre_attn_scalar",),
    "gemma3_text": ("query_pre_attn_scalar",),
    "granite": ("attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling"),
    "granitemoe": ("attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling"),
    "cohere": ("logit_scale",),
    "cohere2": ("logit_scale",),
    "minicpm": ("scale_emb", "scale_depth", "dim_model_base"),
}
"""Families whose models were trained with scales of their own, and the keys that hold them."""


def without_scales(tensors: TensorFile) -> list[str]:
    """Weights in whole numbers or eight bits beside which no scale lies."""
    names = tensors.names()
    scaled = {_stem(name) for name in names if any(part in _last(name) for part in _SCALES)}
    return [name for name in _quantised(tensors, names) if _stem(name) not in scaled]


def unsaid(config: Mapping[str, object]) -> list[str]:
    """Keys of scales that the family has and the config leaves out: a reader then takes its own default."""
    return [name for name in _OF_FAMILY.get(str(config.get("model_type")), ()) if config.get(name) is None]


def _quantised(tensors: TensorFile, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name.rpartition(".")[2] not in _WEIGHTS or len(tensors.shape(name)) < 2:
            continue
        try:
            kind = str(tensors.dtype(name)).removeprefix("torch.")
        except CheckpointError:  # a type that we cannot read is told by K29
            continue
        if kind in _QUANTISED:
            yield name


def _stem(name: str) -> str:
    """The module that a tensor belongs to; `weight.absmax` belongs to the module of `weight`."""
    module, _, last = name.rpartition(".")
    parent, _, owner = module.rpartition(".")
    return parent if owner in _WEIGHTS and last not in _WEIGHTS else module


def _last(name: str) -> str:
    return name.rpartition(".")[2].lower()

"""How a stack refuses what it cannot read, before torch says so in its own words or, on CUDA, dies of it."""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.layers.cache import Cache
from clearformer.messages import layers as messages
from clearformer.spec import Causal, Stack, Tokens

_WHOLE = (torch.int64, torch.int32)


def token_ids(ids: Tensor, spec: Tokens, real: Tensor | None = None, segments: Tensor | None = None) -> None:
    """A batch of ids of the vocabulary, B T, with flags and segments that fit it. Raises UsageError."""
    if not isinstance(ids, Tensor):
        raise UsageError(messages.NO_IDS, found="", dtype=type(ids).__name__)
    if ids.dim() != 2 or ids.dtype not in _WHOLE or not ids.numel():
        raise UsageError(messages.NO_IDS, found=tuple(ids.shape), dtype=_short(ids))
    if real is not None and (real.shape != ids.shape or real.dtype != torch.bool):
        expected, found = tuple(ids.shape), tuple(real.shape)
        raise UsageError(messages.BAD_REAL, expected=expected, found=found, dtype=_short(real))
    # Values are looked at on the CPU alone: elsewhere each look would wait for the device.
    if ids.device.type == "cpu" and not torch.compiler.is_compiling():
        _below(ids, spec.vocabulary, "id")
        if segments is not None and spec.segments:
            _below(segments, spec.segments, "segment")


def segments_and_prefix(spec: Stack, segments: Tensor | None, prefix: Tensor | None, cache: Cache | None) -> None:
    """Refuse what the spec has no use for, and a prefix that a cache has cut. Raises UsageError."""
    if segments is not None and not (isinstance(spec.input, Tokens) and spec.input.segments):
        raise UsageError(messages.NO_SEGMENTS)
    if prefix is None:
        return
    seen = [block.attention.visibility for block in spec.blocks]
    if not any(isinstance(visibility, Causal) and visibility.prefix for visibility in seen):
        raise UsageError(messages.NO_PREFIX)
    if cache is not None and cache.length and bool((prefix > cache.counts).any()):
        raise UsageError(messages.PREFIX_CUT, prefix=int(prefix.max()), seen=cache.length)


def documents(ids: Tensor, numbers: Tensor | None, prefix: Tensor | None, cache: Cache | None) -> None:
    """Document numbers, one a position, where rows are read whole and have no prefix. Raises UsageError."""
    if numbers is None:
        return
    if numbers.shape != ids.shape or numbers.dtype not in _WHOLE:
        expected, found = tuple(ids.shape), tuple(numbers.shape)
        raise UsageError(messages.BAD_DOCUMENTS, expected=expected, found=found, dtype=_short(numbers))
    if prefix is not None or cache is not None:
        raise UsageError(messages.DOCUMENTS_AND, given="cache" if prefix is None else "prefix")


def _below(values: Tensor, count: int, name: str) -> None:
    least, most = int(values.min()), int(values.max())
    if least < 0 or most >= count:
        raise UsageError(messages.ID_OUTSIDE, name=name, found=least if least < 0 else most, last=count - 1)


def _short(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")

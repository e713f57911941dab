"""A decoder of any spec timed as `generate` runs it, for the rates by which other models' times are predicted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from clearformer.build import build
from clearformer.cache.static import StaticCache
from clearformer.machine import checked_dtype
from clearformer.model import DecoderOnly
from clearformer.native.engine import ROWS, Sequence
from clearformer.native.library import found
from clearformer.spec import DecoderOnly as DecoderOnlySpec
from clearformer.speed.backend import PACKED_TYPES
from clearformer.speed.native import NativeDecoder, as_format, native_decoder
from clearformer.speed.pack import is_packed, packed

How = Literal["torch", "torch-packed", "native"]
_STEPS, _ROUNDS = 16, 3


@dataclass(frozen=True)
class Timed:
    """Seconds of one token and of each prompt, and the bytes that a weight took."""

    token: float
    prompts: tuple[float, ...]
    bytes_a_number: float


def time_backend(
    spec: DecoderOnlySpec, dtype: str, *, how: How, threads: int, behind: int, prompts: tuple[int, ...]
) -> Timed | None:
    """One token behind `behind` others, then each prompt, at batch 1 with random weights; the shortest of several.

    None where this processor does not gain by packing, or has no compiled kernels.
    """
    if how == "native" and found().why is not None:
        return None
    number = torch.float32 if dtype in PACKED_TYPES else checked_dtype(dtype)
    model = build(spec, dtype=number, generator=torch.Generator().manual_seed(0)).eval()
    assert isinstance(model, DecoderOnly)
    if how == "native":
        decoder = native_decoder(model, as_format(dtype), threads=threads)
        del model
        read = tuple(_native_prompt(decoder, length) for length in prompts)
        return Timed(_native_token(decoder, behind), read, decoder.bytes_a_number)
    if how == "torch-packed" and not is_packed(model := packed(model)):
        return None
    with torch.inference_mode():
        read = tuple(_prompt(model, length, number) for length in prompts)
        return Timed(_token(model, behind, number), read, number.itemsize)


def _native_prompt(decoder: NativeDecoder, length: int) -> float:
    return _best(lambda: _native_read(decoder, decoder.sequence(length, length), length), 1)


def _native_token(decoder: NativeDecoder, behind: int) -> float:
    capacity = behind + _STEPS * (_ROUNDS + 1)
    sequence = decoder.sequence(capacity, capacity)
    _native_read(decoder, sequence, behind)

    def write() -> None:
        for _ in range(_STEPS):
            decoder.engine.run([0], [sequence], [0]).argmax()

    return _best(write, _STEPS)


def _native_read(decoder: NativeDecoder, sequence: Sequence, length: int) -> None:
    for start in range(0, length, ROWS):
        count = min(ROWS, length - start)
        last = start + count == length
        decoder.engine.run([0] * count, [sequence] * count, [count - 1] if last else [])


def _prompt(model: DecoderOnly, length: int, dtype: torch.dtype) -> float:
    ids = torch.zeros(1, length, dtype=torch.long)

    def read() -> Tensor:
        return _next(model, ids, StaticCache(model.stack.spec, batch=1, capacity=length, dtype=dtype))

    return _best(read, 1)


def _token(model: DecoderOnly, behind: int, dtype: torch.dtype) -> float:
    """The mean of a few tokens: one alone is too short a time to be taken."""
    id_, prompt = torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, behind, dtype=torch.long)
    cache = StaticCache(model.stack.spec, batch=1, capacity=behind + _STEPS * (_ROUNDS + 1), dtype=dtype)
    _next(model, prompt, cache)

    def write() -> None:
        for _ in range(_STEPS):
            _next(model, id_, cache)

    return _best(write, _STEPS)


def _next(model: DecoderOnly, ids: Tensor, cache: StaticCache) -> Tensor:
    """As generation asks: only the last position goes through the head."""
    hidden = model.stack.read_tokens(ids, cache=cache)
    return model.logits(hidden[:, -1:]).argmax(-1)


def _best(work: Callable[[], object], parts: int) -> float:
    """Seconds a part, the shortest of several rounds after one to warm up."""
    work()
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best / parts

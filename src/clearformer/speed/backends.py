"""A decoder of any spec timed as `generate` runs it, for the rates by which other models' times are predicted."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from clearformer.build import build
from clearformer.cache.static import StaticCache
from clearformer.model import DecoderOnly
from clearformer.spec import DecoderOnly as DecoderOnlySpec
from clearformer.speed.pack import is_packed, packed

_STEPS, _ROUNDS = 16, 3


def seconds_of(
    spec: DecoderOnlySpec, dtype: torch.dtype, *, pack: bool, behind: int, prompts: tuple[int, ...]
) -> tuple[float, ...] | None:
    """One token behind `behind` others, then each prompt, at batch 1 with random weights; the shortest of several.

    None where `pack` is asked for and this processor does not gain by it.
    """
    model = build(spec, dtype=dtype, generator=torch.Generator().manual_seed(0)).eval()
    if pack and not is_packed(model := packed(model)):
        return None
    assert isinstance(model, DecoderOnly)
    with torch.inference_mode():
        return _token(model, behind, dtype), *(_prompt(model, length, dtype) for length in prompts)


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

"""What all blocks of one call share: where its tokens stand, which are real, how long a row may get."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from clearformer.errors import UsageError
from clearformer.messages import reference as messages
from clearformer.reference.cache import Cache


@dataclass(frozen=True)
class Frame:
    """Positions count real tokens from 0. `key_real` marks the keys that may be seen, `prefix` is a row's prefix
    length, `length_bound` the length that a row is declared to reach (dynamic NTK, LongRoPE)."""

    query_positions: Int[np.ndarray, "B T"]
    key_positions: Int[np.ndarray, "B S"]
    key_real: Bool[np.ndarray, "B S"]
    prefix: Int[np.ndarray, " B"]
    length_bound: Int[np.ndarray, " B"]


def positions(real: Bool[np.ndarray, "B T"], seen: Int[np.ndarray, " B"]) -> Int[np.ndarray, "B T"]:
    """The number of real tokens before each, `seen` earlier ones included; a pad stands with the last real one."""
    return np.maximum(seen[:, None] + np.cumsum(real, axis=1) - 1, 0)


def frame_of(
    real: Bool[np.ndarray, "B T"],
    *,
    prefix: Int[np.ndarray, " B"],
    length_bound: Int[np.ndarray, " B"] | None = None,
    cache: Cache | None = None,
) -> Frame:
    """The frame of a call's own tokens, and of the cached ones before them as further keys."""
    if cache is None:
        query = positions(real, np.zeros(len(real), dtype=np.int64))
        bound = real.sum(axis=1) if length_bound is None else length_bound
        return Frame(query, query, real, prefix, bound)
    seen = cache.seen(len(real))
    for row, length in zip(seen, prefix, strict=True):
        if 0 < row < length:
            raise UsageError(messages.PREFIX_CUT, prefix=int(length), seen=int(row))
    query = positions(real, seen)
    bound = cache.declare(len(real), length_bound)
    return Frame(query, *cache.enter(query, real), prefix, bound)


def memory_frame(frame: Frame, real: Bool[np.ndarray, "B S"]) -> Frame:
    """The same queries before the keys of a memory, which has no positions of its own to compare with."""
    return Frame(frame.query_positions, np.zeros(real.shape, dtype=np.int64), real, frame.prefix, frame.length_bound)

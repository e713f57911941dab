"""Who may look at whom: booleans, True where a query sees a key."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Bool, Int

from clearformer.reference.frame import Frame
from clearformer.spec import Causal, Full, Visibility

Seen = Bool[np.ndarray, "... T S"]


def visible(visibility: Visibility, frame: Frame) -> Bool[np.ndarray, "B T S"]:
    """What the spec lets each query see, among the real keys."""
    query, key = frame.query_positions[:, :, None], frame.key_positions[:, None, :]
    real = padding(frame.key_real)
    match visibility:
        case Full(radius=radius):
            everywhere = np.broadcast_to(real, (len(real), query.shape[1], key.shape[2]))
            return everywhere if radius is None else real & within(query, key, radius)
        case Causal(window=width, prefix=has_prefix):
            seen = past(query, key) if width is None else window(query, key, width)
            return real & (seen | prefix(query, key, frame.prefix) if has_prefix else seen)
        case _:
            assert_never(visibility)


def causal(length: int) -> Bool[np.ndarray, "T T"]:
    """The paper's mask for a sequence without padding: the lower triangle, diagonal included."""
    at = np.arange(length)
    return past(at[:, None], at[None, :])


def padding(real: Bool[np.ndarray, "B S"]) -> Bool[np.ndarray, "B 1 S"]:
    """Pads hidden from every query."""
    return real[:, None, :]


def past(query: Int[np.ndarray, "... T 1"], key: Int[np.ndarray, "... 1 S"]) -> Seen:
    """Keys up to the query's own position."""
    return key <= query


def window(query: Int[np.ndarray, "... T 1"], key: Int[np.ndarray, "... 1 S"], width: int) -> Seen:
    """The last `width` keys, the query's own position included (Mistral, arXiv 2310.06825)."""
    return past(query, key) & (query - key < width)


def within(query: Int[np.ndarray, "... T 1"], key: Int[np.ndarray, "... 1 S"], radius: int) -> Seen:
    """Keys at most `radius` away on either side."""
    return np.abs(query - key) <= radius


def prefix(query: Int[np.ndarray, "B T 1"], key: Int[np.ndarray, "B 1 S"], length: Int[np.ndarray, " B"]) -> Seen:
    """The first `length` positions of a row, among themselves (prefix LM, arXiv 1910.10683 §3.2.1)."""
    length = length[:, None, None]
    return (query < length) & (key < length)

"""A learnt bias for each head and bucket of distance (Raffel et al. 2019 §2.1, arXiv 1910.10683)."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from clearformer.spec import RelativeBias


def buckets(spec: RelativeBias, distance: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
    """The bucket of distance = key − query: one a step for near keys, ever wider up to `max_distance` for far ones.

    Two-sided, the second half of the buckets is for later keys; one-sided, later keys count as distance 0.
    """
    side = spec.buckets // 2 if spec.two_sided else spec.buckets
    start = np.where(distance > 0, side, 0) if spec.two_sided else 0
    steps = np.abs(distance) if spec.two_sided else np.maximum(-distance, 0)
    exact = side // 2
    # In float32, as the models were trained: on the border of two buckets its rounding decides.
    ratio = np.maximum(steps, exact).astype(np.float32) / exact
    growth = np.log(ratio) / math.log(spec.max_distance / exact)
    far = np.minimum(exact + (growth * (side - exact)).astype(np.int64), side - 1)
    return start + np.where(steps < exact, steps, far)


def relative_bias(
    spec: RelativeBias,
    table: Float[np.ndarray, "buckets H"],
    query: Int[np.ndarray, "B T"],
    key: Int[np.ndarray, "B S"],
) -> Float[np.ndarray, "B H T S"]:
    """The table's row for every pair of a query and a key."""
    distance = key[:, None, :] - query[:, :, None]
    return np.moveaxis(table[buckets(spec, distance)], -1, 1)

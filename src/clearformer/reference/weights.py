"""Weights by name: the flat table of a model, read through the prefix of the module that asks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from clearformer.errors import CheckpointError
from clearformer.messages import reference as messages


class Weights:
    """`Weights(table).within("decoder.blocks.0")["attention_norm.weight"]`; every array is read as float64."""

    def __init__(self, table: Mapping[str, np.ndarray], prefix: str = "") -> None:
        self._table = table
        self._prefix = prefix

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self._table[self._prefix + name], dtype=np.float64)

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._table

    def within(self, name: str) -> Weights:
        return Weights(self._table, f"{self._prefix}{name}.")


def checked(table: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> Weights:
    """The table, if it holds the spec's weights and no others; so that a bias that is there is one that is meant."""
    for name, expected in shapes.items():
        if name not in table:
            raise CheckpointError(messages.WEIGHT_MISSING, name=name)
        if np.shape(table[name]) != expected:
            found = np.shape(table[name])
            raise CheckpointError(messages.WEIGHT_SHAPE, name=name, expected=expected, found=found)
    for name in table:
        if name not in shapes:
            raise CheckpointError(messages.WEIGHT_UNKNOWN, name=name)
    return Weights(table)


def linear(x: Float[np.ndarray, "... fan_in"], weights: Weights) -> Float[np.ndarray, "... fan_out"]:
    """x Wᵀ + b, W kept as [out, in]; without a bias where the module has none."""
    product = x @ weights["weight"].T
    return product + weights["bias"] if "bias" in weights else product

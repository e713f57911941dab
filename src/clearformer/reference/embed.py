"""What the first block reads: token, patch or step as a vector, with its position."""

from __future__ import annotations

from typing import assert_never

import numpy as np
from jaxtyping import Float, Int

from clearformer.errors import GenerationError
from clearformer.messages import reference as messages
from clearformer.reference.norm import norm
from clearformer.reference.positions.sinusoidal import sinusoidal
from clearformer.reference.weights import Weights, linear
from clearformer.spec import Input, InputPosition, Learned, Patches, Series, Sinusoidal, Tokens


def embed(
    spec: Input,
    weights: Weights,
    pieces: np.ndarray,
    position: Int[np.ndarray, "B T"],
    *,
    table: Float[np.ndarray, "V D"] | None = None,
    segments: Int[np.ndarray, "B T"] | None = None,
) -> Float[np.ndarray, "B T D"]:
    """token · scale + position + segment, then the norm; pieces of an image or a series are projected instead.

    `pieces` are ids B T, or vectors B N C as `images.cut` and `series.cut` give them; `table` is the token table. In
    float64 there is nothing to round a scale to.
    """
    match spec:
        case Tokens():
            assert table is not None
            x = add_position(spec.position, weights, table[pieces] * spec.scale, position)
            if spec.segments:
                kinds = np.zeros_like(pieces) if segments is None else segments
                x = x + weights["segment.weight"][kinds]
            return norm(spec.norm, weights.within("norm"), x)
        case Patches():
            x = linear(pieces, weights.within("project"))
            if spec.class_token:
                first = np.broadcast_to(weights["class_token"], (len(x), 1, x.shape[-1]))
                x = np.concatenate([first, x], axis=1)
            return norm(spec.norm, weights.within("norm"), add_position(spec.position, weights, x, position))
        case Series():
            return add_position(spec.position, weights, linear(pieces, weights.within("project")), position)
        case _:
            assert_never(spec)


def add_position(
    spec: InputPosition | None, weights: Weights, x: Float[np.ndarray, "B T D"], position: Int[np.ndarray, "B T"]
) -> Float[np.ndarray, "B T D"]:
    """x with the vector of each position, where positions are added to the input at all."""
    match spec:
        case None:
            return x
        case Sinusoidal():
            return x + sinusoidal(position, x.shape[-1], spec.base, spec.layout)
        case Learned():
            if position.max() >= spec.length:
                raise GenerationError(messages.PAST_TABLE, expected=spec.length, found=int(position.max()))
            return x + weights["position.weight"][position + spec.offset]
        case _:
            assert_never(spec)

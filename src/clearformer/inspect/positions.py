"""How a model knows where a token stands, as numbers to draw: what is added, turned or subtracted, by position."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

import torch
from jaxtyping import Float
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.layers.positions.alibi import distance_penalty, slopes
from clearformer.layers.positions.relative import bucket
from clearformer.layers.positions.rope_scaling import frequencies
from clearformer.layers.positions.rotary import rotation
from clearformer.layers.positions.sinusoidal import sinusoids
from clearformer.messages import positions as messages
from clearformer.spec import (
    ALiBi,
    Attention,
    AttentionPosition,
    EncoderDecoder,
    InputPosition,
    LatentAttention,
    Learned,
    RelativeBias,
    Rotary,
    Sinusoidal,
    Spec,
    Stack,
    TwoTowers,
    main_stack,
)
from clearformer.spec import DecoderOnly as DecoderOnlySpec

Kind = Literal["sinusoidal", "learned", "rotary", "alibi", "relative", "buckets"]
Weights = dict[str, Tensor]

LONGEST = 4096


@dataclass(frozen=True)
class Scheme:
    """One way of knowing positions, and the blocks that use it (none for what is added to the input).

    `table` is what is drawn: sinusoidal and learned T × D, the vectors added; rotary T × pairs, the cosine of each
    pair's angle; alibi and relative H × distances, what is added to the scores. `distances` name the columns of the
    last two, key minus query. `curve` is by distance from 0: the inner product of two equal vectors (1 at distance 0),
    the learnt vectors' mean cosine; for buckets the bucket's number by `distances`. `wavelengths` are in positions.
    """

    stack: str
    kind: Kind
    layers: tuple[int, ...]
    table: Float[Tensor, "rows columns"] | None = None
    curve: Float[Tensor, " distances"] | None = None
    distances: tuple[int, ...] = ()
    wavelengths: tuple[float, ...] = ()
    slopes: tuple[float, ...] = ()


def schemes(spec: Spec, length: int, weights: Weights | None = None) -> tuple[Scheme, ...]:
    """Every different way in the order of the model. Learnt tables are drawn from `weights` (a model's state_dict);
    without, a bias shows its buckets, and a table of learnt vectors cannot be shown.

    Raises UsageError for a length out of reach, for a model without positions, and for learnt vectors alone.
    """
    if not 2 <= length <= LONGEST:
        raise UsageError(messages.BAD_LENGTH, found=length, longest=LONGEST)
    found = [scheme for role, stack in stacks_of(spec).items() for scheme in _of_stack(role, stack, length, weights)]
    shown = tuple(scheme for scheme in found if scheme.table is not None or scheme.curve is not None)
    if not found:
        raise UsageError(messages.NO_POSITIONS)
    if not shown:
        raise UsageError(messages.NEEDS_TABLE)
    return shown


def needs_weights(spec: Spec) -> bool:
    """Whether something learnt is there to be shown."""
    return any(
        isinstance(stack.input.position, Learned)
        or any(isinstance(getattr(block.attention, "position", None), RelativeBias) for block in stack.blocks)
        for stack in stacks_of(spec).values()
    )


def stacks_of(spec: Spec) -> dict[str, Stack]:
    """Stacks by the names that their weights begin with."""
    match spec:
        case EncoderDecoder():
            return {"encoder": spec.encoder, "decoder": spec.decoder}
        case TwoTowers():
            inner = "decoder" if isinstance(spec.text, DecoderOnlySpec) else "encoder"
            return {f"text.{inner}": main_stack(spec.text), "image.encoder": spec.image.encoder}
        case _:
            return {"decoder" if isinstance(spec, DecoderOnlySpec) else "encoder": main_stack(spec)}


def _of_stack(role: str, stack: Stack, length: int, weights: Weights | None) -> Iterator[Scheme]:
    if stack.input.position is not None:
        yield _added(role, stack.input.position, stack.width, length, weights)
    users: dict[tuple[AttentionPosition, int, int, int | None], list[int]] = {}
    for index, block in enumerate(stack.blocks):
        match block.attention:
            case Attention(position=None):
                continue
            case Attention(position=position, heads=heads, key_width=width):
                assert position is not None
                own = isinstance(position, RelativeBias) and not position.shared
                users.setdefault((position, heads, width, index if own else None), []).append(index)
            case LatentAttention(rotary=rotary, heads=heads, rotary_width=width):
                users.setdefault((rotary, heads, width, None), []).append(index)
            case _:
                assert_never(block.attention)
    for (position, heads, width, _), layers in users.items():
        yield _inside(role, position, heads, width, tuple(layers), length, weights)


def _added(role: str, position: InputPosition, width: int, length: int, weights: Weights | None) -> Scheme:
    places = torch.arange(length)[None]
    match position:
        case Sinusoidal(base=base, layout=layout):
            table = sinusoids(places, width, base=base, interleaved=layout == "interleaved")[0]
            lengths = tuple(2 * math.pi * base ** (pair / width) for pair in range(0, width, 2))
            return Scheme(role, "sinusoidal", (), table, table @ table[0] * 2 / width, wavelengths=lengths)
        case Learned(offset=offset, length=rows):
            if weights is None:
                return Scheme(role, "learned", ())
            shared = weights[f"{role}.embed.position.weight"]
            table = shared[offset : offset + min(length, rows)].double().cpu()
            unit = torch.nn.functional.normalize(table, dim=-1)
            cosines = unit @ unit.T
            curve = torch.stack([cosines.diagonal(away).mean() for away in range(len(table))])
            return Scheme(role, "learned", (), table, curve)
        case _:
            assert_never(position)


def _inside(
    role: str,
    position: AttentionPosition,
    heads: int,
    width: int,
    layers: tuple[int, ...],
    length: int,
    weights: Weights | None,
) -> Scheme:
    places = torch.arange(length)[None]
    match position:
        case Rotary():
            bound = torch.tensor([length])
            per_pair, _ = frequencies(position.base, position.rotated(width), position.scaling, bound)
            angles = places[0, :, None] * per_pair[0]
            # Two equal vectors, one at position 0 and one at each distance; only what is turned counts.
            turned = rotation(position, width, places, bound, torch.float64)
            equal = turned.turn(torch.ones(1, 1, length, width, dtype=torch.float64))[0, 0, :, : 2 * len(per_pair[0])]
            curve = equal @ equal[0] / (equal[0] @ equal[0])
            lengths = tuple(float(2 * math.pi / each) for each in per_pair[0])
            return Scheme(role, "rotary", layers, angles.cos(), curve, wavelengths=lengths)
        case ALiBi(max_bias=max_bias):
            table = distance_penalty(heads, max_bias, places[:, -1:], places, torch.float64)[0, :, 0]
            away = tuple(range(1 - length, 1))
            return Scheme(role, "alibi", layers, table, distances=away, slopes=tuple(slopes(heads, max_bias)))
        case RelativeBias(two_sided=two_sided):
            away = tuple(range(1 - length, length if two_sided else 1))
            numbers = bucket(torch.tensor(away), position)
            if weights is None:
                return Scheme(role, "buckets", layers, curve=numbers.double(), distances=away)
            learnt = weights[f"{role}.blocks.{layers[0]}.attention.relative.weight"].double().cpu()
            return Scheme(role, "relative", layers, learnt[numbers].T, distances=away)
        case _:
            assert_never(position)

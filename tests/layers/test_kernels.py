"""Every kernel against attention written as loops over its definition, and masks against their definition."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.spec import Causal, Full, Visibility

VISIBILITIES: tuple[Visibility, ...] = (Full(), Full(1), Full(0), Causal(), Causal(2), Causal(1), Causal(prefix=True))
KERNELS: tuple[Kernel, ...] = ("plain", "tiled", "sdpa")
B, S, K = 2, 5, 4
PREFIX = (3, 0)


def may_look(visibility: Visibility, query: int, key: int, prefix: int) -> bool:
    """The definitions in `spec.attention`, one pair of positions at a time."""
    match visibility:
        case Full(radius=radius):
            return radius is None or abs(query - key) <= radius
        case Causal(window=window, prefix=prefixed):
            past = key <= query and (window is None or query - key < window)
            return past or (prefixed and query < prefix and key < prefix)


def by_loops(
    query: Tensor, key: Tensor, value: Tensor, seen: Tensor, scale: float, bias: Tensor | None, cap: float | None
) -> Tensor:
    """Σ e^score · value / Σ e^score over the seen keys, number by number; query head h reads head h // (H / G)."""
    B, H, T, _ = query.shape
    G, S, U = key.shape[1], key.shape[2], value.shape[3]
    output = torch.zeros(B, H, T, U, dtype=query.dtype)
    for b, h, t in itertools.product(range(B), range(H), range(T)):
        total, mixed, group = 0.0, [0.0] * U, h // (H // G)
        for s in range(S):
            if not seen[b, t, s]:
                continue
            score = scale * sum(float(query[b, h, t, k]) * float(key[b, group, s, k]) for k in range(query.shape[3]))
            score = score if cap is None else cap * math.tanh(score / cap)
            weight = math.exp(score + (0.0 if bias is None else float(bias[b, h, t, s])))
            total += weight
            mixed = [m + weight * float(value[b, group, s, u]) for u, m in enumerate(mixed)]
        if total:
            output[b, h, t] = torch.tensor([m / total for m in mixed], dtype=query.dtype)
    return output


def places(visibility: Visibility, queries: int, padded: bool) -> tuple[Mask, Tensor]:
    """A mask over the last `queries` of S positions, and its table by the definition."""
    slots = torch.arange(S)[None]
    real = torch.ones(B, S, dtype=torch.bool)
    if padded:
        real[0, 3:], real[1, :2] = False, False
    prefix = torch.tensor(PREFIX) if isinstance(visibility, Causal) and visibility.prefix else None
    key_real = real if padded else None
    mask = Mask(visibility, slots[:, S - queries :], slots, key_real, prefix, in_order=not padded)
    table = [
        [[bool(real[b, s]) and may_look(visibility, t, s, PREFIX[b]) for s in range(S)] for t in range(S - queries, S)]
        for b in range(B)
    ]
    return mask, torch.tensor(table)


SHAPES = tuple(itertools.product(VISIBILITIES, (S, 2, 1), (False, True)))


@pytest.mark.parametrize(("visibility", "queries", "padded"), SHAPES, ids=str)
def test_a_mask_is_its_definition(visibility: Visibility, queries: int, padded: bool) -> None:
    mask, table = places(visibility, queries, padded)
    assert torch.equal(mask.visible().expand(B, 1, queries, S)[:, 0], table)
    if mask.hides_nothing:
        assert table.all()
    if mask.is_plain_causal:
        assert torch.equal(table, torch.ones(S, S).tril().bool().expand(B, S, S))


def test_shortcuts_are_taken() -> None:
    """The cases that need no table are known by shape: otherwise decoding would build one a step."""
    assert places(Causal(), 1, False)[0].hides_nothing
    assert places(Full(), S, False)[0].hides_nothing
    assert places(Causal(), S, False)[0].is_plain_causal
    assert not places(Causal(2), 1, False)[0].hides_nothing
    assert not places(Causal(), S, True)[0].is_plain_causal


@pytest.mark.parametrize(("visibility", "queries", "padded"), SHAPES, ids=str)
def test_kernels_equal_the_loops(visibility: Visibility, queries: int, padded: bool) -> None:
    generator = torch.Generator().manual_seed(5)
    mask, table = places(visibility, queries, padded)
    for (H, G), U in (((2, 2), 4), ((4, 2), 3), ((3, 1), 6)):
        query, key, value, bias = (
            torch.randn(B, *shape, generator=generator, dtype=torch.float64)
            for shape in ((H, queries, K), (G, S, K), (G, S, U), (H, queries, S))
        )
        for biased, cap in ((None, None), (bias, None), (None, 1.5), (bias, 1.5)):
            expected = by_loops(query, key, value, table, 0.7, biased, cap)
            for kernel in KERNELS:
                found = attend(query, key, value, mask, scale=0.7, bias=biased, score_cap=cap, kernel=kernel)
                torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)

"""The tiled kernel is the plain one, forward and backward, and holds no table of scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from clearformer.layers import tiled
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.layers.tiled import How
from clearformer.layers.tiled_ops import parts_of
from clearformer.layers.tiles import Sizes, blocks, sights, tiling
from clearformer.spec import Causal, Full, Visibility
from cost.live_bytes import LiveBytes
from drawing.kernels import small_tiles
from drawing.masks import PLACES, VISIBILITIES, B, S, heads, mask_of


@pytest.fixture
def tiny() -> Iterator[None]:
    with small_tiles():
        yield


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("visibility", VISIBILITIES, ids=str)
def test_it_is_the_plain_kernel_in_both_passes(visibility: Visibility, place: str) -> None:
    mask = mask_of(visibility, place)
    T = mask.query_positions.shape[1]
    for (H, G), biased, cap in (((2, 2), 0, None), ((4, 2), 1, None), ((3, 1), B, 1.5), ((4, 2), 0, 1.5)):
        query, key, value, *more = heads(
            (B, H, T, 4), (B, G, S, 4), (B, G, S, 5), *([(biased, H, T, S)] * bool(biased))
        )
        given, bias = (query, key, value, *more), more[0] if more else None
        found, expected = (
            attend(query, key, value, mask, scale=0.7, bias=bias, score_cap=cap, kernel=kernel)
            for kernel in ("tiled", "plain")
        )
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        pull = torch.randn(found.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        gradients = (torch.autograd.grad(each, given, pull) for each in (found, expected))
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("tiny")
def test_its_gradients_are_those_of_central_differences() -> None:
    slots, real = torch.arange(5)[None], torch.tensor([[True] * 5, [False] * 2 + [True] * 3])
    mask = Mask(Causal(), slots, slots, real)

    def run(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        return attend(query, key, value, mask, scale=0.7, bias=bias, score_cap=2.0, kernel="tiled")

    assert torch.autograd.gradcheck(run, heads((2, 2, 5, 2), (2, 1, 5, 2), (2, 1, 5, 1), (1, 2, 5, 5)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("visibility", VISIBILITIES, ids=str)
def test_what_is_said_of_a_tile_is_true_of_the_table(visibility: Visibility, place: str) -> None:
    mask = mask_of(visibility, place)
    table = mask.visible()
    rows, columns = blocks(table.shape[2], 2), blocks(S, 3)
    found = sights(mask, rows, columns)
    for (i, row), (j, column) in itertools.product(enumerate(rows), enumerate(columns)):
        part = table[:, :, row, column]
        assert torch.equal(mask.visible(row, column), part)
        if found[i][j] == "clear":
            assert part.all()
        elif found[i][j] == "hidden":
            assert not part.any()
        elif place in ("in order", "behind a cache") and not (isinstance(visibility, Causal) and visibility.prefix):
            assert part.any()
            assert not part.all()


@pytest.mark.parametrize(("visibility", "share"), [(Full(), 1.0), (Causal(), 17 / 32), (Causal(9), 31 / 256)])
def test_hidden_tiles_are_not_computed(visibility: Visibility, share: float) -> None:
    """16 blocks of 8: all tiles, the lower triangle, or the diagonal with the one below it."""
    slots = torch.arange(128)[None]
    mask = Mask(visibility, slots, slots, in_order=True)
    query, key, value = heads((1, 2, 128, 4), (1, 2, 128, 4), (1, 2, 128, 4))

    def operations(backward: bool) -> int:
        added = {torch.ops.aten.baddbmm_: lambda to, left, right, **_: 2 * math.prod(left) * right[-1]}
        counting = FlopCounterMode(display=False, custom_mapping=added)
        with counting as counter, small_tiles(Sizes(8, 8, 2)):
            mixed = attend(query, key, value, mask, scale=1.0, kernel="tiled")
            if backward:
                mixed.sum().backward()
        return counter.get_total_flops()

    product = 2 * 2 * 128 * 128 * 4
    assert operations(backward=False) == pytest.approx(2 * product * share)
    # Two products forward; backward the scores once more and four gradients.
    assert operations(backward=True) == pytest.approx(7 * product * share)


def most_alive(length: int, kernel: Kernel) -> int:
    """The fullest moment of both passes, beside inputs and what has their size."""
    slots = torch.arange(length)[None]
    mask = Mask(Causal(), slots, slots, in_order=True)
    given = heads((2, 4, length, 8), (2, 2, length, 8), (2, 2, length, 8), dtype=torch.float32)
    with LiveBytes() as live, small_tiles(Sizes(16, 16, 2)):
        attend(*given, mask, scale=0.3, dropout=0.1, kernel=kernel).sum().backward()
    return live.most


def kept_for_backward(length: int, kernel: Kernel) -> int:
    kept = 0

    def pack(tensor: Tensor) -> Tensor:
        nonlocal kept
        kept += tensor.untyped_storage().nbytes()
        return tensor

    slots = torch.arange(length)[None]
    mask = Mask(Causal(), slots, slots, in_order=True)
    given = heads((2, 4, length, 8), (2, 2, length, 8), (2, 2, length, 8), dtype=torch.float32)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        attend(*given, mask, scale=0.3, kernel=kernel)
    return kept


@pytest.mark.parametrize("measure", [most_alive, kept_for_backward])
def test_memory_grows_with_the_length_and_not_with_its_square(measure: Callable[[int, Kernel], int]) -> None:
    assert measure(256, "tiled") < 2.1 * measure(128, "tiled")
    assert measure(256, "plain") > 3 * measure(128, "plain")


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("place", ["in order", "padded"])
def test_the_backward_pass_drops_what_the_forward_pass_dropped(place: str) -> None:
    """With one-hot values the output is the weights that are left: they give the fates, and these the gradient."""
    mask = mask_of(Causal(), place)
    query, key = heads((B, 4, S, 4), (B, 2, S, 4))
    given = {"scale": 0.7, "dropout": 0.4, "kernel": "tiled"}

    def run(value: Tensor) -> Tensor:
        torch.manual_seed(3)
        return attend(query, key, value, mask, **given)

    ones = torch.eye(S, dtype=torch.float64).expand(B, 2, S, S)
    left, whole = run(ones).detach(), attend(query, key, ones, mask, scale=0.7, kernel="plain")
    fates = torch.where(whole > 0, left / whole.clamp(min=1e-300), 0.0).detach()
    lost = (fates[whole > 0] == 0).double().mean().item()
    assert lost == pytest.approx(0.4, abs=0.08)
    (value,) = heads((B, 2, S, 3), seed=8)
    expected = (whole * fates) @ value.repeat_interleave(2, 1)
    found = run(value)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    gradients = (torch.autograd.grad(each.square().sum(), (query, key, value)) for each in (found, expected))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-8)
    assert not torch.equal(found, attend(query, key, value, mask, **given))


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_as_near_as_its_digits(dtype: torch.dtype) -> None:
    mask = mask_of(Causal(), "in order")
    exact = heads((B, 4, S, 8), (B, 2, S, 8), (B, 2, S, 8))
    rounded = [each.detach().to(dtype).requires_grad_() for each in exact]
    answers = [
        attend(*given, mask, scale=0.3, kernel=kernel) for given, kernel in ((exact, "plain"), (rounded, "tiled"))
    ]
    assert answers[1].dtype == dtype
    near = 0.03 if dtype == torch.bfloat16 else 0.005
    torch.testing.assert_close(answers[1].double(), answers[0], rtol=near, atol=near)
    pairs = zip(*(torch.autograd.grad(a.sum(), g) for a, g in zip(answers, (exact, rounded), strict=True)), strict=True)
    for expected, found in pairs:
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=4 * near, atol=4 * near)


def test_autocast_computes_in_its_type_and_gradients_keep_theirs() -> None:
    given = heads((1, 2, 6, 4), (1, 2, 6, 4), (1, 2, 6, 4), dtype=torch.float32)
    slots = torch.arange(6)[None]
    with torch.autocast("cpu", torch.bfloat16):
        mixed = attend(*given, Mask(Causal(), slots, slots, in_order=True), scale=0.5, kernel="tiled")
    assert mixed.dtype == torch.bfloat16
    assert {each.dtype for each in torch.autograd.grad(mixed.sum(), given)} == {torch.float32}


def test_chunks_cover_every_head_once_whatever_their_size() -> None:
    slots = torch.arange(4)[None]
    mask = Mask(Causal(), slots, slots, torch.ones(5, 4, dtype=torch.bool))
    query, key = torch.empty(5, 6, 4, 2), torch.empty(5, 3, 4, 2)
    for count in range(1, 20):
        chunks = tiling(query, key, mask, Sizes(2, 2, count)).chunks
        assert sorted(slot for chunk in chunks for slot in range(15)[chunk.slots]) == list(range(15))
        assert all(len(chunk.mask.key_real) == chunk.batch.stop - chunk.batch.start for chunk in chunks)


def test_the_operations_for_a_compiler_are_the_passes_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(given: list[Tensor], mask: Mask, **more: Any) -> tuple[Tensor, ...]:
        torch.manual_seed(2)
        bias = given[3]
        mixed = attend(*given[:3], mask, scale=0.4, bias=bias, dropout=0.2, kernel="tiled", **more)
        return mixed, *torch.autograd.grad(mixed.square().sum(), given)

    for visibility, place in itertools.product(VISIBILITIES, PLACES):
        mask = mask_of(visibility, place)
        given = heads((B, 2, mask.query_positions.shape[1], 3), (B, 1, S, 3), (B, 1, S, 3))
        given += heads((1, 2, mask.query_positions.shape[1], S))
        plain = run(given, mask)
        with monkeypatch.context() as patch:
            patch.setattr(torch.compiler, "is_compiling", lambda: True)
            assert all(map(torch.equal, run(given, mask), plain))


def test_operations_have_the_shapes_that_a_compiler_expects() -> None:
    mask = mask_of(Causal(), "padded")
    query, key, value, bias = (each.detach() for each in heads((B, 4, S, 3), (B, 2, S, 3), (B, 2, S, 5), (1, 4, S, S)))
    parts = parts_of(None, How(mask, 0.5))
    checked = {
        "test_utils": ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static")
    }
    torch.library.opcheck(torch.ops.clearformer.tiled_forward, (query, key, value, bias, *parts), **checked)
    mixed, logs = tiled.forward(query, key, value, bias, How(mask, 0.5))
    pull = torch.ones_like(mixed)
    arguments = (pull, query, key, value, bias, mixed, logs, True, *parts)
    torch.library.opcheck(torch.ops.clearformer.tiled_backward, arguments, **checked)

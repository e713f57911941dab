"""A bias by distance: tiles make it as the table has it, and never make the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from clearformer.build import build
from clearformer.layers.attention import Attention
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.layers.positions.distance_bias import DistanceBias
from clearformer.layers.tiled import How
from clearformer.layers.tiled_ops import _how, parts_of
from clearformer.layers.tiles import Sizes
from clearformer.spec import ALiBi, Causal, Full, RelativeBias, Visibility
from clearformer.spec.presets import modern_decoder
from drawing.kernels import small_tiles
from drawing.masks import PLACES, B, S, heads, mask_of

POSITIONS = (ALiBi(8.0), RelativeBias(8, 6), RelativeBias(8, 6, two_sided=True))


def distance_bias(position: ALiBi | RelativeBias, heads_: int, mask: Mask) -> DistanceBias:
    """Of a mask's positions, its learnt numbers drawn."""
    weight = None if isinstance(position, ALiBi) else heads((position.buckets, heads_), seed=9)[0]
    return DistanceBias(position, heads_, mask.query_positions, mask.key_positions, torch.float64, weight)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("position", POSITIONS, ids=str)
@pytest.mark.parametrize("visibility", [Causal(), Full(), Causal(4, True)], ids=str)
def test_a_bias_by_distance_is_the_plain_kernels_table(
    visibility: Visibility, position: ALiBi | RelativeBias, place: str
) -> None:
    """In both passes, with what is learnt of it."""
    mask = mask_of(visibility, place)
    T = mask.query_positions.shape[1]
    for (H, G), cap in (((2, 2), None), ((4, 2), 1.5), ((3, 1), None)):
        given = heads((B, H, T, 4), (B, G, S, 4), (B, G, S, 5))
        bias = distance_bias(position, H, mask)
        learnt = [*given, *([] if bias.weight is None else [bias.weight])]
        pull = torch.randn(B, H, T, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        with small_tiles():
            found, expected = (
                attend(*given, mask, scale=0.7, bias=bias, score_cap=cap, kernel=kernel)
                for kernel in ("tiled", "plain")
            )
            gradients = [torch.autograd.grad(each, learnt, pull) for each in (found, expected)]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


class Largest(TorchDispatchMode):
    """The most elements of any tensor that an operation returned."""

    most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for each in tree_leaves(found):
            if isinstance(each, Tensor):
                self.most = max(self.most, each.numel())
        return found


@pytest.mark.parametrize("position", [ALiBi(), RelativeBias(two_sided=True)], ids=str)
def test_no_layer_makes_a_table_for_a_bias_by_distance(position: ALiBi | RelativeBias) -> None:
    """A model's whole step: nothing that it makes has the square of the length."""
    length = 256
    block = modern_decoder(width=8, heads=2, kv_heads=2, hidden=8, layers=1, vocabulary=8).decoder.blocks[0]
    spec = modern_decoder(width=8, heads=2, kv_heads=2, hidden=8, layers=2, vocabulary=8)
    block = replace(block, attention=replace(block.attention, position=position))
    model = build(replace(spec, decoder=replace(spec.decoder, blocks=(block, block))))

    def most(kernel: Kernel) -> int:
        for module in model.modules():
            if isinstance(module, Attention):
                module.kernel = kernel
        model.zero_grad()
        with Largest() as largest, small_tiles(Sizes(16, 16, 2)):
            model(torch.arange(length)[None] % 8).sum().backward()
        return largest.most

    assert most("tiled") <= 32 * length < length**2 // 4
    assert most("plain") >= length**2
    if not isinstance(position, ALiBi):
        relative = model.decoder.blocks[0].attention.relative.weight
        expected = relative.grad.clone()
        most("tiled")
        torch.testing.assert_close(relative.grad, expected, rtol=1e-4, atol=1e-5)


def test_an_operation_for_a_compiler_is_told_of_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = mask_of(Causal(), "padded")
    given = heads((B, 4, S, 4), (B, 2, S, 4), (B, 2, S, 5))
    for position in (None, *POSITIONS):
        how = How(mask, 0.5, position=position)
        assert _how(parts_of(None, how)) == how
    for position in POSITIONS:
        bias = distance_bias(position, 4, mask)
        learnt = [*given, *([] if bias.weight is None else [bias.weight])]
        answers = []
        for compiling in (False, True):
            with monkeypatch.context() as patch:
                patch.setattr(torch.compiler, "is_compiling", lambda compiling=compiling: compiling)
                mixed = attend(*given, mask, scale=0.5, bias=bias, kernel="tiled")
                answers.append((mixed, *torch.autograd.grad(mixed.square().sum(), learnt)))
        assert all(map(torch.equal, *answers))

"""What an attention was reckoned to hold is what is alive while it runs."""

from __future__ import annotations

import pytest
import torch

from clearformer.cost.attention_memory import Kernel, Sizes, held
from clearformer.layers.kernels import attend
from clearformer.layers.mask import Mask
from clearformer.layers.tiles import Sizes as TileSizes
from clearformer.spec import Causal
from cost.live_bytes import LiveBytes
from drawing.kernels import small_tiles

SIZES = Sizes(2, 8, 4, 256, 8)


@pytest.mark.parametrize("training", [False, True], ids=["forward", "training"])
@pytest.mark.parametrize(
    ("kernel", "tolerance", "dropout"),
    [("plain", 0.1, 0.0), ("plain", 0.2, 0.1), ("tiled", 0.5, 0.0), ("tiled", 0.5, 0.1), ("sdpa", 1.0, 0.0)],
)
def test_what_is_held_is_what_was_reckoned(kernel: Kernel, tolerance: float, dropout: float, training: bool) -> None:
    """The plain kernel's tables exactly; the others within a part of what they keep, never a table."""
    slots = torch.arange(SIZES.length)[None]
    given = [
        torch.randn(SIZES.batch, SIZES.length, heads, SIZES.width).transpose(1, 2).requires_grad_(training)
        for heads in (SIZES.heads, SIZES.kv_heads, SIZES.kv_heads)
    ]
    with LiveBytes() as live, small_tiles(TileSizes(16, 16, 2)):
        mixed = attend(*given, Mask(Causal(), slots, slots, in_order=True), scale=0.3, dropout=dropout, kernel=kernel)
        if training:
            torch.autograd.grad(mixed, given, torch.ones_like(mixed))
    reckoned = held(SIZES, kernel, training=training, dropout=dropout > 0).value
    assert reckoned * 0.8 <= live.most <= reckoned * (1 + tolerance)


def test_a_table_at_64k_is_what_is_quoted() -> None:
    """One head's scores at 65,536 positions are 16 GiB of float32; they are held twice."""
    found = held(Sizes(1, 1, 1, 65536, 64), "plain", training=False)
    assert found.value == pytest.approx(2 * 16 * 2**30, rel=0.01)
    assert "B·H·T·T" in found.text

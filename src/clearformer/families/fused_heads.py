"""Query, key and value in one foreign matrix, head by head, as Megatron kept them (GPT-NeoX, BLOOM)."""

from __future__ import annotations

from clearformer.checkpoint.renames import Split
from clearformer.spec import Attention, Stack


def fused_head_rows(theirs: str, ours: str, stack: Stack) -> list[Split]:
    """Weight and bias of a fused projection, `theirs`, against the three projections of an attention, `ours`."""
    attention = stack.blocks[0].attention
    assert isinstance(attention, Attention)
    sizes = (attention.key_width, attention.key_width, attention.value_width)
    return [
        Split(
            f"{theirs}.{kind}",
            tuple(f"{ours}.{part}.{kind}" for part in ("query", "key", "value")),
            sizes,
            groups=attention.heads,
        )
        for kind in ("weight", "bias")
    ]

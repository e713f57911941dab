"""Query, key and value in one foreign matrix: one below the other, or head by head as Megatron kept them."""

from __future__ import annotations

from clearformer.checkpoint.renames import Split
from clearformer.spec import Attention, Stack

PARTS = ("query", "key", "value")


def fused_attention_rows(theirs: str, ours: str, stack: Stack, *, by_head: bool = False) -> list[Split]:
    """Weight and bias of the foreign projection `theirs`, against the three projections of our attention `ours`.

    `by_head`: query, key and value of the first head, then of the second (GPT-NeoX, BLOOM).
    """
    attention = stack.blocks[0].attention
    assert isinstance(attention, Attention)
    groups = attention.heads if by_head else 1
    heads = (attention.heads, attention.kv_heads, attention.kv_heads)
    widths = (attention.key_width, attention.key_width, attention.value_width)
    sizes = tuple(count * width // groups for count, width in zip(heads, widths, strict=True))
    return [
        Split(f"{theirs}.{kind}", tuple(f"{ours}.{part}.{kind}" for part in PARTS), sizes, groups=groups)
        for kind in ("weight", "bias")
    ]

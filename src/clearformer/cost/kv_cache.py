"""What decoding keeps of every token: keys and values, or one latent vector in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from clearformer.cost.formula import ONE, TWO, ZERO, Formula, letter, number, total
from clearformer.cost.sides import Side, over_blocks, sides
from clearformer.cost.work import Work, passes
from clearformer.spec import AnyAttention, Attention, Causal, LatentAttention, Spec


@dataclass(frozen=True)
class KVCache:
    """In bytes. `whole` is what a preallocated cache of B rows and S slots takes, `within_windows` what sliding windows
    leave to be read of it. `memory` is what cross-attention keeps of the source beside it."""

    per_token: Formula
    whole: Formula
    within_windows: Formula
    memory: Formula


def kv_cache(spec: Spec, work: Work) -> KVCache:
    """The cache of a decoder that holds the work's positions; nothing for a model that keeps none."""
    each_bytes = number(work.bytes_each)
    for each in passes(spec, work):
        if each.side.writes:
            side, B, S = each.side, letter("B", work.batch), each.keys
            per_token = each_bytes * numbers_per_token(side)
            return KVCache(
                per_token,
                per_token * B * S,
                each_bytes * B * within_windows(side, S),
                each_bytes * B * each.memory * memory_numbers(side),
            )
    return KVCache(ZERO, ZERO, ZERO, ZERO)


def keeps_cache(spec: Spec) -> bool:
    """Whether the model continues what it has read."""
    return any(side.writes for side in sides(spec))


def numbers_per_token(side: Side) -> Formula:
    """Over all blocks."""
    return over_blocks(side.stack, lambda block: slot(block.attention))


def slot(spec: AnyAttention) -> Formula:
    """One block's numbers a token: G·(K + U), or Z + R."""
    match spec:
        case Attention():
            K, U = letter("K", spec.key_width), letter("U", spec.value_width)
            G = letter("G", spec.kv_heads)
            return TWO * G * K if spec.key_width == spec.value_width else G * (K + U)
        case LatentAttention():
            return letter("Z", spec.kv_rank) + letter("R", spec.rotary_width)
        case _:
            assert_never(spec)


def within_windows(side: Side, slots: Formula) -> Formula:
    """What a query at the end can still see of `slots` positions."""

    def reach(spec: AnyAttention) -> Formula:
        match spec.visibility:
            case Causal(window=int(window)) if window < slots.value:
                return letter("W", window)
            case _:
                return slots

    return over_blocks(side.stack, lambda block: reach(block.attention) * slot(block.attention))


def memory_numbers(side: Side) -> Formula:
    """What cross-attention keeps of each position of the source."""
    kept = (block.cross_attention for block in side.stack.blocks)
    return total(ONE * slot(spec) for spec in kept if spec is not None)

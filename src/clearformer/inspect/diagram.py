"""The paper's figure as a list of steps, read off a spec: what each computes from what, under the names of the taps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from clearformer.spec import (
    AnyAttention,
    Attention,
    Block,
    Dense,
    Experts,
    FeedForward,
    Gated,
    Norm,
    Parallel,
    Placement,
    Rotary,
    Sequential,
)

STREAM = "x"
"""The residual stream as the block receives it."""
MEMORY = "memory"
"""The encoder's output."""


@dataclass(frozen=True)
class Step:
    """One operation of a block: its tap's name, what it reads, the letters of what it gives (see shapes.py)."""

    op: str
    reads: tuple[str, ...]
    letters: str = "B T D"


def block_steps(spec: Block) -> list[Step]:
    """The steps of a block in the order of computing."""
    match spec.arrangement:
        case Parallel(shared_norm=shared):
            return _parallel(spec, shared)
        case Sequential(placement=placement):
            return _sequential(spec, placement)
        case _:
            assert_never(spec.arrangement)


def _sequential(spec: Block, placement: Placement) -> list[Step]:
    steps, stream = _sublayer(
        "attention", "attention", spec.attention_norm, placement, STREAM, lambda h: attention_steps(spec.attention, h)
    )
    if (cross := spec.cross_attention) is not None:
        more, stream = _sublayer(
            "cross_attention",
            "cross",
            spec.cross_norm,
            placement,
            stream,
            lambda h: attention_steps(cross, h, MEMORY, "cross_attention"),
        )
        steps += more
    more, stream = _sublayer(
        "feedforward",
        "feedforward",
        spec.feedforward_norm,
        placement,
        stream,
        lambda h: feedforward_steps(spec.feedforward, h),
    )
    steps += more
    if steps[-1].op == "feedforward_sum":
        # The last sum is the block's output: one step, under the more telling of its two names.
        return [*steps[:-1], Step("output", steps[-1].reads)]
    return [*steps, Step("output", (stream,))]


def _sublayer(
    module: str,
    name: str,
    norm: Norm | None,
    placement: Placement,
    stream: str,
    inside: Callable[[str], list[Step]],
) -> tuple[list[Step], str]:
    """A sublayer with its norm and its addition, and the name of the stream after it."""
    answer, label, total = f"{module}.output", f"{name}_norm", f"{name}_sum"
    if norm is None:
        return [*inside(stream), Step(total, (stream, answer))], total
    match placement:
        case "pre":
            return [Step(label, (stream,)), *inside(label), Step(total, (stream, answer))], total
        case "post":
            return [*inside(stream), Step(total, (stream, answer)), Step(label, (total,))], label
        case "branch":
            return [*inside(stream), Step(label, (answer,)), Step(total, (stream, label))], total
        case "sandwich":
            after = Step(f"{name}_output_norm", (answer,))
            return [Step(label, (stream,)), *inside(label), after, Step(total, (stream, after.op))], total
        case _:
            assert_never(placement)


def _parallel(spec: Block, shared: bool) -> list[Step]:
    """Attention and feed-forward read the same stream, and both are added to it."""
    norms, first, second = [], STREAM, STREAM
    if spec.attention_norm is not None:
        norms, first = [Step("attention_norm", (STREAM,))], "attention_norm"
    if shared:
        second = first
    elif spec.feedforward_norm is not None:
        norms, second = [*norms, Step("feedforward_norm", (STREAM,))], "feedforward_norm"
    inside = [*attention_steps(spec.attention, first), *feedforward_steps(spec.feedforward, second)]
    return [*norms, *inside, Step("output", (STREAM, "attention.output", "feedforward.output"))]


def attention_steps(spec: AnyAttention, source: str, read: str | None = None, module: str = "attention") -> list[Step]:
    """Queries from `source`; keys and values from `read`, the same stream where it is None."""
    read = source if read is None else read
    query, key, value = f"{module}.query", f"{module}.key", f"{module}.value"
    steps = [Step(query, (source,), "B H T K"), Step(key, (read,), "B G S K"), Step(value, (read,), "B G S U")]
    if not isinstance(spec, Attention):
        # A head's query and key carry their rotary part at the end.
        steps = [Step(query, (source,), "B H T K+R"), Step(key, (read,), "B H S K+R"), Step(value, (read,), "B H S U")]
    if not isinstance(spec, Attention) or isinstance(spec.position, Rotary):
        steps += [Step(f"{step.op}_rotated", (step.op,), step.letters) for step in steps[:2]]
        query, key = f"{query}_rotated", f"{key}_rotated"
    scores, masked, weights, heads = (f"{module}.{name}" for name in ("scores", "masked_scores", "weights", "heads"))
    return [
        *steps,
        Step(scores, (query, key), "B H T S"),
        Step(masked, (scores,), "B H T S"),
        Step(weights, (masked,), "B H T S"),
        Step(heads, (weights, value), "B H T U"),
        Step(f"{module}.output", (heads,)),
    ]


def feedforward_steps(spec: FeedForward, source: str) -> list[Step]:
    """What each position computes alone."""
    gate, hidden, output = "feedforward.gate", "feedforward.hidden", "feedforward.output"
    match spec:
        case Dense():
            return [Step(hidden, (source,), "B T F"), Step(output, (hidden,))]
        case Gated():
            opened = Step(gate, (source,), "B T F")
            return [opened, Step(hidden, (gate, source), "B T F"), Step(output, (hidden,))]
        case Experts():
            return [Step("feedforward.router", (source,), "B T E"), Step(output, ("feedforward.router", source))]
        case _:
            assert_never(spec)

"""Every tensor of one forward pass, with its shape, from the spec alone: nothing is built and nothing computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from clearformer.errors import UsageError
from clearformer.inspect.diagram import MEMORY, STREAM, block_steps
from clearformer.messages import inspect as messages
from clearformer.spec import (
    AnyAttention,
    Attention,
    Classes,
    DecoderOnly,
    EncoderDecoder,
    EncoderOnly,
    Experts,
    Flatten,
    Forecast,
    Head,
    Hidden,
    Language,
    Patches,
    Regression,
    Series,
    Spec,
    Stack,
    Tokens,
    TwoTowers,
    Vector,
    main_stack,
    pooling_of,
)

Shape = tuple[int, ...]
SingleWay = DecoderOnly | EncoderOnly | EncoderDecoder


@dataclass(frozen=True)
class Reading:
    """How much is read at once: rows, what the first stack reads of each (tokens, or steps of a series; an image's size
    is in its spec), and the tokens that an encoder-decoder's decoder reads."""

    batch: int = 1
    length: int = 12
    target: int = 7


def usual_reading(spec: SingleWay) -> Reading:
    """What is read where nobody says how much: a dozen tokens or patches of a series, or as much as the spec fixes."""
    stack, usual = read_first(spec), Reading()
    length = min(usual.length, spec.context)
    match stack.input:
        case Tokens():
            pass
        case Patches():
            length = stack.input.length
        case Series(patch=patch, stride=stride):
            length = patch + ((_flattened(spec) or length) - 1) * stride
        case _:
            assert_never(stack.input)
    return Reading(length=length, target=min(usual.target, spec.context))


def read_first(spec: SingleWay) -> Stack:
    """The stack that the input goes into."""
    return spec.encoder if isinstance(spec, EncoderDecoder) else main_stack(spec)


def positions_of(stack: Stack, length: int) -> int:
    """The positions of so many tokens or steps; those of an image whatever is given."""
    match stack.input:
        case Tokens():
            return length
        case Patches():
            return stack.input.length
        case Series():
            return stack.input.length(length)
        case _:
            assert_never(stack.input)


@dataclass(frozen=True)
class Planned:
    """One tensor: `stage` and `op` joined by a dot are its tap's name; `letters` name the dimensions of `shape`."""

    stage: str
    op: str
    reads: tuple[Shape, ...]
    shape: Shape
    letters: str

    @property
    def name(self) -> str:
        return f"{self.stage}.{self.op}"


def plan(spec: Spec, reading: Reading) -> tuple[Planned, ...]:
    """The tensors in the order of computing, up to what the head answers.

    Raises UsageError for two towers, for counts below 1 and for more than the context holds.
    """
    if isinstance(spec, TwoTowers):
        raise UsageError(messages.TWO_TOWERS)
    _require(spec, reading)
    match spec:
        case EncoderDecoder():
            encoder, given = spec.encoder, _given(spec.encoder, reading.batch, reading.length)
            memory = (reading.batch, positions_of(encoder, reading.length), encoder.width)
            steps = [*_stack("encoder", encoder, given, memory[:2])]
            target = (reading.batch, reading.target)
            steps += _stack("decoder", spec.decoder, target, target, memory)
            return (*steps, *_head(spec.head, spec.decoder, (*target, spec.decoder.width), reading.batch))
        case _:
            stack, role = main_stack(spec), "decoder" if isinstance(spec, DecoderOnly) else "encoder"
            copies = stack.input.channels if isinstance(stack.input, Series) and stack.input.independent else 1
            rows = (reading.batch * copies, positions_of(stack, reading.length))
            steps = [*_stack(role, stack, _given(stack, reading.batch, reading.length), rows)]
            return (*steps, *_head(spec.head, stack, (*rows, stack.width), reading.batch))


def loss_of(spec: SingleWay, reading: Reading) -> Planned | None:
    """What training makes of the answer: one number. None for a head that no loss is defined for."""
    answers = plan(spec, reading)[-1].shape
    match spec.head:
        case Language() | Classes():
            return Planned("loss", "cross_entropy", (answers, answers[:-1]), (), "")
        case Forecast(horizon=horizon):
            stack = main_stack(spec) if not isinstance(spec, EncoderDecoder) else spec.decoder
            assert isinstance(stack.input, Series)
            forecast = (reading.batch, horizon, stack.input.channels)
            return Planned("loss", "mean_squared_error", (forecast, forecast), (), "")
        case Regression():
            return Planned("loss", "mean_squared_error", (answers, answers), (), "")
        case Hidden() | Vector():
            return None
        case _:
            assert_never(spec.head)


def block_sizes(attention: AnyAttention, width: int, rows: Shape, keys: int) -> dict[str, int]:
    """The size of each letter inside one block's attention."""
    batch, queries = rows
    sizes = {"B": batch, "T": queries, "S": keys, "D": width, "H": attention.heads, "U": attention.value_width}
    if isinstance(attention, Attention):
        return sizes | {"G": attention.kv_heads, "K": attention.key_width}
    return sizes | {"G": attention.heads, "K": attention.key_width, "R": attention.rotary_width}


def sized(letters: str, sizes: dict[str, int]) -> Shape:
    """`B T K+R` as numbers."""
    return tuple(sum(sizes[part] for part in letter.split("+")) for letter in letters.split())


def _stack(role: str, spec: Stack, given: Shape, rows: Shape, memory: Shape | None = None) -> Iterator[Planned]:
    stream = (*rows, spec.width)
    yield Planned(role, "embed", (given,), stream, "B T D")
    for index, block in enumerate(spec.blocks):
        shapes: dict[str, Shape] = {STREAM: stream} | ({MEMORY: memory} if memory else {})
        own = block_sizes(block.attention, spec.width, rows, rows[1])
        feed = block.feedforward
        own |= {"E": feed.count} if isinstance(feed, Experts) else {"F": feed.width}
        for step in block_steps(block):
            sizes = own
            if step.op.startswith("cross_attention."):
                assert block.cross_attention is not None
                assert memory is not None
                sizes = own | block_sizes(block.cross_attention, spec.width, rows, memory[1])
            shapes[step.op] = sized(step.letters, sizes)
            reads = tuple(shapes[name] for name in step.reads)
            yield Planned(f"{role}.blocks.{index}", step.op, reads, shapes[step.op], step.letters)
    if spec.final_norm is not None:
        yield Planned(role, "final_norm", (stream,), stream, "B T D")


def _head(head: Head, stack: Stack, states: Shape, batch: int) -> Iterator[Planned]:
    rows, length, width = states
    if isinstance(head, Language):
        assert isinstance(stack.input, Tokens)
        yield Planned("head", "logits", (states,), (rows, length, stack.input.vocabulary), "B T V")
        return
    if (pooling := pooling_of(head)) is None:
        return
    pooled = (rows, length * width if isinstance(pooling.take, Flatten) else width)
    yield Planned("head", "pooled", (states,), pooled, "B D")
    match head:
        case Classes(count=outputs) | Regression(outputs=outputs):
            pass
        case Vector(width=projected):
            outputs = projected or pooled[1]
        case Forecast(horizon=horizon):
            assert isinstance(stack.input, Series)
            outputs = horizon * (1 if stack.input.independent else stack.input.channels)
        case _:
            raise AssertionError(head)
    yield Planned("head", "logits", (pooled,), (rows, outputs), "B outputs")


def _given(stack: Stack, batch: int, length: int) -> Shape:
    match stack.input:
        case Tokens():
            return batch, length
        case Patches(channels=channels, height=height, width=width):
            return batch, channels, height, width
        case Series(channels=channels):
            return batch, length, channels
        case _:
            assert_never(stack.input)


def _require(spec: SingleWay, reading: Reading) -> None:
    stack = read_first(spec)
    counts = {"--batch": reading.batch, "--src-len": reading.length}
    if isinstance(spec, EncoderDecoder):
        counts["--tgt-len"] = reading.target
    for name, found in counts.items():
        least = stack.input.patch if name == "--src-len" and isinstance(stack.input, Series) else 1
        if found < least:
            raise UsageError(messages.TOO_FEW, name=name, least=least, found=found)
        of_tokens = name == "--tgt-len" or (name == "--src-len" and isinstance(stack.input, Tokens))
        if of_tokens and found > spec.context:
            raise UsageError(messages.PAST_CONTEXT, name=name, found=found, context=spec.context)
    if isinstance(stack.input, Series):
        _require_steps(spec, stack.input, reading.length)


def _require_steps(spec: SingleWay, series: Series, steps: int) -> None:
    """A head that lays all positions side by side has weights for just so many; others read up to the context."""
    positions, fixed = series.length(steps), _flattened(spec)
    most = spec.context if fixed is None else fixed
    if positions > most or (fixed is not None and positions != fixed):
        wanted = series.patch + (most - 1) * series.stride
        told = {"steps": steps, "positions": positions, "most": most, "wanted": wanted}
        raise UsageError(messages.OTHER_STEPS, **told)


def _flattened(spec: SingleWay) -> int | None:
    pooling = pooling_of(spec.head)
    return pooling.take.length if pooling is not None and isinstance(pooling.take, Flatten) else None

"""Every tensor of one forward pass: where it arises, what it is made from, its shape, and how large its numbers are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.diagram import MEMORY, STREAM, Step, block_steps
from clearformer.inspect.subject import Input, SingleWay, Subject, subject_of, undisturbed
from clearformer.layers.block import Block
from clearformer.load import Loaded
from clearformer.messages import Message
from clearformer.messages import inspect as messages
from clearformer.model import EncoderDecoder, Model
from clearformer.spec import Language
from clearformer.taps import Listening

Shape = tuple[int, ...]

_IN_A_BLOCK = re.compile(r"((?:encoder|decoder)\.blocks\.(\d+))\.(.+)")


@dataclass(frozen=True)
class Row:
    """One tensor. `stage` and `op` joined by a dot are its tap's name; an `x + …` is a sum on the residual stream.

    `letters` name the dimensions of `out_shape` (shapes.py). `std` is the root mean square distance from `mean`. A
    number is None where it is not finite.
    """

    stage: str
    op: str
    in_shapes: tuple[Shape, ...]
    out_shape: Shape
    letters: str
    mean: float | None
    std: float | None
    absmax: float | None
    meaning: Message

    @property
    def layer(self) -> int | None:
        """The block's number; None outside the blocks."""
        found = re.search(r"\d+$", self.stage)
        return int(found[0]) if found else None


@dataclass(frozen=True)
class Trace:
    """The tensors of one pass in the order of computing. `tokens` are the labels of what was read."""

    tokens: tuple[str, ...]
    rows: tuple[Row, ...]

    def folded(self, opened: int | None = 0) -> Trace:
        """Each block but one as its output alone; None opens all. Raises UsageError for a layer that there is not."""
        layers = {row.layer for row in self.rows if row.layer is not None}
        if opened is None:
            return self
        if opened not in layers:
            raise UsageError(messages.NO_LAYER, found=opened, count=len(layers), last=len(layers) - 1)
        kept = (row for row in self.rows if row.layer in (None, opened) or row.op == "output")
        return Trace(self.tokens, tuple(kept))

    def __str__(self) -> str:
        cells = [(f"{row.stage}.{row.op}", f"{row.letters} = {' '.join(map(str, row.out_shape))}") for row in self.rows]
        width = max(len(name) for name, _ in cells)
        return "\n".join(f"{name:{width}}  {shape}" for name, shape in cells)


def trace(looked_at: Loaded | Model, given: Input, *, target: Sequence[int] | None = None) -> Trace:
    """Read `given` (a text, token ids, or a tensor with its batch) once and note every tensor on the way.

    An encoder-decoder's decoder reads `target`, the start token if none is given. Nothing is drawn, dropped or learnt;
    the mode of the modules is as it was afterwards. Raises UsageError and GenerationError as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target)
    tracer = _Tracer(subject)
    with undisturbed(subject.model):
        if isinstance(subject.model, EncoderDecoder):
            subject.model(subject.data, subject.target, tap=Listening(tracer.listen))
        else:
            subject.model(subject.data, tap=Listening(tracer.listen))
    return Trace(subject.tokens, tuple(tracer.rows))


class _Tracer:
    """Turns taps into rows block by block, and lets go of a block's tensors when its rows are written."""

    def __init__(self, subject: Subject) -> None:
        self.rows: list[Row] = []
        self._subject = subject
        self._inside: dict[str, Tensor] = {}
        self._stream = subject.data
        self._memory: Tensor | None = None

    def listen(self, name: str, value: Tensor) -> None:
        if found := _IN_A_BLOCK.fullmatch(name):
            stage, index, op = found.groups()
            self._inside[op] = value
            if op == "output":
                self._finish_block(stage, int(index))
            return
        stage, _, op = name.rpartition(".")
        if op == "embed":
            given = self._given(stage)
            self._note(stage, op, (given,), value, "B T D")
        elif op == "final_norm":
            # An absent final norm hands the stream on, and is no step.
            if value is not self._stream:
                self._note(stage, op, (self._stream,), value, "B T D")
            self._memory = value if stage == "encoder" else self._memory
        else:
            self._note(stage, op, (self._stream,), value, self._head_letters(op, value))
        self._stream = value

    def _given(self, stage: str) -> Tensor:
        target = self._subject.target
        return target if stage == "decoder" and target is not None else self._subject.data

    def _finish_block(self, stage: str, index: int) -> None:
        values = {**self._inside, STREAM: self._stream}
        if self._memory is not None:
            values[MEMORY] = self._memory
        block = _block(self._subject.model, stage.partition(".")[0], index)
        for step in block_steps(block.spec):
            if step.made != "tap":
                values[step.op] = _untapped(step, values, block)
            reads = tuple(values[name] for name in step.reads)
            self._note(stage, step.op, reads, values[step.op], step.letters)
        self._stream, self._inside = self._inside["output"], {}

    def _note(self, stage: str, op: str, reads: tuple[Tensor, ...], value: Tensor, letters: str) -> None:
        shapes = tuple(tuple(read.shape) for read in reads)
        mean, std, absmax = sizes(value)
        meaning = meaning_of(op, language=isinstance(self._subject.model.spec.head, Language))
        self.rows.append(Row(stage, op, shapes, tuple(value.shape), letters, mean, std, absmax, meaning))

    def _head_letters(self, op: str, value: Tensor) -> str:
        if op == "pooled":
            return "B D"
        return "B T V" if isinstance(self._subject.model.spec.head, Language) else "B outputs"


def sizes(value: Tensor) -> tuple[float | None, float | None, float | None]:
    """Mean, standard deviation and largest magnitude over all numbers, computed in float64; None if not finite."""
    numbers = value.double()
    mean = numbers.mean()
    found = (mean, (numbers - mean).square().mean().sqrt(), numbers.abs().max())
    mean_of, std, absmax = (float(number) if math.isfinite(number) else None for number in found)
    return mean_of, std, absmax


def meaning_of(op: str, *, language: bool = True) -> Message:
    """What a step does, in words."""
    if op == "logits" and language:
        return messages.MEANINGS["next_token"]
    if op.startswith("x + "):
        return messages.MEANINGS["sum"]
    for name in (op, op.rpartition(".")[2]):
        if name in messages.MEANINGS:
            return messages.MEANINGS[name]
    assert op.endswith("norm"), op
    return messages.MEANINGS["norm"]


def _untapped(step: Step, values: dict[str, Tensor], block: Block) -> Tensor:
    """A step that has no tap, computed from those that have."""
    first, *others = (values[name] for name in step.reads)
    if step.made == "sum":
        return sum(others, first)
    normed: Tensor = block.get_submodule(step.op)(first)
    return normed


def _block(model: SingleWay, role: str, index: int) -> Block:
    stack = model.get_submodule(role)
    block = stack.get_submodule(f"blocks.{index}")
    assert isinstance(block, Block)
    return block

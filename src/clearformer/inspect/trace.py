"""Every tensor of one forward pass: where it arises, what it is made from, its shape, and how large its numbers are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.oddities import Odd, not_finite, of_scores, of_weights
from clearformer.inspect.plan import Planned, Reading, Shape, loss_of, plan
from clearformer.inspect.subject import Input, Subject, subject_of, undisturbed
from clearformer.inspect.surprise import surprise
from clearformer.load import Loaded
from clearformer.messages import Message
from clearformer.messages import inspect as messages
from clearformer.model import Model
from clearformer.spec import Language, Spec, TwoTowers
from clearformer.taps import Listening

Sizes = tuple[float | None, float | None, float | None]


@dataclass(frozen=True)
class Row:
    """One tensor. `stage` and `op` joined by a dot are its tap's name.

    `letters` name the dimensions of `out_shape` (shapes.py). `std` is the root mean square distance from `mean`; of
    masked scores, the visible ones count. A number is None where it is not finite, and where nothing was computed.
    `odd` is what a reader should look at.
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
    odd: tuple[Odd, ...] = ()
    operation: str = ""
    """How it is computed, where a step is written out."""
    number: int | None = None
    """Which of the eight steps of attention it is, where these are written out."""

    @property
    def layer(self) -> int | None:
        """The block's number; None outside the blocks."""
        found = re.search(r"\d+$", self.stage)
        return int(found[0]) if found else None


@dataclass(frozen=True)
class Trace:
    """The tensors of one pass in the order of computing. `tokens` are the labels of what was read; none from a spec."""

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
        return "\n".join(f"{name:{width}}  {shape}".rstrip() for name, shape in cells)


def trace(looked_at: Loaded | Model, given: Input, *, target: Sequence[int] | None = None) -> Trace:
    """Read `given` (a text, token ids, or a tensor with its batch) once and note every tensor on the way.

    An encoder-decoder's decoder reads `target`, the start token if none is given. Where the text has tokens to
    predict, the last row is the loss. Nothing is drawn, dropped or learnt; the mode of the modules is as it was
    afterwards. Raises UsageError and GenerationError as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target)
    measured = Measured()
    with undisturbed(subject.model):
        inputs = (subject.data,) if subject.target is None else (subject.data, subject.target)
        answers = subject.model(*inputs, tap=Listening(measured.listen))
        rows = [measured.row(step, subject) for step in plan(subject.model.spec, reading_of(subject))]
        if (loss := _loss(subject, answers)) is not None:
            rows.append(loss)
    return Trace(subject.tokens, tuple(rows))


def trace_spec(spec: Spec, reading: Reading) -> Trace:
    """The shapes alone, from what enters to the loss; nothing is built.

    Raises UsageError for two towers and for counts that the spec cannot read.
    """
    steps = plan(spec, reading)
    assert not isinstance(spec, TwoTowers)
    language = isinstance(spec.head, Language)
    loss = loss_of(spec, reading)
    rows = [_row(step, (None, None, None), language) for step in (*steps, *([loss] if loss else []))]
    return Trace((), tuple(rows))


def reading_of(subject: Subject) -> Reading:
    """How much a subject reads."""
    target = 1 if subject.target is None else subject.target.shape[1]
    return Reading(subject.data.shape[0], subject.data.shape[1], target)


class Measured:
    """The sizes and oddities of every tensor, each let go of as soon as it is measured."""

    def __init__(self) -> None:
        self.sizes: dict[str, Sizes] = {}
        self.odd: dict[str, tuple[Odd, ...]] = {}
        self.shapes: dict[str, Shape] = {}
        self._masked: Tensor | None = None

    def listen(self, name: str, value: Tensor) -> None:
        op = name.rpartition(".")[2]
        masked = op == "masked_scores"
        odd = not_finite(value, hidden=masked)
        seen = value[value != -math.inf] if masked else value
        self.shapes[name], self.sizes[name] = tuple(value.shape), sizes(seen)
        if masked:
            self._masked = value
            odd = odd or of_scores(value)
        elif op == "weights" and not odd:
            assert self._masked is not None
            odd, self._masked = of_weights(value, self._masked), None
        self.odd[name] = odd

    def row(self, step: Planned, subject: Subject) -> Row:
        assert self.shapes[step.name] == step.shape, (step, self.shapes[step.name])
        language = isinstance(subject.model.spec.head, Language)
        return _row(step, self.sizes[step.name], language, self.odd[step.name])


def _row(step: Planned, measured: Sizes, language: bool, odd: tuple[Odd, ...] = ()) -> Row:
    meaning = meaning_of(step.op, language=language)
    return Row(step.stage, step.op, step.reads, step.shape, step.letters, *measured, meaning, odd)


def _loss(subject: Subject, logits: Tensor) -> Row | None:
    """How well the text's own next tokens are predicted, where it has any."""
    value = surprise(subject, logits)
    if value is None:
        return None
    B, T, V = logits.shape
    step = Planned("loss", "cross_entropy", ((B, T - 1, V), (B, T - 1)), (), "")
    return _row(step, sizes(value), True, not_finite(value))


def sizes(value: Tensor) -> Sizes:
    """Mean, standard deviation and largest magnitude over all numbers, computed in float64; None if not finite."""
    if not value.numel():
        return None, None, None
    numbers = value.double()
    mean = numbers.mean()
    found = torch.stack((mean, (numbers - mean).square().mean().sqrt(), numbers.abs().max())).tolist()
    mean_of, std, absmax = (number if math.isfinite(number) else None for number in found)
    return mean_of, std, absmax


def meaning_of(op: str, *, language: bool = True) -> Message:
    """What a step does, in words."""
    if op == "logits" and language:
        return messages.MEANINGS["next_token"]
    if op.endswith("_sum"):
        return messages.MEANINGS["sum"]
    for name in (op, op.rpartition(".")[2]):
        if name in messages.MEANINGS:
            return messages.MEANINGS[name]
    assert op.endswith("norm"), op
    return messages.MEANINGS["norm"]

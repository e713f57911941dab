"""Costs as tables in the user's language: a name, a number, and the formula that gave it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clearformer.cost.fitting import MOST, can_deepen, longest_position
from clearformer.cost.formula import Formula
from clearformer.cost.generating import Course
from clearformer.cost.pricing import Cost
from clearformer.cost.sides import sides
from clearformer.machine import in_binary_units
from clearformer.messages import Language, Message
from clearformer.messages import cost as say
from clearformer.shapes import DIMENSIONS

_DECIMAL = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"))


@dataclass(frozen=True)
class Row:
    """A figure: its name, itself, and how it was reckoned."""

    name: str
    value: str
    formula: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, and the figures under it."""

    title: str
    rows: tuple[Row, ...]


@dataclass
class Writer:
    """Rows in one language; `letters` gathers what the formulas name."""

    language: Language
    letters: dict[str, set[int]] = field(default_factory=dict)

    def say(self, message: Message, **values: object) -> str:
        return message.text(self.language, **values)

    def show(self, formula: Formula) -> str:
        for name, size in formula.sizes:
            self.letters.setdefault(name, set()).add(size)
        return "" if formula.text == str(formula.value) else formula.text

    def count(self, name: str, formula: Formula) -> Row:
        return Row(name, f"{formula.value:,}", self.show(formula))

    def size(self, name: str, formula: Formula) -> Row:
        return Row(name, size(formula.value), self.show(formula))

    def part(self, key: str) -> str:
        """`decoder.attention` in words."""
        side, dot, part = key.rpartition(".")
        words = self.say(say.PARTS[part])
        return self.within(self.say(say.SIDES[side]), words) if dot else words

    def within(self, outer: str, inner: str) -> str:
        return self.say(say.WITHIN, outer=outer, inner=inner)

    def section(self, title: Message, rows: Iterable[Row], **values: object) -> Section:
        return Section(self.say(title, **values), tuple(rows))


def sections(found: Cost, language: Language = "en") -> list[Section]:
    """Everything that was reckoned, and the letters with their sizes at the end."""
    write, work = Writer(language), found.work
    written = [
        write.section(say.PARAMETERS, _parameters(found, write)),
        write.section(say.FLOPS, _flops(found, write)),
        write.section(say.TRAINING_MEMORY, _training(found, write), dtype=work.dtype, optimizer=work.optimizer),
    ]
    if found.decode is not None:
        written.append(write.section(say.ANSWERING, _answering(found, write)))
    written.append(write.section(say.SPEED, _speed(found, write)))
    if (course := found.generating) is not None:
        rows = [*_course(course.cached, say.WITH_CACHE, write), *_course(course.uncached, say.WITHOUT_CACHE, write)]
        written.append(write.section(say.GENERATING, rows, new=course.new, prompt=course.prompt))
    if found.fits_into is not None:
        written.append(write.section(say.FITTING, _fitting(found, write), size=size(found.fits_into)))
    return [*written, write.section(say.LETTERS_TITLE, _letters(write))]


def heading(found: Cost, language: Language) -> str:
    """What was priced, in one line."""
    blocks = " + ".join(str(len(side.stack.blocks)) for side in sides(found.spec))
    lengths = " + ".join(map(str, found.lengths.values()))
    work = f"B = {found.work.batch}, T = {lengths}"
    kind = type(found.spec).__name__
    return say.WHOLE.text(language, kind=kind, blocks=blocks, work=work, dtype=found.work.dtype)


def as_text(found: Cost, language: Language = "en") -> str:
    """Plain columns, as wide as they need."""
    lines = [heading(found, language)]
    for section in sections(found, language):
        names, values = (max(len(getattr(row, each)) for row in section.rows) for each in ("name", "value"))
        lines += ["", section.title]
        lines += [f"  {row.name:{names}}  {row.value:>{values}}  {row.formula}".rstrip() for row in section.rows]
    return "\n".join(lines)


def size(count: int) -> str:
    """Bytes as they are while they are few; then in units of 1024, and of 1000 as disks and makers count."""
    if count < 2**20:
        return f"{count:,} B"
    unit, name = next((each for each in _DECIMAL if count >= each[0]), _DECIMAL[-1])
    decimal = f"{count / unit:.1f} {name}" if name == "MB" else f"{count / unit:.2f} {name}"
    return f"{in_binary_units(count)} ({decimal})"


def seconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def _parameters(found: Cost, write: Writer) -> Iterator[Row]:
    for key, amount in found.parameters.by_part.items():
        yield write.count(write.part(key), amount)
    yield Row(write.say(say.TOTAL), f"{found.parameters.total:,}")
    if found.parameters.active != found.parameters.total:
        yield Row(write.say(say.ACTIVE), f"{found.parameters.active:,}")
    yield Row(write.say(say.PLAIN), f"{found.parameters.plain:,}")


def _flops(found: Cost, write: Writer) -> Iterator[Row]:
    counted = found.flops
    for key, amount in counted.linear.items():
        yield write.count(write.part(key), amount)
    yield write.count(write.say(say.SCORES), counted.executed)
    yield write.count(write.say(say.SCORES_VISIBLE), counted.visible)
    yield Row(write.say(say.FORWARD), f"{counted.forward:,}")
    yield Row(write.say(say.TRAINING), f"{counted.training:,}")


def _training(found: Cost, write: Writer) -> Iterator[Row]:
    held = found.memory
    yield write.size(write.say(say.WEIGHTS), held.weights)
    yield write.size(write.say(say.GRADIENTS), held.gradients)
    yield write.size(write.say(say.OPTIMIZER), held.optimizer)
    chosen = (found.work.kernel, found.work.recompute)
    for which, kept in found.activations.items():
        mark = " *" if which == chosen else ""
        yield Row(write.say(say.HELD[which]) + mark, size(kept.bytes), write.show(kept.whole))
    yield write.size(write.say(say.ONE_TABLE), held.activations.scores)
    yield Row(f"{write.say(say.TOTAL)} *", size(held.total))
    yield Row(f"{write.say(say.PEAK)} *", size(held.peak))


def _answering(found: Cost, write: Writer) -> Iterator[Row]:
    cache = found.kv_cache
    yield write.size(write.say(say.PER_TOKEN), cache.per_token)
    yield write.size(write.say(say.WHOLE_CACHE), cache.whole)
    if cache.within_windows.value != cache.whole.value:
        yield write.size(write.say(say.IN_WINDOWS), cache.within_windows)
    if cache.memory.value:
        yield write.size(write.say(say.SOURCE_KEPT), cache.memory)
    yield Row(write.say(say.WEIGHTS_AND_CACHE), size(found.memory.answering))


def _speed(found: Cost, write: Writer) -> Iterator[Row]:
    yield Row(write.say(say.INTENSITY_PREFILL), f"{found.prefill.intensity:.3g}")
    if found.decode is not None:
        yield Row(write.say(say.INTENSITY_DECODE), f"{found.decode.intensity:.3g}")
    timed = found.time
    if timed.balance is not None:
        yield Row(write.say(say.BALANCE), f"{timed.balance:.3g}")
    if timed.basis is None:
        yield Row(write.say(say.PREFILL_TIME), "–")
        return
    basis = write.say(say.BASIS[timed.basis], backend=timed.backend)
    for name, value in ((say.PREFILL_TIME, timed.prefill_s), (say.DECODE_TIME, timed.decode_s)):
        if value is not None:
            yield Row(write.say(name), seconds(value), basis)


def _course(course: Course, name: Message, write: Writer) -> Iterator[Row]:
    yield write.count(write.within(write.say(name), write.say(say.READ)), course.rows)
    yield write.count(write.within(write.say(name), write.say(say.PAIRS)), course.pairs)
    for what, count, exponent in (
        (say.LINEAR, course.linear, course.linear_exponent),
        (say.ATTENTION, course.attention, course.attention_exponent),
        (say.VISIBLE, course.visible, None),
    ):
        grows = "" if exponent is None else write.say(say.GROWS, exponent=exponent)
        yield Row(write.within(write.say(name), write.say(what)), f"{count:,}", grows)


def _fitting(found: Cost, write: Writer) -> Iterator[Row]:
    work, lengths = found.work, " + ".join(map(str, found.lengths.values()))
    length = write.say(say.FITS_NOT if longest_position(found.spec) else say.FIXED)
    layers = write.say(say.FITS_NOT if can_deepen(found.spec) else say.NO_BLOCKS)
    for fits in found.fitting:
        count = "" if fits.parameters is None else write.say(say.MODEL_OF, count=fits.parameters)
        for what, name, most, none in (
            ("batch", write.say(say.BATCH, length=lengths), fits.batch, write.say(say.FITS_NOT)),
            ("length", write.say(say.LENGTH, batch=work.batch), fits.length, length),
            ("layers", write.say(say.LAYERS), fits.layers, layers),
        ):
            notes = [count] if what == "layers" and count else []
            notes += [write.say(say.AT_LEAST)] if most == MOST[what] else []
            purpose = write.say(say.PURPOSES[fits.purpose])
            yield Row(write.within(purpose, name), none if most is None else f"{most:,}", ", ".join(notes))


def _letters(write: Writer) -> Iterator[Row]:
    order: Sequence[str] = [*DIMENSIONS, "W", "N", "M", "Tₚ", "Tₙ"]
    for name in sorted(write.letters, key=order.index):
        yield Row(name, ", ".join(f"{size:,}" for size in sorted(write.letters[name])), write.say(say.LETTERS[name]))

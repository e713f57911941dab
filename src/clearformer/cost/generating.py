"""Writing N tokens behind a prompt of P, with and without a cache: what all steps take together, and how it grows.

Without a cache step i reads P + i tokens again: attention sums squares to a cube, products with weights sum lengths to
a square. With a cache each token is read once, and both lose one power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from clearformer.cost.flops import attention, linear_parts, mixing
from clearformer.cost.formula import ONE, TWO, Formula, divided, halved, letter, number
from clearformer.cost.kv_cache import keeps_cache
from clearformer.cost.sides import sides
from clearformer.cost.work import MOST, Pass, Work, bounded, passes, require_room
from clearformer.errors import UsageError
from clearformer.messages import cost as messages
from clearformer.spec import Causal, Patches, Spec, Visibility


@dataclass(frozen=True)
class Course:
    """FLOPs of all steps: products with weights, attention as executed, and over visible pairs alone.

    `rows` positions are read in all; `pairs` are those of a position read with one that could be seen. The exponents
    are of growth at this length: log2 of how much more a prompt and a text of twice the length take.
    """

    rows: Formula
    pairs: Formula
    linear: int
    attention: int
    visible: int
    linear_exponent: float
    attention_exponent: float

    @property
    def total(self) -> int:
        return self.linear + self.attention


@dataclass(frozen=True)
class Generating:
    """`prompt` tokens read (the source's, of an encoder-decoder) and `new` tokens written."""

    prompt: int
    new: int
    cached: Course
    uncached: Course


@dataclass(frozen=True)
class Steps:
    """Sums over all calls of one text: positions read, positions that could be seen, and pairs of the two."""

    rows: Formula
    keys: Formula
    pairs: Formula


def generating(spec: Spec, work: Work, prompt: int, new: int) -> Generating:
    """Raises UsageError for a model that writes nothing, and where the text is longer than a learnt table."""
    for name, found in (("prompt", prompt), ("new", new)):
        if type(found) is not int or not 1 <= found <= MOST:
            raise UsageError(messages.NOT_WHOLE, name=name, most=MOST, found=bounded(found))
    if not keeps_cache(spec):
        raise UsageError(messages.WRITES_NOTHING, found=type(spec).__name__)
    for side in sides(spec):
        behind = prompt + new - 1 if not any(each.is_source for each in sides(spec)) else new
        require_room(side.stack, prompt if side.is_source else behind)
    return Generating(prompt, new, *(_course(spec, work, prompt, new, cached=cached) for cached in (True, False)))


def steps(prompt: int, new: int, *, cached: bool) -> Steps:
    """The first call reads the prompt and gives the first token; each later one reads the token before."""
    P, N = letter("Tₚ", prompt), letter("Tₙ", new)
    lengths = N * P + halved(N * (N - ONE))
    if cached:
        return Steps(P + N - ONE, lengths, P * P + lengths - P)
    squares = N * P * P + P * N * (N - ONE) + divided(N * (N - ONE) * (TWO * N - ONE), 6)
    return Steps(lengths, lengths, squares)


def seen_by_all(window: int | None, prompt: int, new: int, *, cached: bool) -> int:
    """Pairs of all calls that may see each other; position i sees min(i, window) positions, itself included."""
    last = prompt + new - 1
    if cached:
        return _sights(last, window)
    # Position i is read again in each call that is at least i long.
    return _sum_of_sights(last, window) - _sum_of_sights(prompt - 1, window)


def _sights(length: int, window: int | None) -> int:
    """Σ min(i, window) over the positions i up to `length`."""
    narrow = length if window is None else min(length, window)
    return narrow * (narrow + 1) // 2 + (length - narrow) * narrow


def _sum_of_sights(length: int, window: int | None) -> int:
    """Σ of the same over the lengths up to `length`."""
    narrow = length if window is None else min(length, window)
    beyond = length - narrow
    below = narrow * (narrow + 1) * (narrow + 2) // 6
    return below + beyond * (narrow * (narrow + 1) // 2) + narrow * beyond * (beyond + 1) // 2


def _course(spec: Spec, work: Work, prompt: int, new: int, *, cached: bool) -> Course:
    linear, mixed = _sums(spec, work, prompt, new, cached=cached)
    more_linear, more_mixed = _sums(spec, work, 2 * prompt, 2 * new, cached=cached)
    visible = _visible(spec, work, prompt, new, cached=cached)
    taken = steps(_parts(spec, work, prompt)[2], new, cached=cached)
    growth = math.log2(more_linear / linear) if linear else 0.0, math.log2(more_mixed / mixed) if mixed else 0.0
    return Course(taken.rows, taken.pairs, linear, mixed, visible, *growth)


def _sums(spec: Spec, work: Work, prompt: int, new: int, *, cached: bool) -> tuple[int, int]:
    """FLOPs with weights, and of attention as executed."""
    source, writer, start = _parts(spec, work, prompt)
    taken = steps(start, new, cached=cached)
    # Without a cache the source's keys and values are made anew at every call.
    read = writer.memory * number(1 if cached else new)
    whole = replace(writer, queries=taken.rows, keys=taken.keys, memory=read, answers=number(new))
    linear = sum(amount.value for amount in linear_parts(whole).values())
    mixed = mixing(writer, lambda visibility: taken.pairs, taken.rows * writer.memory).value
    if source is not None:
        linear += sum(amount.value for amount in linear_parts(source).values())
        mixed += attention(source, visible=False).value
    return linear, mixed


def _visible(spec: Spec, work: Work, prompt: int, new: int, *, cached: bool) -> int:
    """Attention over the pairs that may see each other."""
    source, writer, start = _parts(spec, work, prompt)

    def pairs(visibility: Visibility) -> Formula:
        # What writes sees the past alone.
        assert isinstance(visibility, Causal)
        return number(seen_by_all(visibility.window, start, new, cached=cached))

    rows = steps(start, new, cached=cached).rows
    visible = mixing(writer, pairs, rows * writer.memory).value
    return visible if source is None else visible + attention(source, visible=True).value


def _parts(spec: Spec, work: Work, prompt: int) -> tuple[Pass | None, Pass, int]:
    """What reads the source, if there is one; what writes; and how many positions it begins with."""
    found = passes(spec, replace(work, length=1, source=1))
    if len(found) == 1:
        return None, found[0], prompt
    source, writer = found
    length = source.queries if isinstance(source.side.stack.input, Patches) else letter("T", prompt)
    return replace(source, queries=length, keys=length), replace(writer, memory=letter("S", length.value)), 1

"""A number that knows how it was reckoned: in the letters of `shapes`, and with the sizes filled in.

What is shown beside a figure is the reckoning itself, so the two cannot part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """`coefficient` · (`letters`), where `letters` has the value `part`; without letters it is the number alone.

    `terms` are those of a sum. `sizes` are the letters used with their values: one letter may have several, such as F,
    of a dense block and of an expert.
    """

    coefficient: int
    letters: str = ""
    filled: str = ""
    part: int = 1
    terms: tuple[Formula, ...] = ()
    sizes: frozenset[tuple[str, int]] = frozenset()

    @property
    def value(self) -> int:
        return self.coefficient * self.part

    @property
    def text(self) -> str:
        """In letters: `2·B·T·(D·F + F)`."""
        return self._written(self.letters)

    @property
    def numbers(self) -> str:
        """The same with sizes for letters."""
        return self._written(self.filled)

    def __str__(self) -> str:
        return f"{self.text} = {self.value:,}"

    def __add__(self, other: Formula) -> Formula:
        return total((self, other))

    def __sub__(self, other: Formula) -> Formula:
        return total((self, *(term.times(-1) for term in other.addends)))

    def __mul__(self, other: Formula) -> Formula:
        coefficient = self.coefficient * other.coefficient
        if not coefficient or not self.letters or not other.letters:
            return (self if self.letters else other).times(coefficient, over=True)
        letters = f"{self._factor(self.letters)}·{other._factor(other.letters)}"
        filled = f"{self._factor(self.filled)}·{other._factor(other.filled)}"
        return Formula(coefficient, letters, filled, self.part * other.part, (), self.sizes | other.sizes)

    @property
    def addends(self) -> tuple[Formula, ...]:
        """The terms of a sum that stands alone; of anything else, itself."""
        return self.terms if self.terms and self.coefficient == 1 else (self,)

    def times(self, coefficient: int, *, over: bool = False) -> Formula:
        """Multiplied by a number, or with it `over` its own coefficient."""
        coefficient = coefficient if over else coefficient * self.coefficient
        if not coefficient:
            return ZERO
        return Formula(coefficient, self.letters, self.filled, self.part, self.terms, self.sizes)

    def _factor(self, written: str) -> str:
        return f"({written})" if self.terms else written

    def _written(self, written: str) -> str:
        if not written:
            return str(self.coefficient)
        if self.coefficient in (1, -1):
            return written if self.coefficient == 1 else f"-{self._factor(written)}"
        return f"{self.coefficient}·{self._factor(written)}"


ZERO, ONE, TWO = Formula(0), Formula(1), Formula(2)


def number(value: int) -> Formula:
    """A number that needs no letter."""
    return Formula(value)


def letter(name: str, size: int) -> Formula:
    """A size under its letter of `shapes.DIMENSIONS`."""
    return Formula(1, name, str(size), size, (), frozenset({(name, size)}))


def halved(product: Formula) -> Formula:
    """Half of an even product, such as T·(T + 1)."""
    return divided(product, 2)


def divided(product: Formula, by: int) -> Formula:
    """A product over a number that divides it."""
    assert product.value % by == 0
    single = product.coefficient == 1 and product.terms
    text, numbers = (f"({product.text})", f"({product.numbers})") if single else (product.text, product.numbers)
    return Formula(1, f"{text}/{by}", f"{numbers}/{by}", product.value // by, (), product.sizes)


def total(formulas: Iterable[Formula]) -> Formula:
    """Their sum, equal terms counted and not repeated."""
    merged: dict[tuple[str, str], Formula] = {}
    for term in (term for each in formulas for term in each.addends):
        key = term.letters, term.filled
        coefficient = term.coefficient + (merged[key].coefficient if key in merged else 0)
        merged[key] = term.times(coefficient, over=True) if coefficient else ZERO
    terms = tuple(term for term in merged.values() if term.coefficient)
    if len(terms) < 2:
        return terms[0] if terms else ZERO
    letters, filled = _joined(term.text for term in terms), _joined(term.numbers for term in terms)
    value, sizes = sum(term.value for term in terms), frozenset[tuple[str, int]]().union(*(t.sizes for t in terms))
    return Formula(1, letters, filled, value, terms, sizes)


def _joined(written: Iterable[str]) -> str:
    first, *others = written
    return first + "".join(f" − {each[1:]}" if each.startswith("-") else f" + {each}" for each in others)


def largest(first: Formula, *others: Formula) -> Formula:
    """The formula of the greatest value, the first of equals."""
    return max((first, *others), key=lambda each: each.value)

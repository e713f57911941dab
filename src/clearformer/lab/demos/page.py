"""The page that a demonstration writes: sentences, arrays, figures, and laws that are asserted as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.messages import Language, Message
from clearformer.messages import lab as say
from clearformer.messages.lab import Law

Figure = float | list[Any]


@dataclass(frozen=True)
class Catch:
    """A law that did not hold: its statement, what was expected and found, and what that means."""

    law: str
    expected: str
    found: str
    why: str


class BrokenLaw(Exception):  # noqa: N818 - what a planted fault is meant to bring about
    """Ends a demonstration at the first law that does not hold."""

    def __init__(self, catch: Catch) -> None:
        self.catch = catch
        super().__init__(catch.law)


class Page:
    """Lines in one language, and figures by name."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.lines: list[str] = []
        self.figures: dict[str, Figure] = {}

    def word(self, message: Message) -> str:
        return message.text(self.language)

    def say(self, message: Message, **values: object) -> None:
        """One sentence."""
        self.lines.append(message.text(self.language, **values))

    def show(self, name: str, array: np.ndarray, part: tuple[int | slice, ...] = ()) -> None:
        """An array with its shape, columns aligned to four decimals; of a large one only the part that is named."""
        self.lines.append(f"  {name}  {list(array.shape)}")
        text = np.array2string(array[part], precision=4, suppress_small=True, floatmode="maxprec_equal", separator=" ")
        self.lines.extend(f"    {line}".rstrip() for line in text.splitlines())

    def record(self, **figures: float | np.ndarray) -> None:
        """Figures for `--json`; arrays become nested lists."""
        for name, figure in figures.items():
            self.figures[name] = figure.tolist() if isinstance(figure, np.ndarray) else figure

    def require(self, held: bool | np.bool_, law: Law, *, expected: object, found: object, **values: object) -> None:
        """Assert a law: a tick if it holds, BrokenLaw with the evidence if not."""
        statement = law.statement.text(self.language, **values)
        if held:
            self.lines.append(f"  ✓ {statement}")
            return
        catch = Catch(statement, brief(expected), brief(found), law.broken.text(self.language, **values))
        evidence = say.EXPECTED_AND_FOUND.text(self.language, expected=catch.expected, found=catch.found)
        self.lines.extend([f"  ✗ {catch.law}", f"    {evidence}", f"    {catch.why}"])
        raise BrokenLaw(catch)


def brief(value: object) -> str:
    """A value on one line, numbers to five significant digits."""
    if isinstance(value, np.ndarray):
        return " ".join(brief(number) for number in value.ravel()[:12].tolist()) + (" …" if value.size > 12 else "")
    return f"{value:.5g}" if isinstance(value, float | np.floating) else str(value)

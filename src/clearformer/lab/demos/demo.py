"""A demonstration and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clearformer.lab.demos.page import BrokenLaw, Catch, Figure, Page
from clearformer.lab.demos.parts import FAULTS, Fault, Parts, parts
from clearformer.messages import Language, Message
from clearformer.messages import lab as say


@dataclass(frozen=True)
class Outcome:
    """What one run printed and measured; `caught` is the law that broke, None where all held."""

    n: int
    name: str
    passed: bool
    figures: dict[str, Figure]
    lines: tuple[str, ...]
    caught: Catch | None


@dataclass(frozen=True)
class Demo:
    """`steps` writes a page with the parts that it is handed."""

    n: int
    name: Message
    steps: Callable[[Page, Parts], None]

    def run(self, fault: Fault | None = None, language: Language = "en") -> Outcome:
        """Write the page; a planted fault ends it at the law that catches it."""
        page, caught = Page(language), None
        page.lines.append(f"{self.n}. {page.word(self.name)}")
        if fault is not None:
            page.say(say.PLANTED, fault=fault, what=FAULTS[fault])
        try:
            self.steps(page, parts(fault))
        except BrokenLaw as broken:
            caught = broken.catch
        return Outcome(self.n, page.word(self.name), caught is None, page.figures, tuple(page.lines), caught)

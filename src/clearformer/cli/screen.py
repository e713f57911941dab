"""What is printed, and where: results to standard output, progress and notes to standard error.

Bars and colours are for a terminal only. Values from files and users cannot steer it: control characters are shown.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from clearformer.cli.flags import Printing, Progressing
from clearformer.messages import Language, Message

Advance = Callable[[int, int], None]
"""Called with what is done and with the total, 0 while it is not known."""


class Stages(Protocol):
    """Called with the words of a step, what is done and the total, and the values in those words."""

    def __call__(self, message: Message, done: int, total: int, **values: object) -> None: ...


_LAYOUT = "\n\t"


class Screen:
    """The output of one verb, in one language."""

    def __init__(self, language: Language, flags: Printing) -> None:
        self.language = language
        self.as_json = flags.json
        self.quiet = flags.json or (isinstance(flags, Progressing) and flags.quiet)

    def say(self, message: Message, **values: object) -> None:
        """One sentence of the result."""
        print(message.text(self.language, **values))

    def text(self, text: str) -> None:
        """A text that is the result: untouched in a pipe, harmless on a terminal."""
        print(harmless(text))

    def json(self, contents: Mapping[str, object]) -> None:
        """One object. NaN and infinity have no JSON and are a fault of ours."""
        print(json.dumps(contents, ensure_ascii=False, allow_nan=False))

    def table(self, rows: Sequence[Sequence[object]], headings: Sequence[str] = ()) -> None:
        """Rows in columns; numbers to the right."""
        numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(rows[0]))] if rows else []
        cells = [[visible(str(cell)) for cell in row] for row in ([headings, *rows] if headings else rows)]
        for line in aligned(cells, numeric):
            print(line)

    def note(self, message: Message, **values: object) -> None:
        """Tell what is happening, on standard error."""
        if not self.quiet:
            print(message.text(self.language, **values), file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, message: Message, *, in_bytes: bool = False, **values: object) -> Iterator[Advance]:
        """A bar on standard error while the body runs, if that is a terminal; nothing otherwise."""
        with self._bar(in_bytes) as reach:
            words = message.text(self.language, **values)
            if reach is None:
                yield lambda done, total: None
                return
            reach(words, None, None)
            yield lambda done, total: reach(words, done, total)

    @contextmanager
    def stages(self, message: Message, **values: object) -> Iterator[Stages]:
        """As `progress`, with other words at every step."""
        with self._bar() as reach:

            def renamed(message: Message, done: int, total: int, **values: object) -> None:
                if reach is not None:
                    reach(message.text(self.language, **values), done, total)

            if reach is not None:
                reach(message.text(self.language, **values), None, None)
            yield renamed

    @contextmanager
    def _bar(self, in_bytes: bool = False) -> Iterator[Callable[[str, int | None, int | None], None] | None]:
        """A bar to be given its words, what is done and the total; None where nobody would see it."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich import progress as bars
        from rich.console import Console

        words = (bars.TextColumn("{task.description}", markup=False), bars.BarColumn())
        amount = bars.DownloadColumn() if in_bytes else bars.MofNCompleteColumn()
        with bars.Progress(*words, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None)

            def reach(text: str, done: int | None, total: int | None) -> None:
                # Before anything is counted, "0/?" would say nothing.
                if done is not None:
                    bar.columns = (*words, amount, bars.TimeRemainingColumn())
                bar.update(task, description=text, completed=done, total=total or None)

            yield reach


def harmless(text: str) -> str:
    """A text as standard output may have it: a terminal must not be steered by it, a pipe gets every byte."""
    return visible(text, keep=_LAYOUT) if sys.stdout.isatty() else text


def visible(text: str, keep: str = "") -> str:
    """Control characters and lone surrogates as escapes; those in `keep` stay."""
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def aligned(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Rows of cells as lines, columns two spaces apart; a Chinese character is two cells wide."""
    if not cells:
        return []
    widths = [max(cells_wide(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = []
        for cell, width, to_right in zip(row, widths, right, strict=True):
            space = " " * (width - cells_wide(cell))
            padded.append(space + cell if to_right else cell + space)
        lines.append("  ".join(padded).rstrip())
    return lines


def cells_wide(text: str) -> int:
    """Columns that a text takes on a terminal."""
    from rich.cells import cell_len

    return cell_len(text)


def columns(piped: int) -> int:
    """Columns of the terminal, or what COLUMNS says; `piped` where there is neither."""
    return shutil.get_terminal_size((piped, 24)).columns

"""`clearformer trace MODEL TEXT`: every tensor's shape, layer by layer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, cells_wide, columns, visible
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.errors import UsageError
from clearformer.messages import inspect as say

if TYPE_CHECKING:
    from clearformer.inspect.trace import Row, Trace

Layer = Annotated[str, Parameter(help="Show every step of this block, counted from 0; all opens every block.")]

_TOKENS_SHOWN = 40
_READS, _MEAN, _STD, _ABSMAX, _WHAT = 1, 4, 5, 6, 7
_FIRST_TO_GO = (_MEAN, _ABSMAX, _READS, _STD)


def trace(
    model: Model, text: Text = None, /, *, layer: Layer = "0", flags: Computing = COMPUTING, language: Spoken = "en"
) -> None:
    """Print each step's shapes, with their letters, and the size of its numbers; one block in full, the rest folded."""
    opened = chosen_layer(layer)
    read = text_or_stdin(text, "TEXT")
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    import clearformer.inspect.trace as room

    found = room.trace(speaker, read).folded(opened)
    if screen.as_json:
        screen.json(contents(found, screen))
    else:
        show(found, screen)
        if opened is not None:
            screen.note(say.FOLDED)


def chosen_layer(layer: str) -> int | None:
    """The number of a block, None for all. Raises UsageError for anything else."""
    if layer == "all":
        return None
    if not layer.isdecimal():
        raise UsageError(say.BAD_LAYER, found=layer)
    return int(layer)


def contents(found: Trace, screen: Screen) -> dict[str, Any]:
    """The object that `--json` prints."""
    rows = [
        {
            "stage": row.stage,
            "op": row.op,
            "in_shapes": row.in_shapes,
            "out_shape": row.out_shape,
            "letters": row.letters,
            "mean": row.mean,
            "std": row.std,
            "absmax": row.absmax,
            "meaning": row.meaning.text(screen.language),
        }
        for row in found.rows
    ]
    return {"tokens": found.tokens, "rows": rows}


def show(found: Trace, screen: Screen) -> None:
    """The same as a table under the tokens that were read, and the letters in words."""
    shown = [f"|{token}|" for token in found.tokens[:_TOKENS_SHOWN]]
    more = ["…"] if len(found.tokens) > _TOKENS_SHOWN else []
    screen.say(say.TOKENS, count=len(found.tokens), tokens=" ".join(shown + more))
    headings = (say.STEP, say.READS, say.LETTERS, say.SHAPE, say.MEAN, say.STD, say.ABSMAX, say.WHAT)
    width = columns(sys.maxsize)
    rows = [[heading.text(screen.language) for heading in headings], *(_cells(row, screen) for row in found.rows)]
    lines, gone = fitted([[visible(cell) for cell in row] for row in rows], width)
    print("\n".join(lines))
    used = {letter for row in found.rows for letter in row.letters if letter in say.DIMENSIONS}
    words = (f"{letter} {say.DIMENSIONS[letter].text(screen.language)}" for letter in say.DIMENSIONS if letter in used)
    print("\n".join(_joined(words, width)))
    if gone:
        screen.note(say.TOO_NARROW, names=" · ".join(headings[column].text(screen.language) for column in gone))


def fitted(rows: Sequence[Sequence[str]], width: int) -> tuple[list[str], list[int]]:
    """The table's lines and the columns left out. Too wide, it has the meaning under its row, and fewer numbers."""
    left = [False] * len(rows[0])
    whole = aligned(rows, left)
    if max(map(cells_wide, whole)) <= width:
        return whole, []
    for count in range(len(_FIRST_TO_GO) + 1):
        gone = sorted(_FIRST_TO_GO[:count])
        lines = aligned(
            [[cell for i, cell in enumerate(row[:_WHAT]) if i not in gone] for row in rows], left[len(gone) + 1 :]
        )
        if max(map(cells_wide, lines)) <= width:
            break
    under = []
    for before, row, line in zip([None, *rows], rows, lines, strict=False):
        under.append(line)
        if before is None or row[_WHAT] != before[_WHAT]:
            under.append(f"    {row[_WHAT]}")
    return under, gone


def _joined(words: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]} · {word}" if lines else word
        if lines and cells_wide(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _cells(row: Row, screen: Screen) -> list[str]:
    numbers = ["–" if number is None else f"{number:.3g}" for number in (row.mean, row.std, row.absmax)]
    reads = " + ".join(" ".join(map(str, shape)) for shape in row.in_shapes)
    shape = " ".join(map(str, row.out_shape))
    return [f"{row.stage}.{row.op}", reads, row.letters, f"= {shape}", *numbers, row.meaning.text(screen.language)]

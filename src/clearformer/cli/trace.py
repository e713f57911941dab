"""`clearformer trace MODEL TEXT`: every tensor's shape, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.errors import UsageError
from clearformer.messages import inspect as say

if TYPE_CHECKING:
    from clearformer.inspect.trace import Row, Trace

Layer = Annotated[str, Parameter(help="Show every step of this block, counted from 0, or of all.")]


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
    screen.say(say.TOKENS, count=len(found.tokens), tokens=" ".join(f"|{token}|" for token in found.tokens[:40]))
    headings = (say.STEP, say.READS, say.LETTERS, say.SHAPE, say.MEAN, say.STD, say.ABSMAX, say.WHAT)
    screen.table([_cells(row, screen) for row in found.rows], [heading.text(screen.language) for heading in headings])
    used = {letter for row in found.rows for letter in row.letters if letter in say.DIMENSIONS}
    words = (f"{letter} {say.DIMENSIONS[letter].text(screen.language)}" for letter in say.DIMENSIONS if letter in used)
    screen.text(" · ".join(words))


def _cells(row: Row, screen: Screen) -> list[str]:
    numbers = ["–" if number is None else f"{number:.3g}" for number in (row.mean, row.std, row.absmax)]
    reads = " + ".join(" ".join(map(str, shape)) for shape in row.in_shapes)
    shape = " ".join(map(str, row.out_shape))
    return [f"{row.stage}.{row.op}", reads, row.letters, f"= {shape}", *numbers, row.meaning.text(screen.language)]

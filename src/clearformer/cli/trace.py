"""`clearformer trace MODEL TEXT`: every tensor's shape, layer by layer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, cells_wide, columns, visible
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.cli.spec_source import spec_of
from clearformer.errors import UsageError
from clearformer.messages import inspect as say
from clearformer.spec import EncoderDecoder, Patches, Series, TwoTowers
from clearformer.store.presets import names_preset

if TYPE_CHECKING:
    from clearformer.inspect.eight_steps import Module
    from clearformer.inspect.oddities import Odd
    from clearformer.inspect.trace import Row, Trace

Layer = Annotated[str, Parameter(help="Show every step of this block, counted from 0; all opens every block.")]
Op = Annotated[
    Literal["attention", "cross_attention"] | None,
    Parameter(help="Write out this operation of one block, step by step, with what is multiplied with what."),
]
SrcLen = Annotated[
    int | None,
    Parameter(help="Tokens or steps of a series read, for the shapes of a spec alone [12, or what the spec fixes]."),
]
TgtLen = Annotated[int | None, Parameter(help="Tokens that an encoder-decoder's decoder reads, from a spec alone [7].")]
Batch = Annotated[int | None, Parameter(help="Sequences in the batch, for the shapes of a spec alone [1].")]

_TOKENS_SHOWN = 40
_READS, _MEAN, _STD, _ABSMAX, _WHAT = 1, 4, 5, 6, 7
_FIRST_TO_GO = (_MEAN, _ABSMAX, _READS, _STD)
_ODD_SHOWN = 12


def trace(
    model: Model,
    text: Text = None,
    /,
    *,
    layer: Layer = "0",
    op: Op = None,
    src_len: SrcLen = None,
    tgt_len: TgtLen = None,
    batch: Batch = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print each step's shapes, with their letters, and the size of its numbers; one block in full, the rest folded."""
    opened = chosen_layer(layer)
    if op is not None and opened is None:
        raise UsageError(say.ONE_LAYER, op=op)
    screen = Screen(language, flags)
    counts = {"--batch": batch, "--src-len": src_len, "--tgt-len": tgt_len}
    if alone(model, text, counts):
        whole = of_spec(model, counts, op, opened or 0, screen)
    else:
        whole = of_text(model, text_or_stdin(text, "TEXT"), op, opened or 0, flags, screen)
    found = whole if op else whole.folded(opened)
    if screen.as_json:
        screen.json(contents(found, screen))
        return
    show(found, screen)
    if found.tokens:
        show_odd(whole, screen)
    if opened is not None and op is None:
        screen.note(say.FOLDED)


def alone(model: str, text: str | None, counts: dict[str, int | None]) -> bool:
    """Whether the spec alone is asked for. Raises UsageError for a text beside it."""
    sizes = [name for name, count in counts.items() if count is not None]
    without_weights = names_preset(model) or model.endswith(".json")
    if text is not None and without_weights:
        raise UsageError(say.NEEDS_WEIGHTS, name=model)
    if text is not None and sizes:
        raise UsageError(say.READS_TEXT, name=sizes[0])
    return without_weights or bool(sizes)


def of_spec(model: str, counts: dict[str, int | None], op: Module | None, layer: int, screen: Screen) -> Trace:
    """The shapes of a spec without weights."""
    from clearformer.inspect.eight_steps import expand_spec
    from clearformer.inspect.plan import Reading, positions_of, read_first, usual_reading
    from clearformer.inspect.trace import trace_spec

    spec = spec_of(model, screen)
    if isinstance(spec, TwoTowers):
        raise UsageError(say.TWO_TOWERS)
    usual, stack = usual_reading(spec), read_first(spec)
    if isinstance(stack.input, Patches) and counts["--src-len"] not in (None, usual.length):
        raise UsageError(say.OF_AN_IMAGE, positions=usual.length, found=counts["--src-len"])
    two_sided = isinstance(spec, EncoderDecoder)
    if counts["--tgt-len"] is not None and not two_sided:
        raise UsageError(say.NO_TARGET_LENGTH, found=type(spec).__name__)
    given = (counts["--batch"], counts["--src-len"], counts["--tgt-len"])
    batch, length, target = (
        default if count is None else count
        for count, default in zip(given, (usual.batch, usual.length, usual.target), strict=True)
    )
    reading = Reading(batch, length, target)
    found = expand_spec(spec, reading, layer=layer, module=op) if op else trace_spec(spec, reading)
    # A layer that is not there is refused before anything is printed.
    found.folded(layer)
    if not screen.as_json:
        positions = positions_of(stack, length)
        of_series = isinstance(stack.input, Series)
        reads = say.steps_read(length, positions) if of_series else say.positions_read(positions)
        screen.say(say.FROM_SPEC if two_sided else say.FROM_SPEC_ALONE, batch=batch, reads=reads, target=target)
    return found


def of_text(model: str, text: str, op: Module | None, layer: int, flags: Computing, screen: Screen) -> Trace:
    """The tensors of a model that reads a text."""
    speaker = loaded(model, flags, screen)

    from clearformer.inspect.eight_steps import expand
    from clearformer.inspect.trace import trace as room

    return expand(speaker, text, layer=layer, module=op) if op else room(speaker, text)


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
            "operation": row.operation or None,
            "number": row.number,
            "odd": [{"kind": odd.kind, "text": odd.text(screen.language)} for odd in row.odd],
        }
        for row in found.rows
    ]
    return {"tokens": found.tokens, "rows": rows}


def show(found: Trace, screen: Screen) -> None:
    """The same as a table under the tokens that were read, and the letters in words."""
    if found.tokens:
        shown = [f"|{token}|" for token in found.tokens[:_TOKENS_SHOWN]]
        more = ["…"] if len(found.tokens) > _TOKENS_SHOWN else []
        screen.say(say.TOKENS, count=len(found.tokens), tokens=" ".join(shown + more))
    headings = (say.STEP, say.READS, say.LETTERS, say.SHAPE, say.MEAN, say.STD, say.ABSMAX, say.WHAT)
    width = columns(sys.maxsize)
    rows = [[heading.text(screen.language) for heading in headings], *(_cells(row, screen) for row in found.rows)]
    empty = [] if found.tokens else [_MEAN, _STD, _ABSMAX]
    lines, gone = fitted([[visible(cell) for cell in row] for row in rows], width, empty)
    print("\n".join(lines))
    used = {letter for row in found.rows for letter in row.letters if letter in say.DIMENSIONS}
    words = (f"{letter} {say.DIMENSIONS[letter].text(screen.language)}" for letter in say.DIMENSIONS if letter in used)
    print("\n".join(_joined(words, width)))
    if gone:
        screen.note(say.TOO_NARROW, names=" · ".join(headings[column].text(screen.language) for column in gone))


def show_odd(found: Trace, screen: Screen) -> None:
    """What a reader should look at, in words, the whole model through."""
    lines = [
        f"  {row.stage}.{row.op}: {odd.text(screen.language)}" for row in found.rows for odd in _gravest_first(row.odd)
    ]
    print()
    if not lines:
        screen.say(say.NOTHING_ODD)
        return
    screen.say(say.ODD_HEADING)
    print("\n".join(lines[:_ODD_SHOWN]))
    if len(lines) > _ODD_SHOWN:
        print("  " + say.AND_MORE.text(screen.language, count=len(lines) - _ODD_SHOWN))


def _gravest_first(odd: Sequence[Odd]) -> list[Odd]:
    return sorted(odd, key=lambda each: each.kind != "not_finite")


def fitted(rows: Sequence[Sequence[str]], width: int, empty: Sequence[int] = ()) -> tuple[list[str], list[int]]:
    """The table's lines and the columns left out. Too wide, it has the meaning under its row, and fewer numbers;
    columns that are `empty` are never shown."""
    left = [False] * len(rows[0])
    whole = aligned([[cell for i, cell in enumerate(row) if i not in empty] for row in rows], left[len(empty) :])
    if max(map(cells_wide, whole)) <= width:
        return whole, []
    for count in range(len(_FIRST_TO_GO) + 1):
        gone = sorted({*_FIRST_TO_GO[:count], *empty})
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
    return under, [column for column in gone if column not in empty]


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
    name = f"{row.stage}.{row.op}"
    if row.operation:
        name = f"{row.number or ' '} {row.stage}.{row.op.rpartition('.')[2]}: {row.operation}"
    return [name, reads, row.letters, f"= {shape}", *numbers, row.meaning.text(screen.language)]

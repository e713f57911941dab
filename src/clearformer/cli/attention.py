"""`clearformer attention MODEL TEXT`: who reads whom, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.drawing import note_missing
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, cells_wide, columns, visible
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.errors import UsageError
from clearformer.messages import inspect as say
from clearformer.spec import EncoderDecoder

if TYPE_CHECKING:
    from clearformer.inspect.attention import AttentionMaps, Manner, Part
    from clearformer.load import Loaded

Layer = Annotated[int | None, Parameter(help="Only this layer, counted from 0.")]
Head = Annotated[
    str | None, Parameter(help="Only this head of each layer, counted from 0; 3.1 is head 1 of layer 3 alone.")
]
PartOf = Annotated[
    Literal["encoder", "decoder", "cross"] | None,
    Parameter(help="Which attention of an encoder-decoder; cross is the target reading the source [encoder]."),
]
Written = Annotated[
    int | None, Parameter(help="Let the model write this many tokens first, and show the attention of those too.")
]
Out = Annotated[Path | None, Parameter(help="Draw it into this file: .png, .svg, or .html, a page to explore offline.")]

_PIPED = 120
_ANSWER = 32


def attention(
    model: Model,
    text: Text = None,
    /,
    *,
    layer: Layer = None,
    head: Head = None,
    part: PartOf = None,
    max_new_tokens: Written = None,
    out: Out = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print how each head reads, and the map of one: the one asked for, else the one that looks back the most."""
    from clearformer.inspect.canvas import checked_format

    layer, number = chosen_head(layer, head)
    if out is not None:
        checked_format(out)
    read = text_or_stdin(text, "TEXT")
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)
    found = looked(speaker, read, layer, part, max_new_tokens)
    if number is not None:
        found = found.only_head(number)
    files = [] if out is None else [draw(found, out, speaker.name, number, screen)]
    if screen.as_json:
        screen.json(contents(found, number, files))
        return
    at, which = found.most_backward()
    if layer is None or number is None:
        show_manners(found, screen, number)
    show_map(found, at, which, screen, name=which if number is None else number)
    for file in files:
        print(file)


def chosen_head(layer: int | None, head: str | None) -> tuple[int | None, int | None]:
    """Layer and head from `--layer 3 --head 1`, or from `--head 3.1`. Raises UsageError for anything else."""
    if head is None:
        return layer, None
    first, dot, second = head.partition(".")
    if not first.isdecimal() or (dot and (not second.isdecimal() or layer is not None)):
        raise UsageError(say.BAD_HEAD, found=head)
    return (int(first), int(second)) if dot else (layer, int(first))


def looked(speaker: Loaded, text: str, layer: int | None, part: Part | None, written: int | None) -> AttentionMaps:
    """The maps of the text, and of what the model writes after it; an encoder-decoder answers before its decoder is
    looked at."""
    import clearformer.inspect.attention as room
    from clearformer.generate.speaker import prompt_ids, start_ids

    if not isinstance(speaker.spec, EncoderDecoder):
        if not written:
            return room.attention(speaker, text, layer=layer, part=part)
        given = prompt_ids(speaker, text)
        new = answer(speaker, text, written)
        return room.attention(speaker, [*given, *new], layer=layer, part=part, written=len(new))
    given = prompt_ids(speaker, text)
    if part in (None, "encoder"):
        if written is not None:
            raise UsageError(say.ENCODER_WRITES_NOTHING)
        return room.attention(speaker, given, layer=layer, part=part)
    new = answer(speaker, text, written or _ANSWER)
    return room.attention(speaker, given, layer=layer, part=part, target=[*start_ids(speaker), *new], written=len(new))


def answer(speaker: Loaded, text: str, most: int) -> list[int]:
    """What the model writes after the text, its likeliest tokens."""
    from clearformer.generate.speak import complete
    from clearformer.generate.speaker import end_ids

    found = list(complete(speaker, text, max_new_tokens=most, temperature=0.0).token_ids)
    # The end mark says nothing more, and nothing was read after it.
    return found[:-1] if found and found[-1] in end_ids(speaker) else found


def draw(found: AttentionMaps, out: Path, name: str, head: int | None, screen: Screen) -> Path:
    """The picture of all heads, or of one where one is asked for; a page has them all."""
    from clearformer.inspect.attention_page import write_page
    from clearformer.inspect.attention_picture import draw as picture

    if out.suffix.lower() == ".html":
        return write_page(out, found, name, language=screen.language)
    one = (next(iter(found.maps)), 0) if head is not None and len(found.maps) == 1 else None
    path, missing = picture(out, found, name, head=one, name_head=head, language=screen.language)
    note_missing(missing, out, screen)
    return path


def contents(found: AttentionMaps, head: int | None = None, files: Sequence[Path] = ()) -> dict[str, Any]:
    """The object that `--json` prints; `values` is layer by head by query by key, a hidden key 0."""
    most = max(len(weights) for weights in found.maps.values())
    return {
        "tokens": found.tokens,
        "keys": found.read,
        "part": found.part,
        "given": len(found.tokens) if found.given is None else found.given,
        "layers": list(found.maps),
        "heads": list(range(most)) if head is None else [head],
        "files": [str(path) for path in files],
        "values": [weights.tolist() for weights in found.maps.values()],
        "manners": [[asdict(manner) for manner in manners] for manners in found.manners().values()],
    }


def show_manners(found: AttentionMaps, screen: Screen, head: int | None = None) -> None:
    """Four small tables, a row a layer and a column a head."""
    manners = found.manners()
    most = max(map(len, manners.values()))
    names = [str(h) for h in range(most)] if head is None else [str(head)]
    screen.say(say.SUMMARY_ROW)
    corner = f"{say.LAYER.text(screen.language)} \\ {say.HEAD.text(screen.language)}"
    fitting = max(1, (columns(_PIPED) - cells_wide(corner)) // len("  0.00"))
    # Where they do not fit side by side, parts of one size under each other.
    size = math.ceil(most / math.ceil(most / fitting))
    for title, name in (
        (say.ENTROPY, "entropy"),
        (say.PREVIOUS, "previous"),
        (say.FIRST, "first"),
        (say.ITSELF, "itself"),
        (say.INDUCTION, "induction"),
    ):
        if all(getattr(manner, name) is None for heads in manners.values() for manner in heads):
            continue
        print()
        screen.say(title)
        rows = [_padded(heads, name, most) for heads in manners.values()]
        for start in range(0, most, size):
            some = slice(start, start + size)
            table = [[corner, *names[some]], *([str(at), *row[some]] for at, row in zip(manners, rows, strict=True))]
            print("\n".join(aligned(table, [True] * len(table[0]))))
    print()
    if found.part != "cross" and not any(manner.induction is not None for row in manners.values() for manner in row):
        screen.note(say.NO_REPETITION)


def show_map(found: AttentionMaps, layer: int, head: int, screen: Screen, *, name: int | None = None) -> None:
    """One head: the whole table where it fits the screen, else the keys that each query reads most."""
    # The blank that a word's token begins with would only widen the table.
    labels, columns_read = (
        [visible(token).strip(" ") or "␣" for token in tokens] for tokens in (found.tokens, found.read)
    )
    seen, weights = found.visible[layer].tolist(), found.maps[layer][head].tolist()
    number = head if name is None else name
    rows = [
        [label, *(f"{weight:.2f}" if may else "" for weight, may in zip(row, allowed, strict=True))]
        for label, row, allowed in zip(labels, weights, seen, strict=True)
    ]
    lines = aligned([["", *columns_read], *rows], [True] * (len(columns_read) + 1))
    width = columns(_PIPED)
    if max(map(cells_wide, lines)) <= width:
        screen.say(say.MAP, layer=layer, head=number)
    else:
        screen.say(say.MAP_TOP, layer=layer, head=number)
        lines = _strongest(found, layer, head, labels, columns_read, width)
    print("\n".join(lines))


def _strongest(
    found: AttentionMaps, layer: int, head: int, labels: list[str], read: list[str], width: int
) -> list[str]:
    """Each query with as many of its strongest keys as fit the width."""
    names, keys = ([f"{place} {label}" for place, label in enumerate(each)] for each in (labels, read))
    count = max(1, width // (max(map(cells_wide, (*names, *keys))) + 7) - 1)
    ranked = found.strongest(layer, head, count)
    cells = [
        [name, *(f"{keys[key]} {weight:.2f}" for key, weight in row), *[""] * (count - len(row))]
        for name, row in zip(names, ranked, strict=True)
    ]
    return aligned(cells, [False] * (count + 1))


def _padded(heads: list[Manner], name: str, most: int) -> list[str]:
    values = (getattr(manner, name) for manner in heads)
    return ["–" if value is None else f"{value:.2f}" for value in values] + [""] * (most - len(heads))

"""`clearformer attention MODEL TEXT`: who reads whom, as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, cells_wide, columns, visible
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.errors import UsageError
from clearformer.messages import inspect as say

if TYPE_CHECKING:
    from clearformer.inspect.attention import AttentionMaps, Manner

Layer = Annotated[int | None, Parameter(help="Only this layer, counted from 0.")]
Head = Annotated[int | None, Parameter(help="Only this head of each layer, counted from 0.")]

_PIPED = 120


def attention(
    model: Model,
    text: Text = None,
    /,
    *,
    layer: Layer = None,
    head: Head = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print how each head reads, and the map of one: the one asked for, else the one that looks back the most."""
    read = text_or_stdin(text, "TEXT")
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    import clearformer.inspect.attention as room

    found = room.attention(speaker, read, layer=layer)
    if head is not None:
        found = only_head(found, head)
    if screen.as_json:
        screen.json(contents(found, head))
        return
    if layer is None or head is None:
        show_manners(found, screen, head)
    at, which = found.most_backward()
    show_map(found, at, which, screen, name=which if head is None else head)


def only_head(found: AttentionMaps, head: int) -> AttentionMaps:
    """The maps of one head of each layer. Raises UsageError where a layer has no such head."""
    from dataclasses import replace

    for layer, weights in found.maps.items():
        if not 0 <= head < len(weights):
            raise UsageError(say.NO_HEAD, found=head, layer=layer, count=len(weights), last=len(weights) - 1)
    return replace(found, maps={layer: weights[head : head + 1] for layer, weights in found.maps.items()})


def contents(found: AttentionMaps, head: int | None = None) -> dict[str, Any]:
    """The object that `--json` prints; `values` is layer by head by query by key, a hidden key 0."""
    most = max(len(weights) for weights in found.maps.values())
    return {
        "tokens": found.tokens,
        "layers": list(found.maps),
        "heads": list(range(most)) if head is None else [head],
        "files": [],
        "values": [weights.tolist() for weights in found.maps.values()],
    }


def show_manners(found: AttentionMaps, screen: Screen, head: int | None = None) -> None:
    """Four small tables, a row a layer and a column a head."""
    manners = {layer: [found.manner(layer, h) for h in range(len(maps))] for layer, maps in found.maps.items()}
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
    ):
        print()
        screen.say(title)
        rows = [_padded(heads, name, most) for heads in manners.values()]
        for start in range(0, most, size):
            some = slice(start, start + size)
            table = [[corner, *names[some]], *([str(at), *row[some]] for at, row in zip(manners, rows, strict=True))]
            print("\n".join(aligned(table, [True] * len(table[0]))))
    print()


def show_map(found: AttentionMaps, layer: int, head: int, screen: Screen, *, name: int | None = None) -> None:
    """One head: the whole table where it fits the screen, else the keys that each query reads most."""
    # The blank that a word's token begins with would only widen the table.
    labels = [visible(token).strip(" ") or "␣" for token in found.tokens]
    seen, weights = found.visible[layer].tolist(), found.maps[layer][head].tolist()
    number = head if name is None else name
    rows = [
        [label, *(f"{weight:.2f}" if may else "" for weight, may in zip(row, allowed, strict=True))]
        for label, row, allowed in zip(labels, weights, seen, strict=True)
    ]
    lines = aligned([["", *labels], *rows], [True] * (len(labels) + 1))
    width = columns(_PIPED)
    if max(map(cells_wide, lines)) <= width:
        screen.say(say.MAP, layer=layer, head=number)
    else:
        screen.say(say.MAP_TOP, layer=layer, head=number)
        lines = _strongest(found, layer, head, labels, width)
    print("\n".join(lines))


def _strongest(found: AttentionMaps, layer: int, head: int, labels: list[str], width: int) -> list[str]:
    """Each query with as many of its strongest keys as fit the width."""
    names = [f"{place} {label}" for place, label in enumerate(labels)]
    count = max(1, width // (max(map(cells_wide, names)) + 7) - 1)
    ranked = found.strongest(layer, head, count)
    cells = [
        [name, *(f"{names[key]} {weight:.2f}" for key, weight in row), *[""] * (count - len(row))]
        for name, row in zip(names, ranked, strict=True)
    ]
    return aligned(cells, [False] * (count + 1))


def _padded(heads: list[Manner], name: str, most: int) -> list[str]:
    return [f"{getattr(manner, name):.2f}" for manner in heads] + [""] * (most - len(heads))

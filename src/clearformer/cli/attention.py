"""`clearformer attention MODEL TEXT`: who reads whom, as tables."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, visible
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
    columns = [str(h) for h in range(most)] if head is None else [str(head)]
    screen.say(say.SUMMARY_ROW)
    layer_word, head_word = say.LAYER.text(screen.language), say.HEAD.text(screen.language)
    for title, name in (
        (say.ENTROPY, "entropy"),
        (say.PREVIOUS, "previous"),
        (say.FIRST, "first"),
        (say.ITSELF, "itself"),
    ):
        print()
        screen.say(title)
        rows = [[str(layer), *_padded(heads, name, most)] for layer, heads in manners.items()]
        for line in aligned([[f"{layer_word} \\ {head_word}", *columns], *rows], [True] * (most + 1)):
            print(line)
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
    width = shutil.get_terminal_size((_PIPED, 24)).columns
    if max(map(_cell_width, lines)) <= width:
        screen.say(say.MAP, layer=layer, head=number)
    else:
        screen.say(say.MAP_TOP, layer=layer, head=number)
        lines = _strongest(found, layer, head, labels, width)
    print("\n".join(lines))


def _strongest(found: AttentionMaps, layer: int, head: int, labels: list[str], width: int) -> list[str]:
    """Each query with as many of its strongest keys as fit the width."""
    names = [f"{place} {label}" for place, label in enumerate(labels)]
    count = max(1, width // (max(map(_cell_width, names)) + 7) - 1)
    ranked = found.strongest(layer, head, count)
    cells = [
        [name, *(f"{names[key]} {weight:.2f}" for key, weight in row), *[""] * (count - len(row))]
        for name, row in zip(names, ranked, strict=True)
    ]
    return aligned(cells, [False] * (count + 1))


def _padded(heads: list[Manner], name: str, most: int) -> list[str]:
    return [f"{getattr(manner, name):.2f}" for manner in heads] + [""] * (most - len(heads))


def _cell_width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)

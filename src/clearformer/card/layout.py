"""A card as text: section by section, each choice with its four lines, wrapped to the width at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len

from clearformer.card.explaining import Card, Row
from clearformer.card.values import shown
from clearformer.messages import Message, plain
from clearformer.messages import card as say

_WIDEST = 110
_NARROWEST = 40
# Latin words break at blanks, Chinese behind any character but not before a mark that closes.
_CHINESE = r"\u3000-\u9fff\uff00-\uffef"
_PIECES = re.compile(rf"[（“《]*(?:[{_CHINESE}]|[^\s{_CHINESE}]+)[，。；：、）”》？！%]*\s*|\s+")


def as_text(card: Card, columns: int) -> str:
    """The whole card within so many columns."""
    return "\n".join(_lines(card, max(_NARROWEST, min(columns, _WIDEST))))


def _lines(card: Card, columns: int) -> Iterator[str]:
    name = str(plain(card.name))
    title = say.FAMILY.text(card.language, name=name, family=card.family) if card.family else name
    yield from wrapped(title, columns)
    yield from wrapped(card.summary, columns)
    if card.refused is not None:
        yield from wrapped(card.refused, columns)
    for (tower, section), rows in groupby(card.rows, lambda row: (row.tower, row.section)):
        heading = say.SECTIONS[section].text(card.language)
        yield ""
        yield say.OF_SECTION.text(card.language, tower=tower, section=heading) if tower else heading
        show = _harmless if section == "bookkeeping" else _choices
        yield from show(card, list(rows), columns)
    if card.unknown:
        yield ""
        yield say.UNKNOWN.text(card.language)
        yield from wrapped(", ".join(f"{plain(key)} = {shown(value)}" for key, value in card.unknown), columns, "  ")


def _choices(card: Card, rows: Sequence[Row], columns: int) -> Iterator[str]:
    """Keys that say the same thing share one explanation."""
    together: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if card.spelt_out and row.value is None:
            continue
        together.setdefault((row.concept, row.meaning, row.why), []).append(row)
    unpriced = say.NOT_PRICED.text(card.language)
    for group in together.values():
        for row in group:
            yield from wrapped(f"{plain(row.key)} = {shown(row.value)}", columns, "  ")
        first = group[0]
        said: list[tuple[Message, str]] = [(say.MEANING, first.meaning)]
        said += [(say.IN_2017, first.in_2017), (say.WHY, first.why)]
        said += [(say.COST, cost) for cost in dict.fromkeys(row.cost for row in group) if cost != unpriced]
        said += [(say.CONFLICT, found) for found in dict.fromkeys(row.conflict for row in group) if found is not None]
        yield from _labelled(card, said, columns)


def _labelled(card: Card, said: Sequence[tuple[Message, str]], columns: int) -> Iterator[str]:
    wide = max(
        cell_len(label.text(card.language)) for label in (say.MEANING, say.IN_2017, say.WHY, say.COST, say.CONFLICT)
    )
    for label, text in said:
        if text in ("", "–"):
            continue
        name = label.text(card.language)
        first = f"    {name}{' ' * (wide - cell_len(name))}  "
        yield from wrapped(text, columns, first, " " * cell_len(first))


def _harmless(card: Card, rows: Sequence[Row], columns: int) -> Iterator[str]:
    """Several keys a line, under what they have in common."""
    for meaning, group in groupby(sorted(rows, key=lambda row: row.concept), lambda row: row.meaning):
        yield from wrapped(meaning, columns, "  ")
        members = list(group)
        yield from wrapped(
            ", ".join(f"{plain(row.key)} = {shown(row.value)}" for row in members), columns, "    ", "      "
        )
        for row in members:
            if row.conflict is not None:
                yield from wrapped(f"{plain(row.key)}: {row.conflict}", columns, "    ", "      ")


def wrapped(text: str, columns: int, first: str = "", others: str | None = None) -> Iterator[str]:
    """Lines of at most so many columns, a Chinese character two of them; only a piece that is wider alone is cut."""
    others = first if others is None else others
    line, empty = first, True
    for piece in _fitting(text, columns - max(cell_len(first), cell_len(others))):
        if not empty and cell_len(line + piece.rstrip()) > columns:
            yield line.rstrip()
            line, empty = others, True
        if not (empty and not piece.strip()):
            line, empty = line + piece, False
    yield line.rstrip()


def _fitting(text: str, room: int) -> Iterator[str]:
    """Pieces between which a line may break, none wider than the room."""
    for piece in _PIECES.findall(text):
        while cell_len(piece.rstrip()) > room:
            cut = next(at for at in range(len(piece), 0, -1) if cell_len(piece[:at]) <= room)
            yield piece[:cut]
            piece = piece[cut:]
        yield piece

"""Texts with labels: a text and a label a line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.data.batches import randomness
from clearformer.data.documents import json_lines, lines, require_whole
from clearformer.errors import DataError
from clearformer.messages import data as say

# What a header calls its columns; anything else in the first line is an example.
_TEXT_NAMES = {"sentence", "text", "review", "content"}
_LABEL_NAMES = {"label", "labels", "class", "sentiment", "category"}


class LabelledBatch(NamedTuple):
    """Padded on the right; labels are numbers of classes."""

    ids: Int[Tensor, "B T"]
    real: Bool[Tensor, "B T"]
    labels: Int[Tensor, " B"]


@dataclass(frozen=True)
class Table:
    """Texts and the names of their classes."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]

    def rows(self, chosen: np.ndarray) -> Table:
        return Table(tuple(self.texts[i] for i in chosen), tuple(self.labels[i] for i in chosen))


def read_labelled(path: Path) -> Table:
    """A .tsv, .csv or .jsonl file, plain or .gz; a header line is recognised. Raises DataError naming the line."""
    rows = list(_records(path))
    if not rows:
        raise DataError(say.EMPTY, path=path)
    return Table(tuple(text for text, _ in rows), tuple(label for _, label in rows))


def whole_sentences(table: Table, share: float, seed: int = 0) -> tuple[Table, Table]:
    """Training and validation tables of which none of the first is a phrase of any of the second.

    A text is a whole sentence if it lies within no other one. `share` of these are held out, and with them every text
    that lies within one of them: phrases of held-out sentences would tell the answers (SST-2's training set has both).
    """
    words = [text.split() for text in table.texts]
    longest_first = sorted(range(len(words)), key=lambda row: -len(words[row]))
    seen: set[int] = set()
    whole: list[int] = []
    for row in longest_first:
        if hash(tuple(words[row])) not in seen:
            whole.append(row)
            seen.update(_phrases(words[row]))
    drawn = randomness(seed).permutation(sorted(whole))
    held = np.sort(drawn[: max(1, round(share * len(whole)))])
    within: set[int] = set()
    for row in held:
        within.update(_phrases(words[row]))
    kept = np.array([row for row in range(len(words)) if hash(tuple(words[row])) not in within], dtype=np.int64)
    return table.rows(kept), table.rows(held)


def _phrases(words: list[str]) -> Iterator[int]:
    """Every run of words, as a hash; the whole is among them."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            yield hash(tuple(words[start:end]))


def _records(path: Path) -> Iterator[tuple[str, str]]:
    name = path.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        for number, record in json_lines(path, "text"):
            label = record.get("label")
            if not isinstance(label, str | int) or not record["text"].strip():
                raise DataError(say.BAD_ROW, path=path, line=number, found=str(record)[:60])
            require_whole(str(label), path, number)
            yield record["text"], str(label)
        return
    text_at, label_at, first = 0, 1, True
    for number, row in _rows(path, tabs=name.endswith(".tsv")):
        if first:
            first = False
            if (found := _header(row, path)) is not None:
                text_at, label_at = found
                continue
        if len(row) <= max(text_at, label_at) or not row[text_at].strip() or not row[label_at].strip():
            raise DataError(say.BAD_ROW, path=path, line=number, found="\t".join(row)[:60])
        yield row[text_at], row[label_at].strip()


def _rows(path: Path, *, tabs: bool) -> Iterator[tuple[int, list[str]]]:
    """(line at which it ends, row) for every row that is not empty; quoted cells of a .csv may hold line ends."""
    ended = (line + "\n" for line in lines(path))
    # Quotes are plain characters in a .tsv, as GLUE writes it.
    reader = csv.reader(ended, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(ended, strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise DataError(say.BAD_ROW, path=path, line=reader.line_num, found=str(error)) from error


def _header(row: list[str], path: Path) -> tuple[int, int] | None:
    """Where text and label stand, if the row names a label's column. Raises DataError if it then names no text's."""
    names = [cell.strip().lower() for cell in row]
    label = next((i for i, name in enumerate(names) if name in _LABEL_NAMES), None)
    if label is None:
        return None
    text = next((i for i, name in enumerate(names) if name in _TEXT_NAMES), None)
    if text is None and len(names) == 2:
        text = 1 - label
    if text is None:
        raise DataError(say.NO_TEXT_COLUMN, path=path, expected=", ".join(sorted(_TEXT_NAMES)), found=", ".join(row))
    return text, label

"""Texts with labels to learn from: found, split, encoded, and cut into batches of like length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from clearformer.data.batches import order, randomness
from clearformer.data.labelled import LabelledBatch, Table, read_labelled, whole_sentences
from clearformer.data.named import find
from clearformer.data.padding import padded
from clearformer.errors import DataError
from clearformer.messages import tasks as say
from clearformer.tasks.labels import LABELS, read_names
from clearformer.tasks.ranges import require
from clearformer.tasks.tokenizing import Frame, TokenizerChoice, obtain
from clearformer.text.fast import FastTokenizer
from clearformer.text.training import tokenizer_files

SPECIALS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
SST2 = "sst2"
# Batches that are sorted by length together: enough that little is padding, few enough that epochs differ.
_POOL = 32


@dataclass(frozen=True)
class LabelledData:
    """Texts with labels, and how they are split."""

    path: str = ""
    """A .tsv, .csv or .jsonl file with a text and a label a line, or sst2."""
    validation: str | None = None
    """Texts to validate on; sst2 brings whole sentences, none of whose phrases are trained on."""
    test: str | None = None
    """Texts that no choice is made on; sst2 brings its own."""
    share: float = 0.1
    """How much is kept for validation where no other is given."""
    context: int = 64
    """Tokens that the model reads at once; what is longer is cut."""
    batch: int = 32
    """Texts a batch."""

    def __post_init__(self) -> None:
        require("data.share", self.share, 0 < self.share < 1, say.SHARE)
        require("data.context", self.context, self.context >= 3, say.WHOLE_FROM_3)
        require("data.batch", self.batch, self.batch >= 1, say.WHOLE_FROM_1)

    def require_named(self) -> None:
        """Raises DataError where there is no path."""
        if not self.path:
            raise DataError(say.NO_DATA, expected=say.TABLE_EXPECTED, names=SST2)


class Encoded(NamedTuple):
    """One split: each text's ids, and its label's number."""

    ids: tuple[tuple[int, ...], ...]
    labels: np.ndarray
    cut: int
    """How many texts were longer than the context."""


@dataclass(frozen=True)
class LabelledTexts:
    """All splits, encoded."""

    names: tuple[str, ...]
    tokenizer: FastTokenizer
    splits: Mapping[str, Encoded]
    path: str

    @classmethod
    def open(cls, data: LabelledData, choice: TokenizerChoice, folder: Path) -> LabelledTexts:
        """Raises DataError and TokenizerError."""
        data.require_named()
        tables = _split(data)
        known = (folder / LABELS).exists()
        names = read_names(folder) if known else tuple(sorted(set(tables["training"].labels)))
        if len(names) < 2:
            raise DataError(say.ONE_CLASS, path=data.path, found=", ".join(names))
        tokenizer = obtain(choice, folder, lambda: tables["training"].texts, SPECIALS)
        splits = {split: _encoded(table, tokenizer, names, data) for split, table in tables.items()}
        return cls(names, tokenizer, splits, data.path)

    def examples(self, split: str, size: int, *, seed: int | None) -> Examples:
        """Raises DataError where there is no such split."""
        if split not in self.splits:
            raise DataError(say.NO_TEST, path=self.path)
        return Examples(self.splits[split], size, self.tokenizer.pad_id or 0, seed)

    def sizes(self) -> dict[str, int]:
        return {f"{split} texts": len(part.ids) for split, part in self.splits.items()} | {
            f"texts of {split} that were cut": part.cut for split, part in self.splits.items() if part.cut
        }

    def tokenizer_files(self) -> dict[str, bytes]:
        return tokenizer_files(self.tokenizer)


class Examples:
    """Every text once an epoch, beside others of like length; without a seed, from the shortest to the longest."""

    def __init__(self, texts: Encoded, size: int, pad: int, seed: int | None) -> None:
        self._texts, self._size, self._pad, self._seed = texts, size, pad, seed
        self._lengths = np.array([len(ids) for ids in texts.ids])
        self._drawn = (0, self._order(0))

    def count(self, epoch: int) -> int:
        return -(-len(self._lengths) // self._size)

    def batch(self, epoch: int, number: int) -> LabelledBatch:
        if self._drawn[0] != epoch:
            self._drawn = (epoch, self._order(epoch))
        chosen = self._drawn[1][number * self._size : (number + 1) * self._size]
        ids, real = padded([self._texts.ids[i] for i in chosen], self._pad)
        return LabelledBatch(ids, real, torch.from_numpy(self._texts.labels[chosen]))

    def _order(self, epoch: int) -> np.ndarray:
        lengths, size = self._lengths, self._size
        if self._seed is None:
            return lengths.argsort(kind="stable")
        drawn = order(self._seed, epoch, len(lengths))
        pools = np.split(drawn, range(size * _POOL, len(drawn), size * _POOL))
        near = np.concatenate([each[lengths[each].argsort(kind="stable")] for each in pools])
        # Only whole batches change places, so that the short one, if any, stays the last.
        whole = len(near) // size
        places = randomness(self._seed, epoch, 1).permutation(whole)
        moved = near[: whole * size].reshape(whole, size)[places].reshape(-1)
        return np.concatenate((moved, near[whole * size :]))


def _encoded(table: Table, tokenizer: FastTokenizer, names: tuple[str, ...], data: LabelledData) -> Encoded:
    numbers = {name: number for number, name in enumerate(names)}
    for label in table.labels:
        if label not in numbers:
            raise DataError(say.UNKNOWN_LABEL, path=data.path, found=label[:60], expected=", ".join(names))
    whole, frame = [tokenizer.encode(text, special=False) for text in table.texts], Frame.of(tokenizer)
    ids = tuple(frame.around(text, data.context) for text in whole)
    room = data.context - len(frame.before) - len(frame.after)
    return Encoded(ids, np.array([numbers[label] for label in table.labels]), sum(len(text) > room for text in whole))


def _split(data: LabelledData) -> dict[str, Table]:
    """sst2 is GLUE's training set, of which whole sentences are kept, and GLUE's development set as the test."""
    if data.path == SST2:
        folder = find(SST2)
        train, more = read_labelled(folder / "train.tsv"), read_labelled(folder / "dev.tsv")
        whole = Table((*train.texts, *more.texts), (*train.labels, *more.labels))
        training, validation = whole_sentences(whole, data.share)
        splits = {"training": training, "validation": validation, "test": read_labelled(folder / "test.tsv")}
    else:
        splits = {"training": read_labelled(Path(data.path).expanduser())}
        if data.validation is None:
            splits |= _kept_apart(splits["training"], data)
    for split, path in (("validation", data.validation), ("test", data.test)):
        if path is not None:
            splits[split] = read_labelled(Path(path).expanduser())
    return splits


def _kept_apart(table: Table, data: LabelledData) -> dict[str, Table]:
    """The same share of each class, drawn once and for all; equal texts stay together."""
    drawn: dict[str, list[str]] = {}
    for text, label in dict(zip(table.texts, table.labels, strict=True)).items():
        drawn.setdefault(label, []).append(text)
    held: set[str] = set()
    for number, label in enumerate(sorted(drawn)):
        texts = drawn[label]
        places = randomness(0, number).permutation(len(texts))[: round(len(texts) * data.share)]
        held.update(texts[place] for place in places)
    aside = np.array([text in held for text in table.texts])
    if not aside.any() or aside.all():
        raise DataError(say.TOO_FEW_TEXTS, path=data.path, found=len(table.texts), split="validation")
    return {"training": table.rows(np.flatnonzero(~aside)), "validation": table.rows(np.flatnonzero(aside))}

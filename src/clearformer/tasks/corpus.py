"""A text to learn from: found, cut into training, validation and test, and encoded once into files of ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearformer.data.documents import documents
from clearformer.data.ids import IdFile
from clearformer.data.made import chance, cyclic
from clearformer.data.named import find
from clearformer.errors import DataError
from clearformer.messages import tasks as say
from clearformer.tasks.ranges import require
from clearformer.tasks.tokenizing import TokenizerChoice, marked, obtain
from clearformer.text.fast import FastTokenizer
from clearformer.text.training import tokenizer_files

NAMED = ("tinyshakespeare", "pydoc")
MADE = {"cyclic": cyclic, "chance": chance}
Texts = Callable[[], Iterable[str]]


@dataclass(frozen=True)
class TextData:
    """A text, and how it is cut. The last share of it is kept for validation, unless there is a file for that."""

    path: str = ""
    """A .txt or .jsonl file (plain or .gz), a folder of .txt files, or tinyshakespeare, pydoc, cyclic or chance."""
    validation: str | None = None
    """Text to validate on, of the same kinds as `path`."""
    test: str | None = None
    """Text that no choice is made on."""
    share: float = 0.1
    """How much of the text is kept for validation where no other is given: the last tenth."""
    context: int = 128
    """Tokens that the model reads at once."""
    batch: int = 16
    """Windows a batch."""

    def __post_init__(self) -> None:
        require("data.share", self.share, 0 < self.share < 1, say.SHARE)
        require("data.context", self.context, self.context >= 2, say.WHOLE_FROM_2)
        require("data.batch", self.batch, self.batch >= 1, say.WHOLE_FROM_1)

    def require_named(self) -> None:
        """Raises DataError where there is no path, or files beside a text that is made in all its parts."""
        if not self.path:
            names = ", ".join((*NAMED, *MADE))
            raise DataError(say.NO_DATA, expected=say.TEXT_EXPECTED, names=names)
        for field, given in (("data.validation", self.validation), ("data.test", self.test)):
            if self.path in MADE and given is not None:
                raise DataError(say.MADE_WHOLE, path=self.path, field=field)


@dataclass(frozen=True)
class Corpus:
    """The parts of a text as ids on the disk. `made` says that the text follows a rule and was not written."""

    data: TextData
    tokenizer: FastTokenizer
    parts: Mapping[str, IdFile]
    made: bool

    @classmethod
    def open(
        cls,
        data: TextData,
        choice: TokenizerChoice,
        folder: Path,
        specials: Mapping[str, str],
        *,
        end: str,
        begin: str | None = None,
    ) -> Corpus:
        """`begin` and `end` name the marks put around each document. Raises DataError and TokenizerError."""
        data.require_named()
        texts = _split(data)
        tokenizer = obtain(choice, folder, texts["training"], specials)
        before = [] if begin is None else [marked(tokenizer, begin)]

        def encode(text: str) -> list[int]:
            return [*before, *tokenizer.encode(text, special=False)]

        cache = folder / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        parts = {
            split: IdFile.build(cache / f"{split}.ids", part, encode, marked(tokenizer, end))
            for split, part in texts.items()
        }
        corpus = cls(data, tokenizer, parts, made=data.path in MADE)
        corpus._check()
        return corpus

    def _check(self) -> None:
        """A window of training text holds `context` tokens and the next; to measure, there must be one to predict."""
        found, needed = len(self.parts["training"].ids), self.data.context + 1
        if found < 3 or any(len(part.ids) < 2 for part in self.parts.values()):
            split = next((name for name, part in self.parts.items() if len(part.ids) < 2), "training")
            raise DataError(say.TOO_LITTLE, path=self.data.path, split=split, found=len(self.parts[split].ids))
        if found < needed:
            values = {"split": "training", "found": found, "context": self.data.context}
            raise DataError(say.CONTEXT_PAST_DATA, path=self.data.path, expected=needed, most=found - 1, **values)

    def part(self, split: str) -> IdFile:
        """Raises DataError where there is no such split."""
        if split not in self.parts:
            raise DataError(say.NO_TEST, path=self.data.path)
        return self.parts[split]

    def sizes(self) -> dict[str, int]:
        return {f"{split} tokens": len(part.ids) for split, part in self.parts.items()}

    def excerpts(self, split: str, count: int, length: int) -> np.ndarray:
        """At most `count` pieces of `length` tokens (n × length), evenly spaced, none across two documents; shorter
        ones where no document is as long."""
        part = self.part(split)
        starts = np.concatenate(([0], part.ends[:-1]))
        length = min(length, int((part.ends - starts).max()))
        places = np.concatenate([np.arange(a, b - length + 1, length) for a, b in zip(starts, part.ends, strict=True)])
        chosen = places[np.linspace(0, len(places) - 1, min(count, len(places))).round().astype(int)]
        return np.stack([np.asarray(part.ids[at : at + length], dtype=np.int64) for at in chosen])

    def tokenizer_files(self) -> dict[str, bytes]:
        return tokenizer_files(self.tokenizer)


def _split(data: TextData) -> dict[str, Texts]:
    """Each split's documents, readable as often as is needed."""
    if make := MADE.get(data.path):
        return {"training": lambda: make("training"), "validation": lambda: make("validation")}
    whole = _source(data.path)
    if data.validation is None:
        texts = cut(whole, data.share)
    else:
        texts = {"training": whole, "validation": _source(data.validation)}
    return texts if data.test is None else {**texts, "test": _source(data.test)}


def _source(path: str) -> Texts:
    place = find(path) if path in NAMED else Path(path).expanduser()
    return lambda: documents(place)


def cut(whole: Texts, share: float) -> dict[str, Texts]:
    """All but the last `share` of the characters, and the rest; a document that lies across is cut in two."""
    at = int(sum(map(len, whole())) * (1 - share))

    def training() -> Iterator[str]:
        seen = 0
        for text in whole():
            if seen < at:
                yield text[: at - seen]
            seen += len(text)

    def validation() -> Iterator[str]:
        seen = 0
        for text in whole():
            seen += len(text)
            if seen > at:
                yield text[max(0, len(text) - (seen - at)) :]

    return {"training": training, "validation": validation}

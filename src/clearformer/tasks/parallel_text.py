"""Parallel text to learn from: found, split, its vocabularies learnt, and encoded with its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from clearformer.data.named import find
from clearformer.data.parallel import Pairs, read_pairs
from clearformer.data.spelling import Fixed, Respelt, Spelt
from clearformer.errors import DataError
from clearformer.messages import tasks as tasks_say
from clearformer.messages import tasks_translation as say
from clearformer.tasks.ranges import require
from clearformer.tasks.tokenizing import byte_pairs, kept_tokenizer, marked, putting
from clearformer.tasks.translating import Marks
from clearformer.text.bpe_dropout import BpeDropout
from clearformer.text.fast import FastTokenizer
from clearformer.text.load import SOURCE_TOKENIZER, TOKENIZER
from clearformer.text.training import tokenizer_files

MULTI30K = "multi30k"
SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
LEAST_VOCABULARY = 256 + len(SPECIALS)
_SETS = {"training": "train", "validation": "val", "test": "test_2016_flickr"}
_FILES = {"training": ("source", "target"), **{s: (f"{s}_source", f"{s}_target") for s in ("validation", "test")}}


@dataclass(frozen=True)
class ParallelData:
    """Sentences and their translations, and how they are split."""

    name: str | None = None
    """A named set: multi30k, German to English."""
    source: str | None = None
    """Sentences to translate, one a line; plain or .gz."""
    target: str | None = None
    """Their translations, line by line."""
    validation_source: str | None = None
    """Sentences to validate on."""
    validation_target: str | None = None
    """Their translations."""
    test_source: str | None = None
    """Sentences that no choice is made on."""
    test_target: str | None = None
    """Their translations."""
    share: float = 0.05
    """How much of the text, its end, is kept for validation where no other is given."""
    vocabulary: Literal["shared", "separate"] = "shared"
    """One vocabulary for both languages, or one for each."""
    size: int | None = None
    """Tokens of a vocabulary; null is 4096, or fewer where the text gives fewer."""
    lowercase: bool = False
    """Read and write small letters alone."""
    dropout: float = 0.0
    """How likely each merge is left out in training, so that words come in many spellings (BPE-dropout)."""
    batch: int = 4096
    """Source and target tokens a batch, padding included."""

    def __post_init__(self) -> None:
        require("data.share", self.share, 0 < self.share < 1, tasks_say.SHARE)
        fits = self.size is None or self.size >= LEAST_VOCABULARY
        require("data.size", self.size, fits, say.VOCABULARY_FROM, least=LEAST_VOCABULARY)
        require("data.dropout", self.dropout, 0 <= self.dropout < 1, tasks_say.SHARE_WITH_ZERO)
        require("data.batch", self.batch, self.batch >= 4, say.TOKENS_FROM)

    def require_named(self) -> None:
        """Raises DataError for a set that there is not, and for one side without the other."""
        if self.name is not None:
            if self.name != MULTI30K:
                raise DataError(say.UNKNOWN_SET, expected=MULTI30K, found=self.name)
            return
        for split, fields in _FILES.items():
            given = [getattr(self, field) for field in fields]
            if None in given and (given != [None, None] or split == "training"):
                raise DataError(say.NO_DATA, field=fields[given.index(None)], names=MULTI30K)


class EncodedPairs(NamedTuple):
    """One split: ids with their marks, and the translations as they were written."""

    source: list[list[int]]
    target: list[list[int]]
    sentences: list[str]
    references: list[str]


@dataclass(frozen=True)
class ParallelText:
    """All splits, encoded. Sources end with an end mark; targets begin with a begin mark, too."""

    data: ParallelData
    source: FastTokenizer
    target: FastTokenizer
    splits: Mapping[str, EncodedPairs]

    @classmethod
    def open(cls, data: ParallelData, folder: Path) -> ParallelText:
        """Raises DataError and TokenizerError."""
        texts = {split: read_pairs(*files) for split, files in _files(data).items()}
        if "validation" not in texts:
            texts |= _cut(*texts["training"], data)
        sentences, translations = texts["training"]
        if data.vocabulary == "shared":
            source = target = _tokenizer(folder, TOKENIZER, [*sentences, *translations], data)
        else:
            target = _tokenizer(folder, TOKENIZER, translations, data)
            source = _tokenizer(folder, SOURCE_TOKENIZER, sentences, data)
        return cls(data, source, target, {split: _encoded(source, target, *pair) for split, pair in texts.items()})

    @property
    def marks(self) -> Marks:
        return Marks(marked(self.target, "bos_token"), frozenset({marked(self.target, "eos_token")}))

    def tokenizer_files(self) -> dict[str, bytes]:
        """As they lie in the folder of the run."""
        files = tokenizer_files(self.target)
        return files if self.source is self.target else {**files, SOURCE_TOKENIZER: self.source.to_json().encode()}

    def split(self, name: str) -> EncodedPairs:
        """Raises DataError where there is no such split."""
        if name not in self.splits:
            raise DataError(say.NO_TEST, path=self.data.name or self.data.source)
        return self.splits[name]

    def pairs(self, split: str, *, seed: int | None) -> Pairs:
        """The split in batches; with a seed to learn from, without to measure."""
        source, target = self._spelt(split, seed)
        pads = (marked(self.source, "pad_token"), marked(self.target, "pad_token"))
        # To measure, every pair counts, however long; to train, what is past the budget is an error.
        longest = int((source.longest() + target.longest()).max())
        budget = self.data.batch if seed is not None else max(self.data.batch, longest)
        return Pairs(source, target, budget=budget, pads=pads, seed=seed)

    def _spelt(self, split: str, seed: int | None) -> tuple[Spelt, Spelt]:
        part = self.split(split)
        if seed is None or not self.data.dropout:
            return Fixed(part.source), Fixed(part.target)
        source, target = (BpeDropout(side, self.data.dropout) for side in (self.source, self.target))
        begin, (end,) = self.marks.begin, self.marks.ends
        return (
            Respelt(part.sentences, source, after=(marked(self.source, "eos_token"),), seed=seed),
            Respelt(part.references, target, before=(begin,), after=(end,), seed=seed),
        )

    def sizes(self) -> dict[str, int]:
        tokens = {
            f"{split} tokens": sum(map(len, part.source)) + sum(map(len, part.target))
            for split, part in self.splits.items()
        }
        return {f"{split} pairs": len(part.source) for split, part in self.splits.items()} | tokens

    def longest(self) -> int:
        """Tokens of the longest sentence, marks included, however its words are spelt."""
        written = max(max(map(len, side)) for part in self.splits.values() for side in (part.source, part.target))
        return max(written, *(int(side.longest().max()) for side in self._spelt("training", seed=0)))


def _tokenizer(folder: Path, name: str, texts: list[str], data: ParallelData) -> FastTokenizer:
    """The tokenizer in that file of the run, or one learnt from the texts; it puts an end mark behind each text, as the
    encoder reads it."""
    end = SPECIALS["eos_token"]

    def learn() -> FastTokenizer:
        plain = byte_pairs(lambda: texts, data.size, data.lowercase, SPECIALS)
        return putting(plain, single=f"$A {end}", pair=f"$A {end} $B {end}", marks=(end,))

    return kept_tokenizer(folder, name, learn)


def _encoded(
    source: FastTokenizer, target: FastTokenizer, sentences: Sequence[str], translations: Sequence[str]
) -> EncodedPairs:
    begin, end = marked(target, "bos_token"), marked(target, "eos_token")
    return EncodedPairs(
        [source.encode(text) for text in sentences],
        [[begin, *target.encode(text, special=False), end] for text in translations],
        list(sentences),
        list(translations),
    )


def _files(data: ParallelData) -> dict[str, tuple[Path, Path]]:
    """Each split's two files."""
    data.require_named()
    if data.name is not None:
        folder = find(MULTI30K)
        return {split: (folder / f"{stem}.de.gz", folder / f"{stem}.en.gz") for split, stem in _SETS.items()}
    found: dict[str, tuple[Path, Path]] = {}
    for split, fields in _FILES.items():
        given = [getattr(data, field) for field in fields]
        if None not in given:
            found[split] = Path(given[0]).expanduser(), Path(given[1]).expanduser()
    return found


def _cut(sentences: list[str], translations: list[str], data: ParallelData) -> dict[str, tuple[list[str], list[str]]]:
    """The last share of the pairs for validation, at least one on each side."""
    if len(sentences) < 2:
        raise DataError(say.ONE_PAIR)
    kept = min(max(1, int(len(sentences) * (1 - data.share))), len(sentences) - 1)
    return {
        "training": (sentences[:kept], translations[:kept]),
        "validation": (sentences[kept:], translations[kept:]),
    }

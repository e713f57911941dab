"""Filling gaps: an encoder reads both sides of each hidden token and says what it was (Devlin et al. 2018, BERT).

Pseudo-perplexity hides one token at a time, so that all others are there to read (Salazar et al. 2020, arXiv
1910.14659): e to the mean loss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from clearformer.data.ids import IdFile
from clearformer.data.masking import MaskedBatch, MaskedWindows, Masking
from clearformer.data.padding import padded
from clearformer.errors import DataError
from clearformer.families.generation import GenerationDefaults
from clearformer.loss import IGNORE, Loss
from clearformer.messages import tasks as say
from clearformer.model import EncoderOnly, Model
from clearformer.spec import EncoderOnly as EncoderSpec
from clearformer.tasks.corpus import Corpus, TextData
from clearformer.tasks.models import Encoder, EncoderChoice, encoder_spec
from clearformer.tasks.objective import token_loss
from clearformer.tasks.ranges import require
from clearformer.tasks.scoring import Score, score
from clearformer.tasks.tokenizing import BytePair, TokenizerChoice, marked
from clearformer.train.recipe import Recipe
from clearformer.train.step import to_device
from clearformer.train.task import Metric, Progress, Published, Sample, Split

SPECIALS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_ALONE = 256
_SAMPLE_TOKENS = 24


@dataclass(frozen=True, kw_only=True)
class MaskedRecipe(Recipe):
    """Train a model that fills gaps in text."""

    data: TextData = field(default_factory=TextData)
    tokenizer: TokenizerChoice = field(default_factory=BytePair)
    model: EncoderChoice = field(default_factory=Encoder)
    masked: float = 0.15
    """The share of tokens that is asked for: of these 80 % are hidden, 10 % exchanged, 10 % left."""


@dataclass(frozen=True)
class MaskedTask:
    """BERT's first objective on one corpus; its second, whether one sentence follows another, has proved of no use
    (RoBERTa, arXiv 1907.11692)."""

    recipe: MaskedRecipe
    corpus: Corpus
    spec: EncoderSpec
    name: str = "masked"
    unit: Literal["token", "example"] = "token"
    metric: Metric = field(default_factory=lambda: Metric("loss"))

    @classmethod
    def open(cls, recipe: MaskedRecipe, folder: Path) -> MaskedTask:
        """Reads and encodes the text. Raises DataError, TokenizerError, UsageError, and what `encoder_spec` does."""
        require("masked", recipe.masked, 0 < recipe.masked < 1, say.SHARE)
        require("data.context", recipe.data.context, recipe.data.context >= 3, say.WHOLE_FROM_3)
        corpus = Corpus.open(recipe.data, recipe.tokenizer, folder, SPECIALS, begin="cls_token", end="sep_token")
        task = cls(recipe, corpus, encoder_spec(recipe.model, corpus.tokenizer.vocabulary_size, recipe.data.context))
        for split, part in corpus.parts.items():
            if not task._rows(part):
                raise DataError(say.TOO_LITTLE, path=recipe.data.path, split=split, found=0)
        return task

    def training(self) -> MaskedWindows:
        return self._windows("training", self.recipe.seed)

    def sizes(self) -> dict[str, int]:
        return self.corpus.sizes()

    def units(self, batch: MaskedBatch) -> int:
        return int((batch.targets != IGNORE).sum())

    def loss(self, model: Model, batch: MaskedBatch) -> Loss:
        assert isinstance(model, EncoderOnly)
        balance: list[Tensor] = []
        hidden = model.hidden(batch.ids, real=batch.real, losses=balance)
        return token_loss(model.logits, hidden, batch.targets, self.recipe.loss, balance)

    @torch.no_grad()
    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Over the whole split, always the same tokens hidden: `loss` (nats a hidden token) and `accuracy`; and
        `pseudo_perplexity` over 256 tokens of it."""
        assert isinstance(model, EncoderOnly)
        # The tokens alone first, so that progress counts all that is left.
        windows, found, alone = self._windows(split, None), Score(), self._alone(model, split)
        for number in range(windows.count(0)):
            found = found.plus(self._score(model, windows.batch(0, number)))
            if progress is not None:
                progress(number + 1, windows.count(0))
        return {"loss": found.loss, "accuracy": found.accuracy, "pseudo_perplexity": alone.perplexity}

    def _alone(self, model: EncoderOnly, split: Split) -> Score:
        """Tokens evenly spaced over the split, each the only one that is hidden in its window."""
        rows, mask = self._rows(self.corpus.part(split)), marked(self.corpus.tokenizer, "mask_token")
        edges = np.cumsum([0, *(len(row) - 2 for row in rows)])
        places = np.linspace(0, edges[-1] - 1, min(_ALONE, int(edges[-1]))).round().astype(int)
        numbers = np.searchsorted(edges, places, side="right") - 1
        size, found = self.recipe.data.batch, Score()
        for start in range(0, len(places), size):
            chosen = numbers[start : start + size]
            ids, real = padded([rows[number] for number in chosen], marked(self.corpus.tokenizer, "pad_token"))
            at = torch.from_numpy(places[start : start + size] - edges[chosen] + 1)[:, None]
            targets = torch.full_like(ids, IGNORE).scatter(1, at, ids.gather(1, at))
            batch = MaskedBatch(ids.scatter(1, at, mask), real, targets)
            found = found.plus(self._score(model, batch))
        return found

    def _score(self, model: EncoderOnly, batch: MaskedBatch) -> Score:
        batch = to_device(batch, next(model.parameters()).device)
        return score(model.logits, model.hidden(batch.ids, real=batch.real), batch.targets)

    @torch.no_grad()
    def samples(self, model: Model) -> tuple[Sample, ...]:
        """A validation excerpt with one token hidden, and what the model puts there."""
        assert isinstance(model, EncoderOnly)
        tokenizer = self.corpus.tokenizer
        row = self._rows(self.corpus.part("validation"))[0][:_SAMPLE_TOKENS]
        at = len(row) // 2
        ids = torch.from_numpy(row).clone()
        ids[at] = marked(tokenizer, "mask_token")
        device = next(model.parameters()).device
        found = int(model.logits(model.hidden(ids[None].to(device))[0, at]).argmax())
        shown = tokenizer.decode(row[1:at].tolist()) + SPECIALS["mask_token"] + tokenizer.decode(row[at + 1 :].tolist())
        return (Sample(shown, tokenizer.token(found), tokenizer.token(int(row[at]))),)

    def published(self) -> Published:
        return Published(self.corpus.tokenizer_files(), GenerationDefaults(pad_id=self.corpus.tokenizer.pad_id))

    def _windows(self, split: str, seed: int | None) -> MaskedWindows:
        tokenizer = self.corpus.tokenizer
        rule = Masking(
            mask_id=marked(tokenizer, "mask_token"),
            vocabulary=tokenizer.vocabulary_size,
            special=tokenizer.special_ids,
            ignore=IGNORE,
            share=self.recipe.masked,
        )
        rows, pad = self._rows(self.corpus.part(split)), marked(tokenizer, "pad_token")
        return MaskedWindows(rows, rule, batch=self.recipe.data.batch, pad=pad, seed=seed)

    def _rows(self, part: IdFile) -> list[np.ndarray]:
        """[CLS] piece [SEP]: each document, without its own marks, cut into as many as it takes."""
        first, last = (np.array([marked(self.corpus.tokenizer, name)]) for name in ("cls_token", "sep_token"))
        size = self.recipe.data.context - 2
        return [
            np.concatenate((first, part.ids[at : min(at + size, end - 1)], last)).astype(np.int64)
            for start, end in zip((0, *part.ends[:-1]), part.ends, strict=True)
            for at in range(start + 1, end - 1, size)
        ]

"""Continuing text: a decoder learns each next token.

Perplexity is e to the mean loss. It depends on how the tokenizer cuts the text; bits per byte do not: all bits that
the model needs for the text, over its length in UTF-8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from clearformer.data.packing import EvaluationWindows, PackedText, TokenBatch
from clearformer.families.generation import GenerationDefaults
from clearformer.generate.speak import complete
from clearformer.load import Loaded
from clearformer.loss import Loss, shift
from clearformer.model import DecoderOnly, Model
from clearformer.spec import DecoderOnly as DecoderSpec
from clearformer.tasks.corpus import Corpus, TextData
from clearformer.tasks.models import DecoderChoice, Gpt, decoder_spec
from clearformer.tasks.objective import token_loss
from clearformer.tasks.scoring import Score, free_running_accuracy, score
from clearformer.tasks.tokenizing import Characters, TokenizerChoice
from clearformer.text.tokenizer import Tokenizer
from clearformer.train.recipe import Recipe
from clearformer.train.step import to_device
from clearformer.train.task import Metric, Progress, Published, Sample, Split

SPECIALS = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}
_FREE_TEXTS = 16
_SAMPLE_TOKENS = 64


@dataclass(frozen=True, kw_only=True)
class LanguageRecipe(Recipe):
    """Train a model that continues text."""

    data: TextData = field(default_factory=TextData)
    tokenizer: TokenizerChoice = field(default_factory=Characters)
    model: DecoderChoice = field(default_factory=Gpt)


@dataclass(frozen=True)
class LanguageTask:
    """Next-token prediction on one corpus."""

    recipe: LanguageRecipe
    corpus: Corpus
    spec: DecoderSpec
    name: str = "language"
    unit: Literal["token", "example"] = "token"
    metric: Metric = field(default_factory=lambda: Metric("loss"))

    @classmethod
    def open(cls, recipe: LanguageRecipe, folder: Path) -> LanguageTask:
        """Reads and encodes the text. Raises DataError, TokenizerError, and what `decoder_spec` does."""
        corpus = Corpus.open(recipe.data, recipe.tokenizer, folder, SPECIALS, begin="bos_token", end="eos_token")
        spec = decoder_spec(recipe.model, corpus.tokenizer.vocabulary_size, recipe.data.context)
        return cls(recipe, corpus, spec)

    def training(self) -> PackedText:
        data, part = self.recipe.data, self.corpus.part("training")
        return PackedText(part.ids, part.ends, context=data.context, batch=data.batch, seed=self.recipe.seed)

    def sizes(self) -> dict[str, int]:
        return self.corpus.sizes()

    def units(self, batch: TokenBatch) -> int:
        return int((_shifted(batch)[1] >= 0).sum())

    def loss(self, model: Model, batch: TokenBatch) -> Loss:
        assert isinstance(model, DecoderOnly)
        inputs, targets = _shifted(batch)
        balance: list[torch.Tensor] = []
        hidden = model.hidden(inputs, documents=_read_documents(batch), losses=balance)
        return token_loss(model.logits, hidden, targets, self.recipe.loss, balance)

    @torch.no_grad()
    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Over the whole split, cut into consecutive windows: `loss` (nats a token), `perplexity`, `bits_per_byte`,
        `accuracy` with the true text before each token, `free_running_accuracy` on sixteen windows."""
        assert isinstance(model, DecoderOnly)
        part, device = self.corpus.part(split), next(model.parameters()).device
        data = self.recipe.data
        windows = EvaluationWindows(part.ids, part.ends, context=data.context, batch=data.batch)
        sizes = torch.from_numpy(byte_lengths(self.corpus.tokenizer)).to(device)
        found, length = Score(), 0
        texts = torch.from_numpy(self.corpus.excerpts(split, _FREE_TEXTS, data.context)).to(device)
        # First, so that progress counts all that is left.
        free = free_running_accuracy(model, texts, given=max(1, texts.shape[1] // 2))
        for number in range(windows.count(0)):
            batch: TokenBatch = to_device(windows.batch(0, number), device)
            inputs, targets = _shifted(batch)
            found = found.plus(score(model.logits, model.hidden(inputs, documents=_read_documents(batch)), targets))
            length += int(sizes[targets[targets >= 0]].sum())
            if progress is not None:
                progress(number + 1, windows.count(0))
        return {
            "loss": found.loss,
            "perplexity": found.perplexity,
            "bits_per_byte": found.nats / math.log(2) / max(length, 1),
            "accuracy": found.accuracy,
            "free_running_accuracy": free,
        }

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """The beginning of one validation excerpt, continued by the model and by its author."""
        assert isinstance(model, DecoderOnly)
        tokenizer, context = self.corpus.tokenizer, self.recipe.data.context
        ids = self.corpus.excerpts("validation", 1, min(context, 2 * _SAMPLE_TOKENS))[0].tolist()
        given = max(1, len(ids) // 2)
        prompt, truth = tokenizer.decode(ids[:given]), tokenizer.decode(ids[given:])
        speaker = Loaded(self.name, model, self.spec, tokenizer, self._generation(), template=None)
        written = complete(speaker, prompt, max_new_tokens=max(1, len(ids) - given), seed=self.recipe.seed).text
        return (Sample(prompt, written, truth),)

    def published(self) -> Published:
        return Published(self.corpus.tokenizer_files(), self._generation())

    def _generation(self) -> GenerationDefaults:
        """A made text has one right continuation; a written one is dull if its likeliest is always taken."""
        end = self.corpus.tokenizer.eos_id
        ends = () if end is None else (end,)
        if self.corpus.made:
            return GenerationDefaults(begin_id=end, end_ids=ends, pad_id=end)
        return GenerationDefaults(sample=True, temperature=0.8, begin_id=end, end_ids=ends, pad_id=end)


def byte_lengths(tokenizer: Tokenizer) -> np.ndarray:
    """The UTF-8 length of each token; 0 for special ones, which stand for no text."""
    every = range(tokenizer.vocabulary_size)
    return np.array([0 if i in tokenizer.special_ids else len(tokenizer.token_bytes(i)) for i in every], dtype=np.int64)


def _shifted(batch: TokenBatch) -> tuple[torch.Tensor, torch.Tensor]:
    return shift(batch.ids, documents=batch.documents)


def _read_documents(batch: TokenBatch) -> torch.Tensor | None:
    return None if batch.documents is None else batch.documents[:, :-1]

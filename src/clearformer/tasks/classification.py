"""Sorting texts into classes: an encoder reads the whole text, and its first position decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.data.labelled import LabelledBatch
from clearformer.families.generation import GenerationDefaults
from clearformer.loss import Loss, cross_entropy
from clearformer.model import EncoderOnly, Model
from clearformer.spec import EncoderOnly as EncoderSpec
from clearformer.tasks.classes import judged
from clearformer.tasks.labelled_texts import Examples, LabelledData, LabelledTexts
from clearformer.tasks.labels import LABELS, write_names
from clearformer.tasks.models import Encoder, EncoderChoice, encoder_spec
from clearformer.tasks.tokenizing import BytePair, TokenizerChoice
from clearformer.train.recipe import Recipe
from clearformer.train.task import Metric, Progress, Published, Sample, Split

_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class ClassificationRecipe(Recipe):
    """Train a model that sorts texts into classes."""

    data: LabelledData = field(default_factory=LabelledData)
    tokenizer: TokenizerChoice = field(default_factory=BytePair)
    model: EncoderChoice = field(default_factory=Encoder)


@dataclass(frozen=True)
class ClassificationTask:
    """One label a text."""

    recipe: ClassificationRecipe
    texts: LabelledTexts
    spec: EncoderSpec
    name: str = "classification"
    unit: Literal["token", "example"] = "example"
    metric: Metric = field(default_factory=lambda: Metric("accuracy", higher_is_better=True))

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names, in the order of the logits."""
        return self.texts.names

    @classmethod
    def open(cls, recipe: ClassificationRecipe, folder: Path) -> ClassificationTask:
        """Reads and encodes the texts. Raises DataError, TokenizerError, and what `encoder_spec` does."""
        texts = LabelledTexts.open(recipe.data, recipe.tokenizer, folder)
        size = texts.tokenizer.vocabulary_size
        return cls(recipe, texts, encoder_spec(recipe.model, size, recipe.data.context, classes=len(texts.names)))

    def training(self) -> Examples:
        return self.texts.examples("training", self.recipe.data.batch, seed=self.recipe.seed)

    def sizes(self) -> dict[str, int]:
        return self.texts.sizes()

    def units(self, batch: LabelledBatch) -> int:
        return len(batch.labels)

    def loss(self, model: Model, batch: LabelledBatch) -> Loss:
        assert isinstance(model, EncoderOnly)
        balance: list[Tensor] = []
        logits = model(batch.ids, real=batch.real, losses=balance)
        loss = cross_entropy(logits, batch.labels, smoothing=self.recipe.loss.smoothing, z=self.recipe.loss.z)
        return loss.balanced(balance)

    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Over the whole split: `loss` (nats a text), `accuracy`, `macro_f1`."""
        return judged(*self.predict(model, split, progress=progress))

    @torch.no_grad()
    def predict(
        self, model: Model, split: Split, *, progress: Progress | None = None
    ) -> tuple[Float[Tensor, "n classes"], Int[Tensor, " n"]]:
        """The logits of every text of the split and its labels, on the CPU."""
        device = next(model.parameters()).device
        examples = self.texts.examples(split, self.recipe.data.batch, seed=None)
        logits, labels = [], []
        for number in range(examples.count(0)):
            batch = examples.batch(0, number)
            logits.append(model(batch.ids.to(device), real=batch.real.to(device)).float().cpu())
            labels.append(batch.labels)
            if progress is not None:
                progress(number + 1, examples.count(0))
        return torch.cat(logits), torch.cat(labels)

    @torch.no_grad()
    def samples(self, model: Model) -> tuple[Sample, ...]:
        """A few validation texts, the class each is given, and its own."""
        examples, device = self.texts.examples("validation", _SAMPLES, seed=None), next(model.parameters()).device
        batch, names = examples.batch(0, 0), self.texts.names
        chosen = model(batch.ids.to(device), real=batch.real.to(device)).argmax(1).tolist()
        truths = [names[label] for label in batch.labels.tolist()]
        texts = [
            self.texts.tokenizer.decode(ids[real].tolist()) for ids, real in zip(batch.ids, batch.real, strict=True)
        ]
        return tuple(
            Sample(text, names[found], truth) for text, found, truth in zip(texts, chosen, truths, strict=True)
        )

    def published(self) -> Published:
        names = self.texts.names
        files = {**self.texts.tokenizer_files(), LABELS: write_names(names)}
        return Published(files, GenerationDefaults(pad_id=self.texts.tokenizer.pad_id), names)

"""Translation: the paper's encoder and decoder, trained with the true words before each, judged on its own.

BLEU (Papineni et al. 2002) and chrF (Popović 2015) are sacreBLEU's, whose signature makes them comparable (Post 2018,
arXiv 1804.08771).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from clearformer.data.parallel import PairBatch, Pairs
from clearformer.errors import TrainingError
from clearformer.families.generation import GenerationDefaults
from clearformer.layers.frame import Memory
from clearformer.loss import IGNORE, Loss, shift
from clearformer.messages import tasks_translation as say
from clearformer.model import EncoderDecoder, Model
from clearformer.spec import EncoderDecoder as EncoderDecoderSpec
from clearformer.spec import Tokens
from clearformer.spec.presets import paper
from clearformer.tasks.objective import token_loss
from clearformer.tasks.parallel_text import ParallelData, ParallelText
from clearformer.tasks.ranges import require, require_counts
from clearformer.tasks.scoring import Score, score
from clearformer.tasks.translating import Beams, translate_ids
from clearformer.train.recipe import Recipe
from clearformer.train.step import to_device
from clearformer.train.task import Metric, Progress, Published, Sample, Split

_SAMPLES = 2
_LEAST_CONTEXT = 128


@dataclass(frozen=True)
class Paper:
    """The Transformer of 2017 (arXiv 1706.03762) at the given size; `placement` pre is the norm first."""

    width: int = 256
    heads: int = 4
    hidden: int = 1024
    layers: int = 3
    dropout: float = 0.1
    placement: Literal["pre", "post"] = "post"

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "hidden", "layers")


@dataclass(frozen=True)
class CustomPair:
    """Any encoder and decoder over tokens; its vocabularies are replaced by the tokenizers'."""

    spec: EncoderDecoderSpec


@dataclass(frozen=True, kw_only=True)
class TranslationRecipe(Recipe):
    """Train a model that translates."""

    data: ParallelData = field(default_factory=ParallelData)
    model: Paper | CustomPair = field(default_factory=Paper)
    search: Beams = field(default_factory=Beams)
    """How the test set is translated; validation during training takes the likeliest word each time."""
    scheduled_sampling: float = 0.0
    """How many of the target's words the decoder reads as it would itself have written them, and not as they are."""


@dataclass(frozen=True)
class TranslationTask:
    """One language into another."""

    recipe: TranslationRecipe
    text: ParallelText
    spec: EncoderDecoderSpec
    name: str = "translation"
    unit: Literal["token", "example"] = "token"
    metric: Metric = field(default_factory=lambda: Metric("bleu", higher_is_better=True))

    @classmethod
    def open(cls, recipe: TranslationRecipe, folder: Path) -> TranslationTask:
        """Reads and encodes the pairs. Raises DataError, TokenizerError, SpecError, TrainingError, UsageError."""
        share = recipe.scheduled_sampling
        require("scheduled_sampling", share, 0 <= share <= 1, say.SHARE_WITH_ENDS)
        text = ParallelText.open(recipe.data, folder)
        return cls(recipe, text, _spec(recipe.model, text))

    def training(self) -> Pairs:
        return self.text.pairs("training", seed=self.recipe.seed)

    def sizes(self) -> dict[str, int]:
        return self.text.sizes()

    def units(self, batch: PairBatch) -> int:
        return int((shift(batch.target, real=batch.target_real)[1] != IGNORE).sum())

    def loss(self, model: Model, batch: PairBatch) -> Loss:
        assert isinstance(model, EncoderDecoder)
        balance: list[Tensor] = []
        inputs, targets = shift(batch.target, real=batch.target_real)
        real = batch.target_real[:, :-1]
        memory = model.encode(batch.source, real=batch.source_real, losses=balance)
        if self.recipe.scheduled_sampling:
            inputs = self_written(model, inputs, memory, real, self.recipe.scheduled_sampling)
        hidden = model.decode_hidden(inputs, memory, real=real, losses=balance)
        return token_loss(model.logits, hidden, targets, self.recipe.loss, balance)

    @torch.no_grad()
    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Over the whole split: `loss` (nats a token), `perplexity` and `accuracy` with the true words before each;
        `bleu`, `chrf` and `free_running_accuracy` of the model's own translations, by greedy choice on the validation
        split and by the recipe's beams on the test split."""
        assert isinstance(model, EncoderDecoder)
        found = self._teacher_forced(model, split)
        part = self.text.split(split)
        beams = self.recipe.search if split == "test" else Beams(width=1)
        answers = translate_ids(model, part.source, self.text.marks, beams, progress=progress)
        texts = [self.text.target.decode(ids) for ids, _ in answers]
        bleu, chrf = scores(texts, part.references, lowercase=self.recipe.data.lowercase)
        true = [ids[1:-1] for ids in part.target]
        right = sum(a == b for (ids, _), ref in zip(answers, true, strict=True) for a, b in zip(ids, ref, strict=False))
        return {
            "loss": found.loss,
            "perplexity": found.perplexity,
            "accuracy": found.accuracy,
            "free_running_accuracy": right / max(1, sum(map(len, true))),
            "bleu": bleu,
            "chrf": chrf,
        }

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """The first sentences of the validation split."""
        assert isinstance(model, EncoderDecoder)
        part = self.text.split("validation")
        answers = translate_ids(model, part.source[:_SAMPLES], self.text.marks, Beams(width=1))
        shown = zip(part.sentences, answers, part.references, strict=False)
        return tuple(Sample(text, self.text.target.decode(ids), truth) for text, (ids, _), truth in shown)

    def published(self) -> Published:
        marks = self.text.marks
        generation = GenerationDefaults(begin_id=marks.begin, end_ids=tuple(marks.ends), pad_id=self.text.target.pad_id)
        return Published(self.text.tokenizer_files(), generation)

    def _teacher_forced(self, model: EncoderDecoder, split: str) -> Score:
        device, found = next(model.parameters()).device, Score()
        pairs = self.text.pairs(split, seed=None)
        for number in range(pairs.count(0)):
            batch = to_device(pairs.batch(0, number), device)
            inputs, targets = shift(batch.target, real=batch.target_real)
            memory = model.encode(batch.source, real=batch.source_real)
            hidden = model.decode_hidden(inputs, memory, real=batch.target_real[:, :-1])
            found = found.plus(score(model.logits, hidden, targets))
        return found


@torch.no_grad()
def self_written(
    model: EncoderDecoder, inputs: Int[Tensor, "B T"], memory: Memory, real: Bool[Tensor, "B T"], share: float
) -> Int[Tensor, "B T"]:
    """The inputs with about `share` of the words, the begin mark aside, replaced by the model's own likeliest ones.

    Scheduled sampling in two passes (Bengio et al. 2015, arXiv 1506.03099; Mihaylova and Martins 2019, arXiv
    1906.07651): the first pass writes every word behind the true ones, the second learns behind what the first wrote.
    """
    written = model.logits(model.decode_hidden(inputs, memory, real=real)).argmax(-1)
    own = torch.cat((inputs[:, :1], written[:, :-1]), 1)
    chosen = torch.rand(inputs.shape, device=inputs.device) < share
    chosen[:, 0] = False
    return torch.where(chosen & real, own, inputs)


def scores(texts: Sequence[str], references: Sequence[str], *, lowercase: bool) -> tuple[float, float]:
    """sacreBLEU's BLEU and chrF of translations, each against its reference."""
    from sacrebleu.metrics import CHRF

    bleu = _bleu(lowercase=lowercase).corpus_score(list(texts), [list(references)]).score
    return float(bleu), float(CHRF(lowercase=lowercase).corpus_score(list(texts), [list(references)]).score)


def bleu_signature(*, lowercase: bool) -> str:
    """sacreBLEU's own account of how BLEU is computed."""
    metric = _bleu(lowercase=lowercase)
    # It knows the number of references once it has seen some.
    metric.corpus_score(["a"], [["a"]])
    return str(metric.get_signature())


def _bleu(*, lowercase: bool) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(lowercase=lowercase)


def _spec(choice: Paper | CustomPair, text: ParallelText) -> EncoderDecoderSpec:
    """The model with the tokenizers' vocabularies; its context holds the longest sentence."""
    if isinstance(choice, CustomPair):
        spec = choice.spec
        if spec.context < text.longest():
            raise TrainingError(say.CONTEXT_TOO_SHORT, expected=text.longest(), found=spec.context)
    else:
        spec = paper(
            width=choice.width,
            heads=choice.heads,
            hidden=choice.hidden,
            layers=choice.layers,
            context=max(_LEAST_CONTEXT, 2 * text.longest()),
            dropout=choice.dropout,
            placement=choice.placement,
        )
    shared = spec.shared_vocabulary and text.source is text.target
    encoder, decoder = spec.encoder.input, spec.decoder.input
    if not isinstance(encoder, Tokens) or not isinstance(decoder, Tokens):
        raise TrainingError(say.READS_NO_TOKENS, found=type(encoder).__name__)
    return replace(
        spec,
        encoder=replace(spec.encoder, input=replace(encoder, vocabulary=text.source.vocabulary_size)),
        decoder=replace(spec.decoder, input=replace(decoder, vocabulary=text.target.vocabulary_size)),
        shared_vocabulary=shared,
    )

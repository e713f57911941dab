"""What the loop asks of a task. The loop knows no task, and no task knows the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from clearformer.data.batches import Batches
from clearformer.families.generation import GenerationDefaults
from clearformer.loss import Loss
from clearformer.model import Model
from clearformer.spec import Spec

Batch = TypeVar("Batch")
Split = Literal["validation", "test"]
Progress = Callable[[int, int], None]
"""Called with what is done and with the total."""


@dataclass(frozen=True)
class Metric:
    """The number by which the best step is chosen, a key of what `evaluate` returns."""

    name: str
    higher_is_better: bool = False

    def better(self, new: float, old: float | None) -> bool:
        return old is None or (new > old if self.higher_is_better else new < old)


@dataclass(frozen=True)
class Sample:
    """What the model makes of one input, shown during training; `truth` where there is one. `picture` is what the input
    looks like, in rows of characters, where `input` only names it."""

    input: str
    output: str
    truth: str | None = None
    picture: str | None = None


@dataclass(frozen=True)
class Published:
    """What stands in the run folder beside the weights: files by plain name, how text is to be generated, and the
    names of classes in the order of the logits."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    generation: GenerationDefaults | None = None
    labels: tuple[str, ...] = ()


class Task(Protocol[Batch]):
    """One job: its data, spec, loss and metric.

    `unit` is what throughput is counted in. The loss of an update is Σ totals / Σ units over its micro-batches, so that
    accumulation and padding change nothing; `units` must therefore equal the `units` of `loss` for the same batch.
    """

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def unit(self) -> Literal["token", "example"]: ...
    @property
    def metric(self) -> Metric: ...

    def training(self) -> Batches[Batch]:
        """The training split."""

    def sizes(self) -> Mapping[str, int]:
        """How much data there is, for the log and `--dry-run`: {"training tokens": …, "validation sentences": …}."""

    def units(self, batch: Batch) -> int:
        """Real tokens or examples that the batch's loss is a mean over."""

    def loss(self, model: Model, batch: Batch) -> Loss:
        """The differentiable sum of losses over the batch's units, balance losses included, and their number."""

    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Figures over the whole split: the same for every batch size and padding. The model is in evaluation mode."""

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """A few outputs to look at."""

    def published(self) -> Published:
        """Tokenizer, labels, scaler …: what a user of the trained model needs beside its weights."""

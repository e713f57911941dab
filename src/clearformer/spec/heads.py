"""What leaves the stack: logits over a vocabulary or classes, numbers, or a vector."""

from __future__ import annotations

from dataclasses import dataclass, field

from clearformer.messages import spec as messages
from clearformer.spec import checks
from clearformer.spec.feedforward import Activation
from clearformer.spec.norms import Norm


@dataclass(frozen=True)
class First:
    """The first position: BERT's [CLS], ViT's class token."""


@dataclass(frozen=True)
class Mean:
    """The mean over real positions (Sentence-BERT, arXiv 1908.10084)."""


@dataclass(frozen=True)
class Last:
    """The last real position (decoders as classifiers)."""


@dataclass(frozen=True)
class EndToken:
    """The first position whose id is `id` (CLIP's text tower)."""

    id: int

    def __post_init__(self) -> None:
        checks.not_negative(self, "id")


@dataclass(frozen=True)
class Flatten:
    """All `length` positions side by side (PatchTST)."""

    length: int

    def __post_init__(self) -> None:
        checks.positive(self, "length")


Take = First | Mean | Last | EndToken | Flatten


@dataclass(frozen=True)
class Transform:
    """norm(activation(x W + b)), width to width: before masked-language logits, or behind a pooling (BERT)."""

    activation: Activation = "gelu"
    norm: Norm | None = None
    bias: bool = True

    def __post_init__(self) -> None:
        checks.one_of(self, "activation", Activation)


@dataclass(frozen=True)
class Pooling:
    """One vector a sequence, perhaps transformed (BERT's pooler: First() and a tanh)."""

    take: Take = field(default_factory=First)
    transform: Transform | None = None

    def __post_init__(self) -> None:
        held = self.transform is None or not isinstance(self.take, Flatten)
        checks.require(held, self, "transform", messages.NO_TRANSFORM_WITH_FLATTEN)


@dataclass(frozen=True)
class Hidden:
    """No head: the stack's last hidden states, B T D."""


@dataclass(frozen=True)
class Language:
    """Logits over the vocabulary, B T V. `tied` reuses the token table (Press and Wolf 2017, arXiv 1608.05859).

    `hidden_scale` multiplies the hidden states first (T5: D^−½). `cap` c bends logits to c·tanh(logit/c) (Gemma 2).
    """

    tied: bool = True
    bias: bool = False
    hidden_scale: float = 1.0
    cap: float | None = None
    transform: Transform | None = None

    def __post_init__(self) -> None:
        checks.above_zero(self, "hidden_scale", "cap")


@dataclass(frozen=True)
class Classes:
    """Logits over classes, B × count."""

    count: int
    pooling: Pooling = field(default_factory=Pooling)
    bias: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "count")
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class Regression:
    """Real numbers, B × outputs."""

    outputs: int
    pooling: Pooling = field(default_factory=Pooling)
    bias: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "outputs")
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class Forecast:
    """The next `horizon` steps of every channel, B × horizon × C."""

    horizon: int
    pooling: Pooling = field(default_factory=lambda: Pooling(Last()))
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "horizon")
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class Vector:
    """One vector a sequence, projected to `width` without bias if given, and of length one if `normalise`."""

    pooling: Pooling = field(default_factory=lambda: Pooling(Mean()))
    width: int | None = None
    normalise: bool = True

    def __post_init__(self) -> None:
        if self.width is not None:
            checks.positive(self, "width")


Head = Hidden | Language | Classes | Regression | Forecast | Vector

"""Who looks at whom, through how many heads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec import checks
from clearformer.spec.norms import Norm, RMSNorm
from clearformer.spec.positions import AttentionPosition, Rotary


@dataclass(frozen=True)
class Full:
    """Every query sees every real key; with `radius`, only keys at |i − j| ≤ radius (ModernBERT's local layers)."""

    radius: int | None = None

    def __post_init__(self) -> None:
        if self.radius is not None:
            checks.not_negative(self, "radius")


@dataclass(frozen=True)
class Causal:
    """Query i sees keys j ≤ i; with `window`, only the last `window` of them, itself included (Mistral).

    With `prefix`, a sequence's first tokens, as many as the caller says, also see each other both ways (prefix LM).
    """

    window: int | None = None
    prefix: bool = False

    def __post_init__(self) -> None:
        if self.window is not None:
            checks.positive(self, "window")


Visibility = Full | Causal


@dataclass(frozen=True)
class Biases:
    """Which of the four projections add a bias."""

    query: bool = False
    key: bool = False
    value: bool = False
    output: bool = False

    @classmethod
    def everywhere(cls) -> Biases:
        return cls(query=True, key=True, value=True, output=True)


@dataclass(frozen=True)
class QKNorm:
    """Queries and keys normalised before rotation: each head alone (Qwen3), or the whole projection (OLMo2)."""

    norm: Norm
    over: Literal["head", "projection"] = "head"

    def __post_init__(self) -> None:
        checks.one_of(self, "over", Literal["head", "projection"])


@dataclass(frozen=True)
class Attention:
    """softmax(Q Kᵀ · scale) V over `heads` query heads (Vaswani et al. 2017 §3.2, arXiv 1706.03762).

    kv_heads = heads is multi-head, 1 multi-query (arXiv 1911.02150), between them grouped-query attention
    (arXiv 2305.13245): query head h reads key/value head h // (heads / kv_heads). `scale` None is 1/√key_width.
    `score_cap` c bends scores to c·tanh(score/c) (Gemma 2). `dropout` falls on the weights.
    """

    heads: int
    kv_heads: int
    key_width: int
    value_width: int
    visibility: Visibility = field(default_factory=Causal)
    position: AttentionPosition | None = None
    bias: Biases = field(default_factory=Biases)
    qk_norm: QKNorm | None = None
    scale: float | None = None
    score_cap: float | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "heads", "kv_heads", "key_width", "value_width")
        checks.above_zero(self, "scale", "score_cap")
        checks.probability(self, "dropout")
        if self.heads % self.kv_heads:
            raise SpecError(messages.HEADS_DO_NOT_DIVIDE, heads=self.heads, kv_heads=self.kv_heads)
        if isinstance(self.position, Rotary):
            self.position.require_width(self.key_width)

    @property
    def score_scale(self) -> float:
        return self.key_width**-0.5 if self.scale is None else self.scale


def split_width(width: int, heads: int) -> int:
    """The head width D / H of the paper; refuses heads that do not divide the width."""
    if heads < 1 or width % heads:
        raise SpecError(messages.WIDTH_DOES_NOT_SPLIT, width=width, heads=heads)
    return width // heads


@dataclass(frozen=True)
class LatentAttention:
    """Keys and values rebuilt from one small vector a token (DeepSeek-V2 §2.1, arXiv 2405.04434).

    The cache holds that latent (`kv_rank` Z) and one rotated key of width R shared by all heads. `key_width` K is the
    part of a head without position; a query is K + R wide. `query_rank` None projects queries directly. `norm`
    normalises both latents; `bias` is on the projections into the latents and the output. `scale` None is 1/√(K + R).
    """

    heads: int
    key_width: int
    value_width: int
    kv_rank: int
    rotary: Rotary
    query_rank: int | None = None
    norm: Norm = field(default_factory=RMSNorm)
    visibility: Causal = field(default_factory=Causal)
    bias: bool = False
    scale: float | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "heads", "key_width", "value_width", "kv_rank")
        checks.above_zero(self, "scale")
        checks.probability(self, "dropout")
        if self.query_rank is not None:
            checks.positive(self, "query_rank")
        if self.rotary.width is None:
            raise SpecError(messages.ROTARY_NEEDS_WIDTH)
        self.rotary.require_width(self.rotary.width)

    @property
    def rotary_width(self) -> int:
        assert self.rotary.width is not None
        return self.rotary.width

    @property
    def score_scale(self) -> float:
        return (self.key_width + self.rotary_width) ** -0.5 if self.scale is None else self.scale


AnyAttention = Attention | LatentAttention

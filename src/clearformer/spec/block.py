"""One layer of the stack: attention, perhaps attention to a memory, then the feed-forward network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec import checks
from clearformer.spec.attention import AnyAttention, Attention, Full
from clearformer.spec.feedforward import FeedForward
from clearformer.spec.norms import Norm

Placement = Literal["pre", "post", "branch", "sandwich"]


@dataclass(frozen=True)
class Sequential:
    """Sublayers in turn, each with its residual; `placement` says where the norms stand:

    pre       x + f(norm(x))           today's decoders (Xiong et al. 2020, arXiv 2002.04745)
    post      norm(x + f(x))           the paper
    branch    x + norm(f(x))           OLMo2
    sandwich  x + norm₂(f(norm₁(x)))   Gemma 2
    """

    placement: Placement = "pre"

    def __post_init__(self) -> None:
        checks.one_of(self, "placement", Placement)


@dataclass(frozen=True)
class Parallel:
    """x + attention(norm(x)) + feedforward(norm(x)): one norm for both (GPT-J, Falcon), or one each (GPT-NeoX)."""

    shared_norm: bool = False


Arrangement = Sequential | Parallel


@dataclass(frozen=True)
class Block:
    """A layer. A norm of None leaves its place empty (the first attention of ModernBERT).

    `dropout` falls on each sublayer's output before it joins the residual stream.
    """

    attention: AnyAttention
    feedforward: FeedForward
    attention_norm: Norm | None
    feedforward_norm: Norm | None
    cross_attention: Attention | None = None
    cross_norm: Norm | None = None
    arrangement: Arrangement = field(default_factory=Sequential)
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.probability(self, "dropout")
        if self.cross_attention is None and self.cross_norm is not None:
            raise SpecError(messages.CROSS_NORM_WITHOUT_CROSS)
        if isinstance(self.arrangement, Parallel):
            self._require_parallel_norms(self.arrangement.shared_norm)
        if self.cross_attention is not None:
            visibility, position = self.cross_attention.visibility, self.cross_attention.position
            if visibility != Full() or position is not None:
                raise SpecError(messages.CROSS_ATTENTION_SEES_ALL, found=f"{visibility}, {position}")

    def _require_parallel_norms(self, shared: bool) -> None:
        if self.cross_attention is not None:
            raise SpecError(messages.PARALLEL_HAS_NO_CROSS)
        if shared and (self.feedforward_norm is not None or self.attention_norm is None):
            raise SpecError(messages.PARALLEL_NORMS, shared=True, found=repr(self.feedforward_norm))

"""What each position computes alone: two matrices, a gated pair, or a choice among experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec import checks

Activation = Literal["relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh"]


@dataclass(frozen=True)
class Dense:
    """activation(x W_up + b) W_down + b (Vaswani et al. 2017 §3.3, arXiv 1706.03762).

    `dropout` falls between the two matrices.
    """

    width: int
    activation: Activation = "relu"
    bias: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "width")
        checks.one_of(self, "activation", Activation)
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class Gated:
    """(activation(x W_gate) ⊙ x W_up) W_down; SwiGLU with silu (Shazeer 2020, arXiv 2002.05202)."""

    width: int
    activation: Activation = "silu"
    bias: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "width")
        checks.one_of(self, "activation", Activation)
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class RouterGroups:
    """Experts in `count` groups of which a token keeps the `kept` best, judged by their best expert (DeepSeek-V2,
    arXiv 2405.04434) or by the sum of their best two (DeepSeek-V3, arXiv 2412.19437)."""

    count: int
    kept: int
    judged_by: Literal["best", "best_two"] = "best"

    def __post_init__(self) -> None:
        checks.positive(self, "count", "kept")
        checks.one_of(self, "judged_by", Literal["best", "best_two"])
        checks.require(self.kept <= self.count, self, "kept", messages.AT_MOST_COUNT, count=self.count)


@dataclass(frozen=True)
class SoftmaxRouter:
    """Weights by softmax over all experts `before` choosing (Qwen), or over the chosen ones `after` (Mixtral).

    `normalise` divides the chosen weights by their sum; `scale` multiplies them.
    """

    softmax: Literal["before", "after"] = "before"
    normalise: bool = False
    scale: float = 1.0
    groups: RouterGroups | None = None

    def __post_init__(self) -> None:
        checks.one_of(self, "softmax", Literal["before", "after"])
        checks.above_zero(self, "scale")


@dataclass(frozen=True)
class SigmoidRouter:
    """Weights by sigmoid; a learnt `selection_bias` sways the choice and not the weights (DeepSeek-V3 §2.1.2)."""

    selection_bias: bool = True
    normalise: bool = True
    scale: float = 1.0
    groups: RouterGroups | None = None

    def __post_init__(self) -> None:
        checks.above_zero(self, "scale")

    @property
    def order_alone(self) -> bool:
        """Whether the order of the sigmoids decides who is chosen, and their sizes do not: then the logits may."""
        return not self.selection_bias and (self.groups is None or self.groups.judged_by == "best")


Router = SoftmaxRouter | SigmoidRouter


@dataclass(frozen=True)
class Experts:
    """`active` of `count` experts a token, by a router (Shazeer et al. 2017, arXiv 1701.06538).

    `shared` reads every token beside them, behind a sigmoid gate with `shared_gate` (Qwen2-MoE). `balance_loss`
    weighs E · Σ fraction · probability in training (Switch Transformer §2.2, arXiv 2101.03961).
    """

    count: int
    active: int
    expert: Dense | Gated
    router: Router
    shared: Dense | Gated | None = None
    shared_gate: bool = False
    balance_loss: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "count", "active")
        groups = self.router.groups
        kept, total = (groups.kept, groups.count) if groups else (1, 1)
        reachable = self.count * kept // total if self.count % total == 0 else 0
        if self.active > reachable:
            raise SpecError(
                messages.EXPERTS_UNREACHABLE,
                active=self.active,
                reachable=reachable,
                kept=kept,
                groups=total,
                count=self.count,
            )
        if groups and groups.judged_by == "best_two":
            checks.require(self.count // total >= 2, groups, "count", messages.AT_MOST, limit=self.count // 2)
        shared = self.shared is not None
        checks.require(shared or not self.shared_gate, self, "shared_gate", messages.NO_GATE_WITHOUT_SHARED)
        checks.require(self.balance_loss >= 0, self, "balance_loss", messages.FROM_0)


FeedForward = Dense | Gated | Experts

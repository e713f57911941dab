"""What is known of a tensor on its way through a forward pass, and what is known of an attention when it has passed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor

Role = Literal["plain", "scores", "weights", "context"]
"""scores: query times key. weights: after the softmax. context: weights times values."""


Written = Literal["filled", "added", "fused", "multiplied", "after softmax"]
Stage = Literal["split", "merge", "between"]


@dataclass(frozen=True)
class Hiding:
    """One way in which keys are hidden: `written` as a fill, an addition, or the mask of a fused attention."""

    written: Written
    value: float | None
    """What a hidden score becomes, or gets added."""
    finite: bool = True
    zeros_and_ones: bool = False
    """A float mask of 0 and 1 that is added: a bias, and no mask."""


@dataclass(eq=False)
class Site:
    """One attention in one forward pass.

    `queries` and `keys` say, for each score, which token it belongs to (`origins`); `visible` says which scores count.
    """

    form: Literal["written", "fused"]
    place: str | None
    width: int
    """Features of a head: what query and key are summed over."""
    scale: float | None = 1.0
    """What the product is multiplied by up to the softmax; None where it is multiplied by a tensor."""
    normed: bool = False
    """Query or key are normalised after their projection, so that the scale is the model's own choice."""
    biased: bool = False
    """Something that is no mask is added to the scores."""
    axis: int | None = None
    """The softmax's axis, from the end; None before a softmax was seen."""
    key_axis: int = -1
    summing_to_one: bool | None = None
    """Whether the weights that values are multiplied by sum to one over the keys; None where they were changed."""
    queries: Tensor | None = None
    keys: Tensor | None = None
    visible: Tensor | None = None
    hidings: list[Hiding] = field(default_factory=list)
    dropout: float = 0.0
    is_causal: bool = False
    explicit_scale: bool = False
    """The scale was handed in as such, and so is meant."""
    query_length: int = 0
    key_length: int = 0


@dataclass(frozen=True)
class Trail:
    """`origin` numbers, in the tensor's own shape, the token to which each number belongs; None where it is lost.

    For scores and weights, `origin` is the query's and `keys` the key's.
    """

    role: Role = "plain"
    origin: Tensor | None = None
    keys: Tensor | None = None
    scale: float | None = 1.0
    normed: bool = False
    projected: bool = False
    """It came out of a projection: a norm after that is one of queries or keys."""
    pure: bool = True
    """Weights as the softmax gave them."""
    site: Site | None = None


@dataclass(frozen=True)
class Scrambling:
    """Numbers of several tokens stand in one vector, or tokens in an order that no transposition gives."""

    stage: Stage
    """split: on the way to query times key. merge: on the way from the attention. between: elsewhere."""
    place: str | None
    shape: tuple[int, ...]

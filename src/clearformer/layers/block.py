"""One layer: sublayers around a residual stream, with norms where the spec puts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from jaxtyping import Float
from torch import Tensor, nn

from clearformer.layers.attention import Attention
from clearformer.layers.cache import LayerCache
from clearformer.layers.dropout import Dropout
from clearformer.layers.experts import Experts, make_expert
from clearformer.layers.feedforward import Dense, Gated
from clearformer.layers.frame import Frame
from clearformer.layers.latent_attention import LatentAttention
from clearformer.layers.norm import make_norm
from clearformer.spec import AnyAttention, FeedForward, Norm, Parallel, Sequential
from clearformer.spec import Attention as AttentionSpec
from clearformer.spec import Block as BlockSpec
from clearformer.spec import Dense as DenseSpec
from clearformer.spec import Experts as ExpertsSpec
from clearformer.spec import Gated as GatedSpec
from clearformer.spec import LatentAttention as LatentAttentionSpec
from clearformer.taps import OFF, Tap

Sublayer = Callable[[Tensor], Tensor]


class Block(nn.Module):
    """`forward` is the diagram; where the norms stand is chosen once, by `_around`."""

    def __init__(
        self, width: int, spec: BlockSpec, *, memory_width: int | None = None, owns_bias: bool = False
    ) -> None:
        super().__init__()
        self.spec = spec
        self.attention = make_attention(width, spec.attention, owns_bias)
        self.feedforward = make_feedforward(width, spec.feedforward)
        self.dropout = Dropout(spec.dropout)
        self.attention_norm: nn.Module
        self.feedforward_norm: nn.Module
        self._add_norms("attention", width, spec.attention_norm)
        self._add_norms("feedforward", width, spec.feedforward_norm)
        self.cross_attention: Attention | None = None
        if spec.cross_attention is not None:
            self.cross_attention = Attention(width, spec.cross_attention, memory_width=memory_width)
            self._add_norms("cross", width, spec.cross_norm)

    def forward(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: LayerCache | None = None, tap: Tap = OFF
    ) -> Float[Tensor, "B T D"]:
        if isinstance(self.spec.arrangement, Parallel):
            x = x + self._in_parallel(x, frame, cache, tap)
            return tap("output", x)
        x = self._around("attention", x, lambda h: self.attention(h, frame, cache, tap.within("attention")), tap)
        if (cross := self.cross_attention) is not None:
            x = self._around("cross", x, lambda h: cross(h, frame, cache, tap.within("cross_attention")), tap)
        x = self._around("feedforward", x, lambda h: self.feedforward(h, frame, tap.within("feedforward")), tap)
        return tap("output", x)

    def _around(self, name: str, x: Float[Tensor, "B T D"], sublayer: Sublayer, tap: Tap) -> Float[Tensor, "B T D"]:
        """x + f(x) with its norm: before f, after the sum, on f's output, or on both of f's sides."""
        assert isinstance(self.spec.arrangement, Sequential)
        label, total = f"{name}_norm", f"{name}_sum"
        match self.spec.arrangement.placement:
            case "pre":
                return tap(total, x + self.dropout(sublayer(self._normed(label, x, tap))))
            case "post":
                return self._normed(label, tap(total, x + self.dropout(sublayer(x))), tap)
            case "branch":
                return tap(total, x + self.dropout(self._normed(label, sublayer(x), tap)))
            case "sandwich":
                answer = self._normed(f"{name}_output_norm", sublayer(self._normed(label, x, tap)), tap)
                return tap(total, x + self.dropout(answer))
            case _:
                assert_never(self.spec.arrangement.placement)

    def _normed(self, label: str, x: Float[Tensor, "B T D"], tap: Tap) -> Float[Tensor, "B T D"]:
        """x through the norm of that name; a place left empty is passed unheard."""
        norm: nn.Module = getattr(self, label)
        return x if isinstance(norm, nn.Identity) else tap(label, norm(x))

    def _in_parallel(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: LayerCache | None, tap: Tap
    ) -> Float[Tensor, "B T D"]:
        assert isinstance(self.spec.arrangement, Parallel)
        for_attention = self._normed("attention_norm", x, tap)
        shared = self.spec.arrangement.shared_norm
        for_feedforward = for_attention if shared else self._normed("feedforward_norm", x, tap)
        attended = self.attention(for_attention, frame, cache, tap.within("attention"))
        computed = self.feedforward(for_feedforward, frame, tap.within("feedforward"))
        return self.dropout(attended) + self.dropout(computed)

    def _add_norms(self, name: str, width: int, spec: Norm | None) -> None:
        setattr(self, f"{name}_norm", make_norm(width, spec))
        if self.spec.arrangement == Sequential("sandwich"):
            setattr(self, f"{name}_output_norm", make_norm(width, spec))


def make_attention(width: int, spec: AnyAttention, owns_bias: bool) -> Attention | LatentAttention:
    """The attention module of a spec."""
    match spec:
        case AttentionSpec():
            return Attention(width, spec, owns_bias=owns_bias)
        case LatentAttentionSpec():
            return LatentAttention(width, spec)


def make_feedforward(width: int, spec: FeedForward) -> Dense | Gated | Experts:
    """The feed-forward module of a spec."""
    match spec:
        case DenseSpec() | GatedSpec():
            return make_expert(width, spec)
        case ExpertsSpec():
            return Experts(width, spec)

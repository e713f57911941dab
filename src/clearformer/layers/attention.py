"""Multi-head attention, key/value heads shared by groups of query heads.

Vaswani et al. 2017 §3.2 (arXiv 1706.03762); Ainslie et al. 2023 (arXiv 2305.13245).
"""

from __future__ import annotations

from typing import assert_never

from jaxtyping import Float
from torch import Tensor, nn

from clearformer.layers.cache import LayerCache
from clearformer.layers.frame import Frame
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.norm import make_norm
from clearformer.layers.positions.distance_bias import DistanceBias
from clearformer.layers.positions.relative import RelativeBias
from clearformer.spec import ALiBi, Rotary
from clearformer.spec import Attention as AttentionSpec
from clearformer.spec import RelativeBias as RelativeBiasSpec
from clearformer.taps import OFF, Tap


def split_heads(x: Float[Tensor, "B T heads_width"], heads: int) -> Float[Tensor, "B heads T width"]:
    """Cut the last dimension into heads and bring them forward."""
    B, T, _ = x.shape
    return x.view(B, T, heads, -1).transpose(1, 2)


def merge_heads(x: Float[Tensor, "B heads T width"]) -> Float[Tensor, "B T heads_width"]:
    """The inverse of `split_heads`; the copy is needed, heads lie apart in memory."""
    return x.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Queries from x; keys and values from x, or from the encoder's memory when the layer is `cross`."""

    def __init__(
        self, width: int, spec: AttentionSpec, *, memory_width: int | None = None, owns_bias: bool = False
    ) -> None:
        super().__init__()
        self.spec = spec
        self.cross = memory_width is not None
        self.kernel: Kernel = "sdpa"
        source = width if memory_width is None else memory_width
        self.query = nn.Linear(width, spec.heads * spec.key_width, bias=spec.bias.query)
        self.key = nn.Linear(source, spec.kv_heads * spec.key_width, bias=spec.bias.key)
        self.value = nn.Linear(source, spec.kv_heads * spec.value_width, bias=spec.bias.value)
        self.output = nn.Linear(spec.heads * spec.value_width, width, bias=spec.bias.output)
        self.query_norm = self._head_norm(spec.heads)
        self.key_norm = self._head_norm(spec.kv_heads)
        owned = spec.position if isinstance(spec.position, RelativeBiasSpec) and owns_bias else None
        self.relative = RelativeBias(spec.heads, owned) if owned else None

    def forward(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: LayerCache | None = None, tap: Tap = OFF
    ) -> Float[Tensor, "B T D"]:
        query, key, value = self._recall(x, frame, cache) if self.cross else self.project(x)
        query, key, value = tap("query", query), tap("key", key), tap("value", value)
        if isinstance(self.spec.position, Rotary):
            turned = frame.rotation(self.spec.position, self.spec.key_width)
            query, key = tap("query_rotated", turned.turn(query)), tap("key_rotated", turned.turn(key))
        if cache is not None and not self.cross:
            key, value = cache.append(key, value)
        heads = attend(
            query,
            key,
            value,
            frame.memory_mask() if self.cross else frame.mask(self.spec.visibility),
            scale=self.spec.score_scale,
            bias=self._bias(frame),
            score_cap=self.spec.score_cap,
            dropout=self.spec.dropout if self.training else 0.0,
            kernel=self.kernel,
            tap=tap,
        )
        return tap("output", self.output(merge_heads(tap("heads", heads))))

    def _bias(self, frame: Frame) -> DistanceBias | None:
        match self.spec.position:
            case None | Rotary():
                return None
            case ALiBi():
                return frame.distance_penalty(self.spec.position, self.spec.heads)
            case RelativeBiasSpec(shared=shared):
                if self.relative is None:
                    return frame.shared_bias
                places = frame.query_positions, frame.key_positions
                bias = DistanceBias(self.spec.position, self.spec.heads, *places, frame.dtype, self.relative.weight)
                if shared:
                    frame.shared_bias = bias
                return bias
            case _:
                assert_never(self.spec.position)

    def project(self, x: Float[Tensor, "B T D"]) -> tuple[Tensor, Tensor, Tensor]:
        """Self-attention's queries (B H T K), keys (B G T K) and values (B G T U)."""
        return self.queries(self.query(x)), self.keys(self.key(x)), self.values(self.value(x))

    def queries(self, projected: Float[Tensor, "B T HK"]) -> Float[Tensor, "B H T K"]:
        return self._normed_heads(projected, self.query_norm, self.spec.heads)

    def keys(self, projected: Float[Tensor, "B S GK"]) -> Float[Tensor, "B G S K"]:
        return self._normed_heads(projected, self.key_norm, self.spec.kv_heads)

    def values(self, projected: Float[Tensor, "B S GU"]) -> Float[Tensor, "B G S U"]:
        return split_heads(projected, self.spec.kv_heads)

    def _recall(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: LayerCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of x for the memory's keys and values, computed at the first step and kept for the later ones."""
        assert frame.memory is not None
        kept = cache.memory if cache is not None else None
        if kept is None:
            states = frame.memory.states
            kept = self.keys(self.key(states)), self.values(self.value(states))
        if cache is not None:
            cache.memory = kept
        return self.queries(self.query(x)), *kept

    def _normed_heads(
        self, projected: Float[Tensor, "B T heads_width"], norm: nn.Module, heads: int
    ) -> Float[Tensor, "B heads T K"]:
        if self.spec.qk_norm is not None and self.spec.qk_norm.over == "projection":
            return split_heads(norm(projected), heads)
        return norm(split_heads(projected, heads))

    def _head_norm(self, heads: int) -> nn.Module:
        choice = self.spec.qk_norm
        if choice is None:
            return nn.Identity()
        width = self.spec.key_width * (heads if choice.over == "projection" else 1)
        return make_norm(width, choice.norm)

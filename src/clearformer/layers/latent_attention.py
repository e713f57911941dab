"""Multi-head latent attention: keys and values rebuilt from one small vector a token.

DeepSeek-V2 §2.1 (arXiv 2405.04434). The cache keeps that latent and one rotated key: Z + R numbers a token, whatever
the number of heads.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.layers.attention import merge_heads, split_heads
from clearformer.layers.cache import LayerCache
from clearformer.layers.frame import Frame
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.norm import make_norm
from clearformer.layers.positions.rotary import Rotation
from clearformer.spec import LatentAttention as LatentAttentionSpec
from clearformer.taps import OFF, Tap


class LatentAttention(nn.Module):
    """A head's query and key are [content K | rotary R]; the rotary part of the key is shared by all heads."""

    def __init__(self, width: int, spec: LatentAttentionSpec) -> None:
        super().__init__()
        self.spec = spec
        self.kernel: Kernel = "sdpa"
        queries = spec.heads * (spec.key_width + spec.rotary_width)
        if spec.query_rank is None:
            self.query = nn.Linear(width, queries, bias=False)
        else:
            self.query_down = nn.Linear(width, spec.query_rank, bias=spec.bias)
            self.query_norm = make_norm(spec.query_rank, spec.norm)
            self.query_up = nn.Linear(spec.query_rank, queries, bias=False)
        self.latent_down = nn.Linear(width, spec.kv_rank + spec.rotary_width, bias=spec.bias)
        self.latent_norm = make_norm(spec.kv_rank, spec.norm)
        self.latent_up = nn.Linear(spec.kv_rank, spec.heads * (spec.key_width + spec.value_width), bias=False)
        self.output = nn.Linear(spec.heads * spec.value_width, width, bias=spec.bias)

    def forward(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: LayerCache | None = None, tap: Tap = OFF
    ) -> Float[Tensor, "B T D"]:
        spec, turned = self.spec, frame.rotation(self.spec.rotary, self.spec.rotary_width)
        query = tap("query", split_heads(self._queries(x), spec.heads))
        query = tap("query_rotated", self._turn_tail(query, turned))

        latent, rotary_key = self.latent_down(x).split((spec.kv_rank, spec.rotary_width), -1)
        latent, rotary_key = self.latent_norm(latent)[:, None], rotary_key[:, None]
        if cache is None and tap.hears("key"):
            # The cache holds turned keys alone: unturned ones are there to be heard only where nothing is remembered.
            key, value = self._keys_and_values(latent, rotary_key)
            key = self._turn_tail(tap("key", key), turned)
        else:
            rotary_key = turned.turn(rotary_key)
            if cache is not None:
                latent, rotary_key = cache.append(latent, rotary_key)
            key, value = self._keys_and_values(latent, rotary_key)
        key, value = tap("key_rotated", key), tap("value", value)
        heads = attend(
            query,
            key,
            value,
            frame.mask(spec.visibility),
            scale=spec.score_scale,
            dropout=spec.dropout if self.training else 0.0,
            kernel=self.kernel,
            tap=tap,
        )
        return tap("output", self.output(merge_heads(tap("heads", heads))))

    def _turn_tail(self, x: Float[Tensor, "B H T KR"], turned: Rotation) -> Float[Tensor, "B H T KR"]:
        content, rotary = x.split((self.spec.key_width, self.spec.rotary_width), -1)
        return torch.cat((content, turned.turn(rotary)), -1)

    def _queries(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T heads_width"]:
        if self.spec.query_rank is None:
            return self.query(x)
        return self.query_up(self.query_norm(self.query_down(x)))

    def _keys_and_values(
        self, latent: Float[Tensor, "B 1 S Z"], rotary_key: Float[Tensor, "B 1 S R"]
    ) -> tuple[Float[Tensor, "B H S KR"], Float[Tensor, "B H S U"]]:
        """What a token's latent stands for: each head's content key and value, the rotary key joined to all of them."""
        spec = self.spec
        rebuilt = split_heads(self.latent_up(latent[:, 0]), spec.heads)
        content, value = rebuilt.split((spec.key_width, spec.value_width), -1)
        return torch.cat((content, rotary_key.expand(-1, spec.heads, -1, -1)), -1), value

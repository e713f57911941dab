"""One layer: attention, perhaps to a memory too, then the feed-forward network, each added to the residual stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, assert_never

import numpy as np
from jaxtyping import Bool, Float

from clearformer.reference.attention import attention
from clearformer.reference.cache import Remember, forget
from clearformer.reference.feedforward import feedforward
from clearformer.reference.frame import Frame, memory_frame
from clearformer.reference.latent_attention import latent_attention
from clearformer.reference.norm import norm
from clearformer.reference.weights import Weights
from clearformer.spec import Attention, Block, LatentAttention, Parallel, Placement, Sequential
from clearformer.taps import OFF, Tap

Stream = Float[np.ndarray, "B T D"]
Name = Literal["attention", "cross", "feedforward"]


@dataclass(frozen=True)
class Memory:
    """What an encoder hands to a decoder: its last states, and which of them are real."""

    states: Float[np.ndarray, "B S D"]
    real: Bool[np.ndarray, "B S"]


@dataclass(frozen=True)
class Layer:
    """A block's sublayers, with all that they read besides the residual stream.

    `relative` is the table of a T5 bias; `remember` keeps keys and values, `remember_memory` those of the memory.
    """

    spec: Block
    weights: Weights
    frame: Frame
    memory: Memory | None = None
    relative: Float[np.ndarray, "buckets H"] | None = None
    remember: Remember = forget
    remember_memory: Remember = forget
    tap: Tap = OFF

    def attend(self, x: Stream) -> Stream:
        weights, tap = self.weights.within("attention"), self.tap.within("attention")
        match spec := self.spec.attention:
            case Attention():
                return attention(
                    spec, weights, x, x, self.frame, relative=self.relative, remember=self.remember, tap=tap
                )
            case LatentAttention():
                return latent_attention(spec, weights, x, self.frame, remember=self.remember, tap=tap)
            case _:
                assert_never(spec)

    def look(self, x: Stream) -> Stream:
        """Attention to the memory."""
        weights, tap = self.weights.within("cross_attention"), self.tap.within("cross_attention")
        spec, memory = self.spec.cross_attention, self.memory
        assert spec is not None
        assert memory is not None
        frame = memory_frame(self.frame, memory.real)
        return attention(spec, weights, x, memory.states, frame, remember=self.remember_memory, tap=tap)

    def feed(self, x: Stream) -> Stream:
        return feedforward(self.spec.feedforward, self.weights.within("feedforward"), x, self.tap.within("feedforward"))

    def norm(self, name: Name, x: Stream, *, output: bool = False) -> Stream:
        """The norm at a sublayer, or the second one that a sandwich puts on its output."""
        kinds = {
            "attention": self.spec.attention_norm,
            "cross": self.spec.cross_norm,
            "feedforward": self.spec.feedforward_norm,
        }
        if kinds[name] is None:
            return x
        label = f"{name}_output_norm" if output else f"{name}_norm"
        return self.tap(label, norm(kinds[name], self.weights.within(label), x))

    def add(self, name: Name, x: Stream, answer: Stream) -> Stream:
        """The residual stream after a sublayer."""
        return self.tap(f"{name}_sum", x + answer)


def block(layer: Layer, x: Stream) -> Stream:
    """The paper's figure 1, from bottom to top, in the arrangement that the spec names."""
    match layer.spec.arrangement:
        case Sequential(placement=placement):
            x = residual(layer, x, layer.attend, "attention", placement)
            if layer.spec.cross_attention is not None:
                x = residual(layer, x, layer.look, "cross", placement)
            return layer.tap("output", residual(layer, x, layer.feed, "feedforward", placement))
        case Parallel(shared_norm=shared):
            attention_reads = layer.norm("attention", x)
            feedforward_reads = attention_reads if shared else layer.norm("feedforward", x)
            return layer.tap("output", x + layer.attend(attention_reads) + layer.feed(feedforward_reads))
        case _:
            assert_never(layer.spec.arrangement)


def residual(layer: Layer, x: Stream, sublayer: Callable[[Stream], Stream], name: Name, placement: Placement) -> Stream:
    """x and what the sublayer adds to it, with the norm in its place."""
    match placement:
        case "pre":
            return layer.add(name, x, sublayer(layer.norm(name, x)))
        case "post":
            return layer.norm(name, layer.add(name, x, sublayer(x)))
        case "branch":
            return layer.add(name, x, layer.norm(name, sublayer(x)))
        case "sandwich":
            return layer.add(name, x, layer.norm(name, sublayer(layer.norm(name, x)), output=True))
        case _:
            assert_never(placement)

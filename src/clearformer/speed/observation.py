"""Which products and attentions a training step is made of: seen by running one, so that every task is alike."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.layers.attention import Attention
from clearformer.layers.frame import Frame
from clearformer.layers.latent_attention import LatentAttention
from clearformer.spec import Causal


@dataclass(frozen=True)
class Attended:
    """One attention's sizes, and what its mask is made of: `padded` and `documents` need a table a row;
    `window` is that of causal attention, where it hides something."""

    B: int
    H: int
    G: int
    T: int
    S: int
    K: int
    U: int
    causal: bool
    padded: bool
    documents: bool
    dropout: float
    window: int | None = None


@dataclass
class Observed:
    """One step: how often each product (rows, inputs, outputs) and attention came, and the seconds it took."""

    products: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    attentions: Counter[Attended] = field(default_factory=Counter)
    seconds: float = 0.0


def observe(model: nn.Module, step: Callable[[], object]) -> Observed:
    """Run `step`, one forward and backward pass of the model, and note what it computes."""
    seen = Observed()
    with _listening(model, seen):
        start = time.perf_counter()
        step()
        seen.seconds = time.perf_counter() - start
    return seen


@contextmanager
def _listening(model: nn.Module, seen: Observed) -> Iterator[None]:
    def product(module: nn.Module, given: tuple[Any, ...]) -> None:
        assert isinstance(module, nn.Linear)
        seen.products[given[0].numel() // module.in_features, module.in_features, module.out_features] += 1

    def attention(module: nn.Module, given: tuple[Any, ...]) -> None:
        assert isinstance(module, Attention | LatentAttention)
        seen.attentions[attended(module, given[0], given[1])] += 1

    handles = []
    for module in model.modules():
        if isinstance(module, nn.Linear):
            handles.append(module.register_forward_pre_hook(product))
        elif isinstance(module, Attention | LatentAttention):
            handles.append(module.register_forward_pre_hook(attention))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def attended(module: Attention | LatentAttention, x: Tensor, frame: Frame) -> Attended:
    """The sizes of the attention that the module will compute."""
    B, T, _ = x.shape
    S, real, spec = T, frame.key_real, module.spec
    G, K, cross = spec.heads, spec.key_width, False
    if isinstance(module, Attention):
        G, cross = module.spec.kv_heads, module.cross
    else:
        K += module.spec.rotary_width
    if cross:
        assert frame.memory is not None
        S, real = frame.memory.states.shape[1], frame.memory.real
    causal = not cross and frame.mask(spec.visibility).is_plain_causal
    documents = not cross and frame.documents is not None
    window = None if cross or not isinstance(spec.visibility, Causal) else spec.visibility.window
    about = causal, real is not None, documents, spec.dropout, window if window is not None and window < S else None
    return Attended(B, spec.heads, G, T, S, K, spec.value_width, *about)


@contextmanager
def undone(model: nn.Module) -> Iterator[None]:
    """Trials leave nothing behind: no gradients, and the random numbers as they were."""
    with torch.random.fork_rng():
        try:
            yield
        finally:
            model.zero_grad(set_to_none=True)

"""spec → PyTorch modules."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import nn

from clearformer import spec as specs
from clearformer.layers.init import draw
from clearformer.model import DecoderOnly, EncoderDecoder, EncoderOnly, Model, TwoTowers


def build(
    spec: specs.Spec,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    generator: torch.Generator | None = None,
) -> Model:
    """The model of a spec with freshly drawn weights, in training mode."""
    model = empty(spec).to(dtype).to_empty(device=device)
    _initialise(model, generator)
    return model


def empty(spec: specs.Spec) -> Model:
    """The model of a spec without memory for its weights: on the meta device, for counting or for loading into."""
    with torch.device("meta"):
        return make(spec)


def make(spec: specs.Spec) -> Model:
    """The module of each architecture."""
    match spec:
        case specs.DecoderOnly():
            return DecoderOnly(spec)
        case specs.EncoderOnly():
            return EncoderOnly(spec)
        case specs.EncoderDecoder():
            return EncoderDecoder(spec)
        case specs.TwoTowers():
            return TwoTowers(spec)
        case _:
            assert_never(spec)


def _initialise(model: Model, generator: torch.Generator | None) -> None:
    if isinstance(model, TwoTowers):
        _initialise(model.text, generator)
        _initialise(model.image, generator)
        nn.init.constant_(model.scale, model.spec.initial_scale)
        return
    stacks = [model.encoder, model.decoder] if isinstance(model, EncoderDecoder) else [model.stack]
    layers = sum(len(stack.blocks) for stack in stacks)
    draw(model, model.spec.initial, layers=layers, generator=generator)

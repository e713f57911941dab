"""Activations computed again in the backward pass: the same bits, less memory."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.layers.stack import Stack
from clearformer.loss import cross_entropy
from drawing.built import drawn
from drawing.small import D, V, block, decoder, experts, translator

IDS = torch.arange(24).view(2, 12) % V


def dropping() -> s.DecoderOnly:
    layer = block(
        s.Causal(), attention=s.Attention(2, 1, 4, 4, dropout=0.3), feedforward=s.Gated(10, dropout=0.2), dropout=0.1
    )
    return s.DecoderOnly(s.Stack(D, s.Tokens(V, dropout=0.1), (layer,) * 3), s.Language(), context=16)


def sharing() -> s.DecoderOnly:
    relative = s.RelativeBias(8, 16, two_sided=False, shared=True)
    layer = block(s.Causal(), attention=s.Attention(2, 2, 4, 4, position=relative))
    return decoder(layer, layer)


def mixing() -> s.DecoderOnly:
    layer = block(s.Causal(), feedforward=s.Experts(4, 2, s.Gated(6), s.SoftmaxRouter(), balance_loss=0.01))
    return decoder(layer, layer, block(s.Causal(), feedforward=experts(s.SigmoidRouter())))


def one_step(spec: s.Spec, *, recompute: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Balance losses and gradients of one training step."""
    model = drawn(spec, 1).train()
    for module in model.modules():
        if isinstance(module, Stack):
            module.recompute = recompute
    losses: list[Tensor] = []
    torch.manual_seed(7)
    given = (IDS, IDS) if isinstance(spec, s.EncoderDecoder) else (IDS,)
    total = cross_entropy(model(*given, losses=losses), IDS.roll(-1, 1)).total
    noted = list(losses)
    (total + sum(losses)).backward()
    assert len(losses) == len(noted), "the backward pass notes nothing again"
    gradients = [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]
    return [total, *noted], gradients


@pytest.mark.parametrize("make", [dropping, sharing, mixing, translator])
def test_recomputed_gradients_are_the_same_bits(make) -> None:
    plain, again = one_step(make(), recompute=False), one_step(make(), recompute=True)
    for before, after in zip(plain, again, strict=True):
        assert len(before) == len(after)
        assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert any(gradient.abs().max() > 1e-3 for gradient in again[1])


def test_only_the_blocks_inputs_are_kept() -> None:
    def kept(recompute: bool) -> int:
        model = drawn(dropping(), 1).train()
        model.decoder.recompute = recompute
        numbers = 0

        def pack(x: Tensor) -> Tensor:
            nonlocal numbers
            numbers += x.numel()
            return x

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
            model.decoder.read_tokens(IDS)
        return numbers

    assert kept(True) < kept(False) / 3


def test_evaluation_computes_nothing_twice() -> None:
    model = drawn(dropping(), 1).eval()
    calls = []
    model.decoder.blocks[0].register_forward_hook(lambda *_: calls.append(1))
    model.decoder.recompute = True
    model(IDS).sum().backward()
    assert len(calls) == 1

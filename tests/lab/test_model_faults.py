"""Faults put in from outside, each against the same computation written out; and that they follow a copied model."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch

from clearformer.build import build
from clearformer.lab.edits import with_attention
from clearformer.lab.faults import no_mask, no_residual
from clearformer.layers.frame import Frame
from clearformer.model import DecoderOnly
from clearformer.spec import Causal
from clearformer.spec.presets import modern_decoder, tiny_gpt

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 9, 3]])


def gpt(**changes: object) -> DecoderOnly:
    spec = tiny_gpt(width=32, heads=4, layers=3, vocabulary=10, context=8)
    model = build(with_attention(spec, **changes), generator=torch.Generator().manual_seed(1))
    assert isinstance(model, DecoderOnly)
    # Weights as they are drawn move a stream too little to tell one fault from another.
    for weight in model.parameters():
        weight.data *= 4
    return model


def test_without_a_mask_all_is_prefix() -> None:
    """A prefix as long as the text lifts the mask as well, in the spec's own words."""
    faulty, open_ = gpt(), gpt(visibility=Causal(prefix=True))
    masked = faulty(IDS)
    no_mask(faulty)
    expected = open_(IDS, prefix=torch.tensor([8, 8]))
    torch.testing.assert_close(faulty(IDS), expected, rtol=1e-5, atol=1e-5)
    assert not torch.allclose(masked, expected, atol=1e-2)


def test_without_a_residual_each_sublayer_is_all_there_is() -> None:
    faulty = gpt()
    stream = faulty.stack.embed(IDS, torch.arange(8)[None], None)
    frame = Frame(
        torch.arange(8)[None], torch.arange(8)[None], None, True, torch.tensor([8]), torch.float32
    )  # fmt: skip
    for block in faulty.stack.blocks:
        stream = block.attention(block.attention_norm(stream), frame)
        stream = block.feedforward(block.feedforward_norm(stream), frame)
    expected = faulty.logits(faulty.stack.final_norm(stream))
    sound = faulty(IDS)
    no_residual(faulty)
    torch.testing.assert_close(faulty(IDS), expected, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(sound, expected, atol=1e-2)


def test_without_a_residual_no_gradient_takes_the_short_way() -> None:
    """A sublayer that gives nothing lets nothing back, where a stream would have passed it by."""
    largest = []
    for break_ in (lambda model: None, no_residual):
        model = gpt()
        break_(model)
        torch.nn.init.zeros_(model.stack.blocks[1].attention.output.weight)
        model(IDS).square().sum().backward()
        gradient = model.stack.blocks[0].attention.query.weight.grad
        assert gradient is not None
        largest.append(float(gradient.abs().max()))
    assert largest[0] > 0
    assert largest[1] == 0


@pytest.mark.parametrize("fault", [no_mask, no_residual])
def test_a_copy_has_the_fault_and_its_own_weights(fault: object) -> None:
    faulty = gpt()
    fault(faulty)  # type: ignore[operator]
    copied = deepcopy(faulty)
    torch.testing.assert_close(copied(IDS), faulty(IDS))
    with torch.no_grad():
        copied.stack.embed.token.weight.zero_()
    assert not torch.allclose(copied(IDS), faulty(IDS))


@pytest.mark.parametrize("fault", [no_mask, no_residual])
def test_every_pass_is_the_same_pass(fault: object) -> None:
    model = build(modern_decoder(width=32, heads=4, kv_heads=2, hidden=32, layers=2, vocabulary=10, context=8))
    fault(model)  # type: ignore[operator]
    torch.testing.assert_close(model(IDS), model(IDS))
    torch.testing.assert_close(model(IDS[:1]), model(IDS)[:1], rtol=1e-5, atol=1e-5)

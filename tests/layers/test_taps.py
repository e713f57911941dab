"""Reading at a tap changes nothing, bit for bit; what a tap returns is what the model goes on with."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.model import DecoderOnly, Model
from clearformer.taps import OFF, Listening, record
from drawing.built import drawn
from drawing.small import SPECS, inputs

IDS = torch.tensor([[3, 8, 1, 6], [2, 2, 9, 0]])


@pytest.mark.parametrize("name", SPECS)
def test_reading_changes_nothing(name: str) -> None:
    model = drawn(SPECS[name], 1)
    data = [torch.from_numpy(each) for each in inputs(SPECS[name], np.random.default_rng(1))]
    seen, tap = record()
    with torch.no_grad():
        assert torch.equal(model(*data, tap=tap), model(*data))
    assert seen


def model_of() -> DecoderOnly:
    attention = s.Attention(2, 1, 4, 4, position=s.Rotary())
    block = s.Block(attention, s.Gated(16), s.RMSNorm(), s.RMSNorm())
    spec = s.DecoderOnly(s.Stack(8, s.Tokens(11), (block,) * 2, s.RMSNorm()), s.Language(), context=16)
    model = drawn(spec, 1)
    assert isinstance(model, DecoderOnly)
    return model


def test_every_point_of_a_decoder_is_passed_once_in_its_order() -> None:
    passed: list[str] = []
    model_of()(IDS, tap=Listening(lambda name, value: passed.append(name)))
    assert max(Counter(passed).values()) == 1
    attention = ("query", "key", "value", "query_rotated", "key_rotated")
    attention += ("scores", "masked_scores", "weights", "heads", "output")
    block = [
        "attention_norm",
        *(f"attention.{name}" for name in attention),
        "attention_sum",
        "feedforward_norm",
        *(f"feedforward.{name}" for name in ("gate", "hidden", "output")),
        "feedforward_sum",
        "output",
    ]
    inside = [f"blocks.{index}.{name}" for index in range(2) for name in block]
    assert passed == [f"decoder.{name}" for name in ("embed", *inside, "final_norm")] + ["head.logits"]


def edited(model: Model, point: str, edit: dict[str, Tensor]) -> Tensor:
    tap = Listening(lambda name, value: edit[point] if name == point else None)
    with torch.no_grad():
        return model(IDS, tap=tap)


def test_edited_weights_change_the_answer_as_by_hand() -> None:
    """Every query of layer 0 made to look at the first key alone: its heads are the first value."""
    model, point = model_of(), "decoder.blocks.0.attention.weights"
    first = torch.zeros(2, 2, 4, 4, dtype=torch.float64)
    first[..., 0] = 1
    seen, _ = record()
    keep = Listening(lambda name, value: (seen.update({name: value}), first if name == point else None)[1])
    with torch.no_grad():
        model(IDS, tap=keep)
        value = seen["decoder.blocks.0.attention.value"][:, :, :1]
        torch.testing.assert_close(seen["decoder.blocks.0.attention.heads"], value.expand(2, 2, 4, 4))
        block = model.decoder.blocks[0]
        x = seen["decoder.embed"] + block.attention.output(value.expand(2, 2, 4, 4).transpose(1, 2).flatten(2))
        mlp, h = block.feedforward, block.feedforward_norm(x)
        x = x + mlp.down(torch.nn.functional.silu(mlp.gate(h)) * mlp.up(h))
    torch.testing.assert_close(seen["decoder.blocks.0.output"], x)


def test_edited_scores_are_masked_and_normalised_after_the_edit() -> None:
    seen, _ = record()
    point = "decoder.blocks.1.attention.scores"
    flat = Listening(lambda name, value: (seen.update({name: value}), value * 0 if name == point else None)[1])
    with torch.no_grad():
        model_of()(IDS, tap=flat)
    expected = torch.ones(4, 4, dtype=torch.float64).tril()
    expected = expected / expected.sum(-1, keepdim=True)
    torch.testing.assert_close(seen["decoder.blocks.1.attention.weights"], expected.expand(2, 2, 4, 4))


@pytest.mark.parametrize("point", ["embed", "blocks.0.output", "blocks.1.feedforward.output", "final_norm"])
def test_an_edit_anywhere_reaches_the_answer(point: str) -> None:
    model = model_of()
    seen, tap = record(f"decoder.{point}")
    with torch.no_grad():
        plain = model(IDS, tap=tap)
    (value,) = seen.values()
    same = edited(model, f"decoder.{point}", {f"decoder.{point}": value.clone()})
    assert torch.equal(same, plain)
    other = edited(model, f"decoder.{point}", {f"decoder.{point}": value * 1.5 + 1})
    assert (other - plain).abs().max() > 1e-3


def test_off_is_off() -> None:
    value = torch.ones(2)
    assert OFF("anything", value) is value
    assert OFF.within("blocks.0") is OFF
    assert not OFF.on

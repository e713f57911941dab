"""Averages against their definitions, and a model that takes its own weights back."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

from clearformer.build import build
from clearformer.spec.presets import tiny_gpt
from clearformer.speed.training import Choices
from clearformer.train.apart import looked_at
from clearformer.train.average import copied, make_average
from clearformer.train.recipe import EMA, Checkpoints


def linear(value: float) -> nn.Linear:
    model = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(model.weight, value)
    return model


def test_an_exponential_average_by_hand() -> None:
    model = linear(4.0)
    average, expected = make_average(EMA(0.5), model), 4.0
    for step, value in enumerate([1.0, 2.0, 7.0, 3.0, 9.0], 1):
        nn.init.constant_(model.weight, value)
        average.stepped(model, step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * value
    assert average.weights(model)["weight"].item() == pytest.approx(expected)
    assert model.weight.item() == 9.0


def test_the_mean_of_the_last_evaluations() -> None:
    model = linear(0.0)
    average = make_average(Checkpoints(3), model)
    seen = []
    for value in [1.0, 2.0, 6.0, 10.0]:
        nn.init.constant_(model.weight, value)
        average.stepped(model, 1)
        seen.append(average.weights(model)["weight"].item())
        assert average.weights(model)["weight"].item() == seen[-1], "looking twice changes nothing"
        average.evaluated(model)
    assert seen == [1.0, 1.5, 3.0, 6.0]


@pytest.mark.parametrize("choice", [None, EMA(0.9), Checkpoints(1), Checkpoints(3)], ids=str)
def test_a_state_goes_out_and_comes_back(choice: EMA | Checkpoints | None) -> None:
    model = linear(1.0)
    old = make_average(choice, model)
    for value in (3.0, 5.0, 8.0):
        nn.init.constant_(model.weight, value)
        old.stepped(model, 4)
        old.evaluated(model)
    new = make_average(choice, model)
    new.restore({name: tensor.clone() for name, tensor in old.tensors().items()})
    nn.init.constant_(model.weight, 11.0)
    for average in (old, new):
        average.stepped(model, 5)
    assert torch.equal(old.weights(model)["weight"], new.weights(model)["weight"])


def test_a_look_leaves_no_trace_even_if_it_fails() -> None:
    model = build(tiny_gpt(width=8, heads=2, layers=1, vocabulary=7, context=8, dropout=0.5))
    twin, own, state = deepcopy(model), copied(model), torch.get_rng_state()
    ids = torch.arange(4)[None]

    def fail() -> None:
        with looked_at(twin, {name: 0 * tensor for name, tensor in own.items()}, Choices(dtype="bfloat16")):
            assert not twin(ids).any()
            assert twin(ids).dtype == torch.float32
            assert not twin(ids).requires_grad
            torch.rand(9)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert model.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(own[name], weight) for name, weight in model.named_parameters())

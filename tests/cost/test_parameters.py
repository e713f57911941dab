"""Parameters are those of the model that is built, and the figures that papers give."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from clearformer import spec as s
from clearformer.build import empty
from clearformer.cost.parameters import parameters
from clearformer.spec.presets import PRESETS, modern_decoder, transformer_base
from cost.known import GPT2
from cost.written import worked_out
from drawing.models import any_spec
from drawing.small import SPECS, decoder, experts


def held(spec: s.Spec) -> int:
    return sum(weight.numel() for weight in empty(spec).parameters())


@given(any_spec)
@settings(max_examples=40)
def test_drawn_specs_have_the_parameters_of_their_models(spec: s.Spec) -> None:
    found = parameters(spec)
    assert found.total == held(spec)
    assert found.active <= found.total
    for formula in found.by_part.values():
        assert worked_out(formula.numbers) == formula.value


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_the_parameters_of_their_models(name: str) -> None:
    assert parameters(PRESETS[name]()).total == held(PRESETS[name]())


@pytest.mark.parametrize("name", SPECS)
def test_parts_are_those_of_the_modules(name: str) -> None:
    """Attention's formula counts what lies in modules of that name, and so with each part inside a block."""
    model, found = empty(SPECS[name]), parameters(SPECS[name]).by_part

    def inside(part: str) -> int:
        return sum(
            weight.numel()
            for key, weight in model.named_parameters()
            if f".{part}." in key and "norm" not in key and ".router." not in key
        )

    for part in ("attention", "cross_attention", "feedforward"):
        counted = sum(formula.value for key, formula in found.items() if key.rpartition(".")[2] == part)
        assert counted == inside(part)


def test_gpt2_without_biases() -> None:
    assert parameters(GPT2).total == 124_337_664


def test_the_papers_base_model() -> None:
    """The paper rounds to 65 million; its formulas give 62.98 million without biases and norms."""
    found = parameters(transformer_base())
    assert found.plain == 62_984_192
    assert found.total == 63_045_632 == held(transformer_base())


def test_one_token_makes_use_of_the_chosen_experts_alone() -> None:
    mixture = experts(s.SoftmaxRouter())
    spec = decoder(*[s.Block(s.Attention(2, 2, 4, 4), mixture, None, None)] * 3)
    one = 3 * 3 * 8 * 6
    assert parameters(spec).total - parameters(spec).active == (mixture.count - mixture.active) * one


def test_a_tied_head_is_no_parameter_and_an_untied_one_is() -> None:
    tied = modern_decoder(width=64, heads=2, kv_heads=1, layers=1, vocabulary=100)
    untied = replace(tied, head=s.Language(tied=False))
    assert parameters(untied).total - parameters(tied).total == 64 * 100
    assert "head" not in parameters(tied).by_part

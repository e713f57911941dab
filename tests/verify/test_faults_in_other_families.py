"""Fused projections, norms of queries and keys, two stacks, mixtures: the same faults in models of other shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from clearformer.load import Loaded, load
from clearformer.spec import LayerNorm, RMSNorm
from clearformer.verify.places import rewritten
from clearformer.verify.verifying import verify
from parity.conftest import draw
from parity.saved_models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """A model of the family in float64, and its path, so that the reference reads the file as it was."""

    def make(name: str) -> Loaded:
        kind, config = MODELS[name]
        model = kind(config)
        draw(model, seed=3)
        folder = tmp_path_factory.mktemp("family") / name
        model.save_pretrained(folder)
        return load(folder, dtype=torch.float64)

    return make


def transposed(name: str) -> Any:
    def change(model: Loaded) -> Loaded:
        for each, value in model.model.named_parameters():
            if each.endswith(f"{name}.weight"):
                value.copy_(value.t().clone())
        return model

    return change


def norms_one_more(model: Loaded) -> Loaded:
    for name, value in model.model.named_parameters():
        if name.endswith("norm.weight"):
            value += 1
    return model


def swapped(model: Loaded) -> Loaded:
    weights = dict(model.model.named_parameters())
    for name, gate in weights.items():
        if name.endswith(".gate.weight"):
            up = weights[name.replace(".gate.", ".up.")]
            kept = gate.clone()
            gate.copy_(up)
            up.copy_(kept)
    return model


def without_offset(model: Loaded) -> Loaded:
    """Gemma's norms read as Llama's."""
    spec = rewritten(model.spec, RMSNorm, lambda norm: replace(norm, unit_offset=False))
    return replace(model, spec=spec)


def wrong_eps(model: Loaded) -> Loaded:
    spec = rewritten(model.spec, (LayerNorm, RMSNorm), lambda norm: replace(norm, eps=1e-2))
    return replace(model, spec=spec)


_CROSS, _IMAGE = "decoder.blocks.1.cross_attention.output", "image.encoder.blocks.1.attention.value"
CASES = {
    "gpt2": (transposed("attention.output"), "transposed_linear", "decoder.blocks.0.attention.output"),
    "bert_masked": (transposed("attention.key"), "transposed_linear", "encoder.blocks.0.attention.key"),
    "t5_gated": (swapped, "gate_up_swapped", "encoder.blocks.0.feedforward.gate"),
    "bart": (
        transposed("decoder.blocks.1.cross_attention.output"),
        "transposed_linear",
        "decoder.blocks.1.cross_attention.output",
    ),
    "clip": (
        transposed("image.encoder.blocks.1.attention.value"),
        "transposed_linear",
        "image.encoder.blocks.1.attention.value",
    ),
    "qwen3": (norms_one_more, "norm_offset", "decoder.blocks.0.attention_norm"),
    "mixtral": (swapped, "gate_up_swapped", "decoder.blocks.0.output"),
    "gemma2": (without_offset, "norm_offset", "decoder.blocks.0.attention_norm"),
    "modernbert": (wrong_eps, "norm_eps", "encoder.embed.norm"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_named(loaded, name) -> None:
    change, named, first = CASES[name]
    with torch.no_grad():
        wrong = change(loaded(name))
    found = verify(wrong, against="hf")
    assert (found.verdict, found.hypothesis, found.first_difference) == ("bug", named, first)

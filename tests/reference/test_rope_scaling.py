"""Frequencies against those of transformers, for each way of scaling, below and above the original length."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from clearformer.reference.positions.rope_scaling import frequencies
from clearformer.spec import DynamicNTK, LinearScaling, Llama3Scaling, LongRoPE, Rotary, YaRN

WIDTH, BASE = 16, 50000.0
SHORT, LONG = tuple(np.linspace(1, 2, 8).tolist()), tuple(np.linspace(1.5, 30, 8).tolist())

CASES = {
    "linear": (LinearScaling(4.0), {"rope_type": "linear", "factor": 4.0}),
    "dynamic": (DynamicNTK(3.0, 64), {"rope_type": "dynamic", "factor": 3.0}),
    "yarn": (
        YaRN(8.0, 64),
        {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64},
    ),
    "yarn-set": (
        YaRN(2.0, 4096, beta_fast=16.0, beta_slow=2.0, attention_factor=0.7),
        {
            "rope_type": "yarn",
            "factor": 2.0,
            "original_max_position_embeddings": 4096,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
            "attention_factor": 0.7,
        },
    ),
    "yarn-whole": (
        YaRN(8.0, 512, truncate=False),
        {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512, "truncate": False},
    ),
    "llama3": (
        Llama3Scaling(8.0, 256, 1.0, 4.0),
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 256,
        },
    ),
    "longrope": (
        LongRoPE(SHORT, LONG, 64, 1.3),
        {
            "rope_type": "longrope",
            "factor": 8.0,
            "attention_factor": 1.3,
            "short_factor": list(SHORT),
            "long_factor": list(LONG),
            "original_max_position_embeddings": 64,
        },
    ),
}


@pytest.mark.parametrize("length", [10, 64, 65, 500])
@pytest.mark.parametrize("name", CASES)
def test_scaling_is_that_of_transformers(name: str, length: int) -> None:
    scaling, parameters = CASES[name]
    config = LlamaConfig(
        hidden_size=2 * WIDTH,
        num_attention_heads=2,
        max_position_embeddings=64,
        rope_parameters=parameters | {"rope_theta": BASE},
    )
    theirs, factor = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, torch.device("cpu"), seq_len=length)
    ours, our_factor = frequencies(Rotary(BASE, scaling=scaling), WIDTH, length)
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=2e-6)
    assert our_factor == pytest.approx(factor)


def test_no_scaling_is_the_paper() -> None:
    ours, factor = frequencies(Rotary(), WIDTH, 10)
    np.testing.assert_allclose(ours, [10000 ** (-2 * i / WIDTH) for i in range(WIDTH // 2)])
    assert factor == 1.0


@pytest.mark.parametrize("scaling", [DynamicNTK(3.0, 64), LongRoPE(SHORT, LONG, 64, 1.3)])
def test_only_the_declared_length_matters(scaling) -> None:
    """One table a sequence: the same up to the original length, another past it."""
    spec = Rotary(BASE, scaling=scaling)
    at, below, above = (frequencies(spec, WIDTH, length)[0] for length in (64, 1, 200))
    np.testing.assert_array_equal(at, below)
    assert np.abs(above - at).max() > 1e-3 * at.max()


def test_one_pair_has_nothing_to_stretch() -> None:
    np.testing.assert_array_equal(frequencies(Rotary(scaling=DynamicNTK(2.0, 8)), 2, 100)[0], [1.0])

"""Llama as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
CHOICES: dict[str, dict[str, Any]] = {
    "grouped": {},
    "multi_head_tied": {"num_key_value_heads": 6, "tie_word_embeddings": True},
    "multi_query": {"num_key_value_heads": 1},
    "biases": {"attention_bias": True, "mlp_bias": True},
    "wide_heads": {"head_dim": 16},
    "narrow_heads": {"head_dim": 4, "num_attention_heads": 8},
    "gelu": {"hidden_act": "gelu_pytorch_tanh"},
    "eps": {"rms_norm_eps": 0.1},
}
SHORT = {"original_max_position_embeddings": 16}
ROPES: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default", "rope_theta": 500.0},
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, **SHORT},
    "yarn_spelt_out": {
        "rope_type": "yarn",
        "factor": 3.0,
        "beta_fast": 2.0,
        "beta_slow": 0.5,
        "attention_factor": 1.4,
        "truncate": False,
        **SHORT,
    },
    "yarn_mscale": {"rope_type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.5, **SHORT},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **SHORT},
    "longrope": {
        "rope_type": "longrope",
        "short_factor": [1.0, 1.1, 1.3, 1.7, 1.8, 1.9, 2.0, 2.1],
        "long_factor": [1.5, 2.5, 4.0, 7.0, 8.0, 9.0, 9.5, 9.9],
        **SHORT,
    },
}
MODEL = LlamaForCausalLM
HEADS = [LlamaModel, LlamaForSequenceClassification]


class TestLlama(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.fixture(scope="module")
def turned(save_original):
    """By kind of rope and length: within the trained 16 positions, and past them."""

    @cache
    def make(rope: str, length: int):
        trained = {"max_position_embeddings": 16} if rope == "dynamic" else {}
        config = LlamaConfig(
            **SMALL | trained | {"head_dim": 16}, rope_parameters={"rope_theta": 1000.0, **ROPES[rope]}
        )
        return save_original(LlamaForCausalLM(config), length)

    return make


@pytest.mark.parametrize("length", [16, 40])
@pytest.mark.parametrize("rope", ROPES)
def test_rope_equals_transformers(turned, load_folder, rope, length):
    found = turned(rope, length)
    assert found.distance(load_folder(found.folder)) <= found.tolerance


@pytest.mark.parametrize("rope", ROPES)
def test_old_rope_keys_mean_the_same(turned, with_config, load_folder, rope):
    found = turned(rope, 40)
    scaling = {"rope_theta": 1000.0, **ROPES[rope]}
    base = scaling.pop("rope_theta")
    if rope in ("linear", "dynamic"):
        scaling["type"] = scaling.pop("rope_type")
    old = with_config(
        found.folder,
        {"rope_parameters": None, "rope_theta": base, "rope_scaling": scaling if rope != "default" else None},
    )
    assert load_folder(old).spec == load_folder(found.folder).spec
    assert found.agrees(load_folder(old))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("grouped", {"hidden_size": 96}),
    ("grouped", {"intermediate_size": 87}),
    ("grouped", {"num_hidden_layers": 1}),
    ("grouped", {"num_hidden_layers": 3}),
    ("grouped", {"num_attention_heads": 12}),
    ("grouped", {"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 4}),
    ("grouped", {"num_key_value_heads": 3}),
    ("grouped", {"head_dim": 12}),
    ("grouped", {"vocab_size": 100}),
    ("grouped", {"hidden_act": "gelu"}),
    ("grouped", {"rms_norm_eps": 1e-3}),
    ("eps", {"rms_norm_eps": 1e-5}),
    ("grouped", {"rope_parameters": {"rope_type": "default", "rope_theta": 9000.0}}),
    ("grouped", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 1.01}}),
    ("grouped", {"tie_word_embeddings": True}),
    ("multi_head_tied", {"tie_word_embeddings": False}),
    ("multi_head_tied", {"num_key_value_heads": 3}),
    ("grouped", {"attention_bias": True}),
    ("grouped", {"mlp_bias": True}),
    ("biases", {"attention_bias": False}),
    ("biases", {"mlp_bias": False}),
    ("gelu", {"hidden_act": "gelu"}),
    ("wide_heads", {"head_dim": None}),
]


WRONG_ROPES: list[tuple[str, dict[str, Any]]] = [
    ("default", {"rope_theta": 510.0}),
    ("linear", {"factor": 4.1}),
    ("linear", {"rope_type": "dynamic"}),
    ("dynamic", {"factor": 4.1}),
    ("yarn", {"factor": 4.1}),
    ("yarn", {"original_max_position_embeddings": 64}),
    ("yarn", {"beta_slow": 2.0}),
    ("yarn", {"attention_factor": 1.0}),
    ("yarn_spelt_out", {"truncate": True}),
    ("yarn_spelt_out", {"attention_factor": None}),
    ("yarn_spelt_out", {"beta_fast": None}),
    ("yarn_mscale", {"mscale": 0.9}),
    ("yarn_mscale", {"mscale_all_dim": None}),
    ("llama3", {"factor": 8.5}),
    ("llama3", {"low_freq_factor": 1.2}),
    ("llama3", {"high_freq_factor": 3.5}),
    ("llama3", {"original_max_position_embeddings": 20}),
    ("longrope", {"long_factor": [1.5, 2.6, 4.0, 7.0, 8.0, 9.0, 9.5, 9.9]}),
    ("longrope", {"original_max_position_embeddings": 40}),
    ("longrope", {"factor": 2.0}),
    ("longrope", {"attention_factor": 1.1}),
]


@pytest.mark.parametrize(("rope", "wrong"), WRONG_ROPES)
def test_a_wrong_rope_value_is_noticed(turned, with_config, load_folder, rope, wrong):
    found = turned(rope, 40)
    right = {"rope_theta": 1000.0, **ROPES[rope]}
    changed = {key: value for key, value in {**right, **wrong}.items() if value is not None}
    loaded = load_folder(with_config(found.folder, {"rope_parameters": changed}))
    assert found.distance(loaded) > 2 * found.tolerance


def test_a_wrong_short_factor_is_noticed_within_the_trained_length(turned, with_config, load_folder):
    found = turned("longrope", 16)
    wrong = {"rope_theta": 1000.0, **ROPES["longrope"], "short_factor": [1.0, 1.1, 1.4, 1.7, 1.8, 1.9, 2.0, 2.1]}
    assert not found.agrees(load_folder(with_config(found.folder, {"rope_parameters": wrong})))

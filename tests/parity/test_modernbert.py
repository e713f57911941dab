"""ModernBERT as transformers computes it, over its heads, biases, kinds of layers and ropes; and each key that matters,
planted wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from transformers import (
    ModernBertConfig,
    ModernBertForMaskedLM,
    ModernBertForSequenceClassification,
    ModernBertModel,
)

from parity.encoder_checks import EncoderChecks

GLOBAL, LOCAL = "full_attention", "sliding_attention"
SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 4,
    "num_attention_heads": 3,
    "max_position_embeddings": 64,
    "local_attention": 8,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
BIASED = {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "classifier_bias": True}
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "headless": (ModernBertModel, {}),
    "masked": (ModernBertForMaskedLM, {}),
    "masked_untied": (ModernBertForMaskedLM, {"tie_word_embeddings": False}),
    "biases": (ModernBertForMaskedLM, BIASED),
    "no_decoder_bias": (ModernBertForMaskedLM, {"decoder_bias": False, "classifier_activation": "silu"}),
    "first_labels": (ModernBertForSequenceClassification, {"num_labels": 3}),
    "mean_labels": (ModernBertForSequenceClassification, {"num_labels": 4, "classifier_pooling": "mean", **BIASED}),
    "number": (ModernBertForSequenceClassification, {"num_labels": 1}),
    "kinds": (ModernBertModel, {"num_hidden_layers": 3, "layer_types": [LOCAL, GLOBAL, LOCAL]}),
    "odd_window": (ModernBertModel, {"local_attention": 5, "layer_types": [LOCAL] * 4}),
    "narrowest": (ModernBertModel, {"local_attention": 1}),
    "silu": (ModernBertModel, {"hidden_activation": "silu", "num_attention_heads": 6}),
    "eps": (ModernBertForMaskedLM, {"norm_eps": 0.1}),
}
SHORT = {"original_max_position_embeddings": 16}
LONG = {"short_factor": [1.0 + 0.1 * i for i in range(8)], "long_factor": [1.5 + i for i in range(8)]}
ROPES: dict[str, dict[str, Any]] = {
    "default": {"rope_type": "default", "rope_theta": 500.0},
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, **SHORT},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **SHORT},
    "longrope": {"rope_type": "longrope", **LONG, **SHORT},
}


class TestModernBert(EncoderChecks):
    """Every check of the frame, over these tables."""


@pytest.fixture(scope="module")
def turned(save_original):
    """The global layers scaled past their trained 16 positions, the local ones plain with a base of their own."""

    @cache
    def make(rope: str):
        trained = {"max_position_embeddings": 16} if rope == "dynamic" else {}
        ropes = {GLOBAL: {"rope_theta": 1000.0, **ROPES[rope]}, LOCAL: {"rope_type": "default", "rope_theta": 300.0}}
        return save_original(ModernBertModel(ModernBertConfig(**SMALL | trained, rope_parameters=ropes)))

    return make


@pytest.mark.parametrize("rope", ROPES)
def test_rope_equals_transformers(turned, load_folder, rope):
    found = turned(rope)
    assert found.distance(load_folder(found.folder)) <= found.tolerance


def test_the_first_configs_say_the_same(original, turned, with_config, load_folder):
    """A base for each kind of layer, and every n-th layer global; neither was nested or spelt out."""
    found = turned("default")
    bases = {"global_rope_theta": 500.0, "local_rope_theta": 300.0, "rope_parameters": None}
    old = with_config(found.folder, {**bases, "layer_types": None, "global_attn_every_n_layers": 3})
    assert load_folder(old).spec == load_folder(found.folder).spec
    assert found.agrees(load_folder(old))
    plain = {"rope_parameters": None, "layer_types": None, "global_attn_every_n_layers": None}
    assert original("headless").agrees(load_folder(with_config(original("headless").folder, plain)))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("headless", {"vocab_size": 102}),
    ("headless", {"hidden_size": 96}),
    ("headless", {"intermediate_size": 80}),
    ("headless", {"num_hidden_layers": 3, "layer_types": None}),
    ("headless", {"num_attention_heads": 6}),
    ("headless", {"hidden_activation": "gelu_pytorch_tanh"}),
    ("silu", {"hidden_activation": None}),
    ("headless", {"norm_eps": 1e-3}),
    ("eps", {"norm_eps": None}),
    ("headless", {"local_attention": 10}),
    ("odd_window", {"local_attention": 6}),
    ("odd_window", {"local_attention": None}),
    ("narrowest", {"local_attention": 2}),
    ("headless", {"layer_types": [GLOBAL] * 4}),
    ("headless", {"layer_types": [GLOBAL, LOCAL, LOCAL, LOCAL]}),
    ("kinds", {"layer_types": None}),
    ("headless", {"layer_types": None, "global_attn_every_n_layers": 2}),
    ("headless", {"rope_parameters": {GLOBAL: {"rope_type": "default", "rope_theta": 10000.0}}}),
    ("headless", {"rope_parameters": {LOCAL: {"rope_type": "default", "rope_theta": 160000.0}}}),
    ("headless", {"rope_parameters": None, "global_rope_theta": 1e6}),
    ("headless", {"rope_parameters": None, "local_rope_theta": 1e5}),
    *(("headless", {key: True}) for key in ("norm_bias", "attention_bias", "mlp_bias")),
    *(("biases", {key: False}) for key in BIASED),
    ("masked", {"classifier_bias": True}),
    ("masked", {"decoder_bias": False}),
    ("no_decoder_bias", {"decoder_bias": None}),
    ("no_decoder_bias", {"classifier_activation": None}),
    ("first_labels", {"classifier_activation": "relu"}),
    ("first_labels", {"classifier_pooling": "mean"}),
    ("mean_labels", {"classifier_pooling": None}),
    ("first_labels", {"id2label": {"0": "a", "1": "b"}}),
    ("masked_untied", {"tie_word_embeddings": True}),
    ("masked", {"tie_word_embeddings": False}),
    ("masked", {"architectures": ["ModernBertModel"]}),
    ("headless", {"architectures": ["ModernBertForMaskedLM"]}),
]

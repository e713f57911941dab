"""GLM-4 as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import Glm4ForCausalLM, Glm4ForSequenceClassification, Glm4Model

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "unbiased_tied": {"attention_bias": False, "tie_word_embeddings": True, "num_key_value_heads": 1},
    "whole": {"partial_rotary_factor": 1.0, "head_dim": 8, "rms_norm_eps": 0.1},
    "third": {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 1 / 3}},
    "yarn": {"rope_parameters": YARN, "hidden_act": "gelu", "num_key_value_heads": 6},
}
MODEL = Glm4ForCausalLM
HEADS = [Glm4Model, Glm4ForSequenceClassification]


class TestGlm4(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize("part", [0.5, None])
def test_old_keys_mean_the_same(original, with_config, load_folder, part):
    found = original("published")
    old = {"rope_parameters": None, "rope_theta": 10000.0, "partial_rotary_factor": part}
    assert load_folder(with_config(found.folder, old)).spec == load_folder(found.folder).spec


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"hidden_size": 96}),
    ("published", {"intermediate_size": 80}),
    ("published", {"num_hidden_layers": 1}),
    ("published", {"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 6}),
    ("published", {"num_key_value_heads": 3}),
    ("published", {"head_dim": 8}),
    ("published", {"head_dim": None}),
    ("published", {"rms_norm_eps": 1e-3}),
    ("whole", {"rms_norm_eps": None}),
    ("yarn", {"hidden_act": None}),
    ("published", {"attention_bias": False}),
    ("unbiased_tied", {"attention_bias": None}),
    ("unbiased_tied", {"tie_word_embeddings": None}),
    ("published", {"tie_word_embeddings": True}),
    ("published", {"partial_rotary_factor": 1.0}),
    ("whole", {"rope_parameters": None}),
    ("published", {"rope_parameters": {"rope_type": "default", "rope_theta": 9000.0}}),
    ("third", {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.7}}),
    ("third", {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}),
    ("yarn", {"rope_parameters": {**YARN, "factor": 4.5}}),
    ("published", {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}),
]

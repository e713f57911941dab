"""Gemma 2 as transformers computes it: windows, caps, sandwich norms; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import Gemma2ForCausalLM, Gemma2ForSequenceClassification, Gemma2Model

from parity.decoder_checks import DecoderChecks
from parity.frame import require_noticed

LOCAL, GLOBAL = "sliding_attention", "full_attention"
SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
    "sliding_window": 7,
    "query_pre_attn_scalar": 24,
    "attn_logit_softcapping": 3.0,
    "final_logit_softcapping": 5.0,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "uncapped": {"attn_logit_softcapping": None, "final_logit_softcapping": None},
    "layers_listed": {"layer_types": [GLOBAL, LOCAL, LOCAL], "num_key_value_heads": 1, "query_pre_attn_scalar": 16},
    "all_global": {"layer_types": [GLOBAL] * 3, "hidden_activation": "gelu", "rms_norm_eps": 0.1},
    "untied_biased": {"tie_word_embeddings": False, "attention_bias": True, "num_key_value_heads": 6},
    "linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e3, "factor": 4.0}},
}
MODEL = Gemma2ForCausalLM
HEADS = [Gemma2Model, Gemma2ForSequenceClassification]


class TestGemma2(DecoderChecks):
    """Every check of the frame, over these tables."""


def test_old_keys_mean_the_same(original, with_config, load_folder):
    """The first release named no layer's kind, and the activation twice."""
    found = original("published")
    old = {"layer_types": None, "rope_parameters": None, "rope_theta": 10000.0, "hidden_act": "gelu"}
    assert load_folder(with_config(found.folder, old)).spec == load_folder(found.folder).spec


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"hidden_size": 96}),
    ("published", {"intermediate_size": 80}),
    ("published", {"num_hidden_layers": 2, "layer_types": None}),
    ("published", {"num_attention_heads": 12, "head_dim": 8, "num_key_value_heads": 4}),
    ("published", {"num_key_value_heads": 3}),
    ("published", {"head_dim": 8}),
    ("published", {"rms_norm_eps": 1e-2}),
    ("published", {"hidden_activation": "gelu"}),
    ("all_global", {"hidden_activation": None}),
    ("published", {"hidden_act": "silu"}),
    ("published", {"sliding_window": 8}),
    ("published", {"sliding_window": None}),
    ("published", {"layer_types": [GLOBAL, LOCAL, GLOBAL]}),
    ("published", {"layer_types": [LOCAL, GLOBAL]}),
    ("layers_listed", {"layer_types": None}),
    ("published", {"query_pre_attn_scalar": 25}),
    ("published", {"query_pre_attn_scalar": None}),
    ("published", {"attn_logit_softcapping": 4.0}),
    ("published", {"attn_logit_softcapping": None}),
    ("published", {"final_logit_softcapping": 6.0}),
    ("published", {"final_logit_softcapping": None}),
    ("published", {"rope_parameters": {"rope_type": "default", "rope_theta": 9000.0}}),
    ("linear", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e3, "factor": 4.5}}),
    ("published", {"attention_bias": True}),
    ("untied_biased", {"attention_bias": False}),
    ("published", {"tie_word_embeddings": False}),
    ("published", {"use_bidirectional_attention": True}),
    ("published", {"model_type": "gemma"}),
]


@pytest.mark.parametrize("key", ["attn_logit_softcapping", "final_logit_softcapping"])
def test_no_cap_is_not_the_cap_of_an_absent_key(original, with_config, load_folder, key):
    found = original("uncapped")
    assert load_folder(found.folder).spec.head.cap is None
    require_noticed(found, lambda: load_folder(with_config(found.folder, {key: None})))

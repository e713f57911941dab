"""SmolLM3 as transformers computes it: layers without positions, layers with windows; and each key, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import SmolLM3ForCausalLM, SmolLM3ForSequenceClassification, SmolLM3Model

from parity.decoder_checks import DecoderChecks

LOCAL, GLOBAL = "sliding_attention", "full_attention"
SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": None,
    "attn_implementation": "eager",
}
WINDOWS = {"use_sliding_window": True, "sliding_window": 7}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "every_other": {"no_rope_layer_interval": 2, "num_key_value_heads": 1, "tie_word_embeddings": False},
    "listed": {"no_rope_layers": [0, 1, 1, 0], "num_key_value_heads": None, "rms_norm_eps": 0.1},
    "windows": {**WINDOWS, "no_rope_layers": [1, 0, 0, 1], "attention_bias": True, "mlp_bias": True},
    "kinds_listed": {**WINDOWS, "layer_types": [LOCAL, GLOBAL, LOCAL, GLOBAL], "hidden_act": "gelu", "head_dim": 12},
    "no_positions": {"no_rope_layers": [0] * 4},
    "linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e3, "factor": 4.0}},
}
MODEL = SmolLM3ForCausalLM
HEADS = [SmolLM3Model, SmolLM3ForSequenceClassification]


class TestSmolLM3(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize(
    ("choice", "old"),
    [
        ("published", {"no_rope_layers": None, "layer_types": None, "pretraining_tp": 2, "max_window_layers": 28}),
        ("every_other", {"no_rope_layers": None}),
        ("windows", {"layer_types": None}),
        ("published", {"rope_parameters": None, "rope_scaling": None}),
        ("listed", {"no_rope_layers": [0, 1, 1, 0, 1]}),
    ],
)
def test_keys_left_out_mean_the_same(original, with_config, load_folder, choice, old):
    found = original(choice)
    assert load_folder(with_config(found.folder, old)).spec == load_folder(found.folder).spec


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"hidden_size": 96}),
    ("published", {"intermediate_size": 80}),
    ("published", {"num_hidden_layers": 3, "layer_types": None, "no_rope_layers": None}),
    ("published", {"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 4}),
    ("published", {"num_key_value_heads": 3}),
    ("kinds_listed", {"head_dim": 8}),
    ("kinds_listed", {"hidden_act": None}),
    ("published", {"rms_norm_eps": 1e-2}),
    ("listed", {"rms_norm_eps": None}),
    ("every_other", {"tie_word_embeddings": None}),
    ("published", {"tie_word_embeddings": False}),
    ("windows", {"attention_bias": False}),
    ("windows", {"mlp_bias": None}),
    ("published", {"no_rope_layers": [1, 1, 0, 1]}),
    ("published", {"no_rope_layers": [1, 1, 1, True]}),
    ("published", {"no_rope_layers": [1, 1, 1]}),
    ("listed", {"no_rope_layers": None}),
    ("every_other", {"no_rope_layers": None, "no_rope_layer_interval": None}),
    ("windows", {"sliding_window": 8}),
    ("windows", {"sliding_window": None}),
    ("windows", {"use_sliding_window": False}),
    ("windows", {"layer_types": [GLOBAL] * 4}),
    ("kinds_listed", {"layer_types": None}),
    ("published", {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}),
    ("linear", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e3, "factor": 4.5}}),
    ("published", {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}),
]

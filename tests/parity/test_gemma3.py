"""Gemma 3's text model as transformers computes it: each kind of layer with its own rotary positions; and each key that
matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, Gemma3TextForSequenceClassification, Gemma3TextModel

from parity.decoder_checks import DecoderChecks, require_same
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
    "layer_types": [LOCAL, GLOBAL, LOCAL],
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}


def ropes(kind: str = "default", **scaling: Any) -> dict[str, Any]:
    """Bases low enough to matter within forty positions, the global layers' scaled."""
    whole = {"rope_type": kind, "rope_theta": 2000.0, **scaling}
    return {"rope_parameters": {GLOBAL: whole, LOCAL: {"rope_type": "default", "rope_theta": 100.0}}}


SHORT = {"original_max_position_embeddings": 16}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {"num_hidden_layers": 7, "layer_types": None, **ropes()},
    "defaults": {"layer_types": [GLOBAL, LOCAL, GLOBAL], "num_key_value_heads": 1, "query_pre_attn_scalar": 16},
    "untied_biased": {"tie_word_embeddings": False, "attention_bias": True, "final_logit_softcapping": 5.0},
    "all_local": {"layer_types": [LOCAL] * 3, "hidden_activation": "silu", "rms_norm_eps": 0.1, **ropes()},
    "linear": ropes("linear", factor=8.0),
    "dynamic": {"max_position_embeddings": 16, **ropes("dynamic", factor=4.0)},
    "yarn": ropes("yarn", factor=4.0, **SHORT),
    "llama3": ropes("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, **SHORT),
    "longrope": ropes(
        "longrope", short_factor=[1.0] * 8, long_factor=[1.5, 2.0, 4.0, 7.0, 8.0, 9.0, 9.5, 9.9], **SHORT
    ),
}
BOTH_WAYS = {"use_bidirectional_attention": True, "sliding_window": 12, **ropes()}
# Their tables change with the length read so far; ours are those of the declared length from the first token.
LENGTH_BOUND = {"dynamic", "longrope"}
MODEL = Gemma3ForCausalLM
HEADS = [Gemma3TextModel, Gemma3TextForSequenceClassification]
SPEAKING = [choice for choice in CHOICES if choice not in LENGTH_BOUND]


class TestGemma3(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize("kind", [Gemma3TextModel, Gemma3ForCausalLM])
def test_both_ways_it_is_an_encoder(save_original, with_config, load_folder, kind):
    found = save_original(kind(Gemma3TextConfig(**SMALL | BOTH_WAYS)))
    loaded = load_folder(found.folder)
    assert loaded.model.role == "encoder"
    require_same(found, loaded)
    for wrong in ({"sliding_window": 10}, {"use_bidirectional_attention": False}):
        require_noticed(found, lambda wrong=wrong: load_folder(with_config(found.folder, wrong)))


@pytest.mark.parametrize("scaling", [None, {"rope_type": "linear", "factor": 8.0}, {"type": "linear", "factor": 8.0}])
def test_old_keys_mean_the_same(original, with_config, load_folder, scaling):
    """The first release: a pattern in place of a list, and the local layers' base beside the global one's."""
    found = original("linear" if scaling else "published")
    old = {"rope_parameters": None, "rope_theta": 2000.0, "rope_local_base_freq": 100.0, "rope_scaling": scaling}
    pattern = 2 if scaling else 6
    old |= {"layer_types": None, "sliding_window_pattern": pattern, "_sliding_window_pattern": pattern}
    assert load_folder(with_config(found.folder, old)).spec == load_folder(found.folder).spec


def test_old_bases_have_the_defaults_of_the_nested_ones(original, with_config, load_folder):
    found = original("defaults")
    old = with_config(found.folder, {"rope_parameters": None})
    assert load_folder(old).spec == load_folder(found.folder).spec


def rope(kind: str, choice: str, **changes: Any) -> dict[str, Any]:
    """The choice's rotary keys with one kind's changed."""
    nested = CHOICES[choice]["rope_parameters"]
    return {"rope_parameters": {**nested, kind: {**nested[kind], **changes}}}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"hidden_size": 96}),
    ("published", {"intermediate_size": 80}),
    ("published", {"num_hidden_layers": 6}),
    ("published", {"num_attention_heads": 12, "head_dim": 8, "num_key_value_heads": 4}),
    ("published", {"num_key_value_heads": 3}),
    ("published", {"head_dim": 8}),
    ("published", {"rms_norm_eps": 1e-2}),
    ("published", {"hidden_activation": "gelu"}),
    ("all_local", {"hidden_activation": None}),
    ("published", {"sliding_window": 8}),
    ("published", {"layer_types": None, "sliding_window_pattern": 3}),
    ("published", {"sliding_window_pattern": 3}),
    ("linear", {"layer_types": [LOCAL, LOCAL, GLOBAL]}),
    ("linear", {"layer_types": [LOCAL, GLOBAL, "chunked_attention"]}),
    ("published", {"query_pre_attn_scalar": 25}),
    ("published", {"attn_logit_softcapping": 5.0}),
    ("published", {"final_logit_softcapping": 5.0}),
    ("untied_biased", {"final_logit_softcapping": None}),
    ("untied_biased", {"attention_bias": False}),
    ("untied_biased", {"tie_word_embeddings": None}),
    ("published", {"use_bidirectional_attention": True}),
    ("published", {"rope_parameters": None}),
    ("published", rope(GLOBAL, "published", rope_theta=2500.0)),
    ("published", rope(LOCAL, "published", rope_theta=110.0)),
    ("published", {"rope_theta": 2500.0}),
    ("published", {"rope_local_base_freq": 110.0}),
    ("published", {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}),
    ("linear", rope(GLOBAL, "linear", factor=9.0)),
    ("linear", rope(LOCAL, "linear", rope_type="linear", factor=1.1)),
    ("linear", {"rope_parameters": {"rope_type": "linear", "rope_theta": 2000.0, "factor": 8.0}}),
    ("dynamic", rope(GLOBAL, "dynamic", factor=4.5)),
    ("yarn", rope(GLOBAL, "yarn", factor=4.5)),
    ("yarn", rope(GLOBAL, "yarn", truncate=False)),
    ("llama3", rope(GLOBAL, "llama3", low_freq_factor=1.5)),
    ("longrope", rope(GLOBAL, "longrope", original_max_position_embeddings=40)),
]

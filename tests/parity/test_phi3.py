"""Phi-3 as transformers computes it: fused matrices, windows, part of a head turned, LongRoPE; and each key that
matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import Phi3ForCausalLM, Phi3ForSequenceClassification, Phi3Model

from parity.decoder_checks import DecoderChecks, require_same, require_same_text
from parity.frame import require_noticed

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "original_max_position_embeddings": 16,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 1000.0,
    "short_factor": [1.0, 1.1, 1.3, 1.7],
    "long_factor": [1.5, 2.5, 4.0, 7.0],
}
THREE = {"short_factor": [1.0, 1.1, 1.3], "long_factor": [1.5, 2.5, 4.0], "partial_rotary_factor": 0.75}
CHOICES: dict[str, dict[str, Any]] = {
    "plain": {"rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
    "window": {"sliding_window": 7, "num_key_value_heads": 1, "rms_norm_eps": 0.1},
    "partial_tied": {"partial_rotary_factor": 0.5, "tie_word_embeddings": True, "num_key_value_heads": None},
    "longrope": {"rope_parameters": LONG},
    "everything": {"rope_parameters": {**LONG, **THREE}, "sliding_window": 9, "tie_word_embeddings": True},
    "sharpened": {"rope_parameters": {**LONG, "attention_factor": 1.3}, "hidden_act": "gelu"},
}
# By what its length makes of LongRoPE: all within the trained length, or all past it from the first new token.
PROMPTS = {"within": (3, 2, 4), "past": (20, 18, 25)}
MODEL = Phi3ForCausalLM
HEADS = [Phi3Model, Phi3ForSequenceClassification]
# The others pass LongRoPE's trained length on the way.
SPEAKING = [choice for choice, changes in CHOICES.items() if "long_factor" not in changes.get("rope_parameters", {})]


class TestPhi3(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize("choice", CHOICES)
def test_within_the_trained_length_it_equals_transformers(original, load_folder, choice):
    found = original(choice, 16)
    require_same(found, load_folder(found.folder))


@pytest.mark.parametrize("place", PROMPTS)
@pytest.mark.parametrize("choice", [choice for choice in CHOICES if choice not in SPEAKING])
def test_writes_the_same_on_one_side_of_the_trained_length(original, load_folder, choice, place):
    require_same_text(original(choice), load_folder(original(choice).folder), PROMPTS[place])


@pytest.mark.parametrize("name", ["longrope", "su", "yarn"])
def test_old_keys_mean_the_same(original, with_config, load_folder, name):
    """Microsoft's own configs, whose scaling has had three names."""
    found = original("everything")
    scaling = {"type": name, "short_factor": THREE["short_factor"], "long_factor": THREE["long_factor"]}
    old = {"rope_parameters": None, "rope_theta": 1000.0, "rope_scaling": scaling, "partial_rotary_factor": 0.75}
    plain = {"attention_bias": False, "lm_head_bias": False, "mlp_bias": False, "full_attn_mod": 1, "auto_map": {}}
    assert load_folder(with_config(found.folder, old | plain)).spec == load_folder(found.folder).spec


def rope(choice: str, **changes: Any) -> dict[str, Any]:
    return {"rope_parameters": {**CHOICES[choice]["rope_parameters"], **changes}}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"vocab_size": 102}),
    ("plain", {"hidden_size": 96}),
    ("plain", {"intermediate_size": 80}),
    ("plain", {"num_hidden_layers": 1}),
    ("plain", {"num_attention_heads": 12}),
    ("plain", {"num_key_value_heads": 3}),
    ("plain", {"num_key_value_heads": None}),
    ("plain", {"head_dim": 16}),
    ("plain", {"rms_norm_eps": 1e-2}),
    ("window", {"rms_norm_eps": None}),
    ("sharpened", {"hidden_act": None}),
    ("window", {"sliding_window": 8}),
    ("window", {"sliding_window": None}),
    ("partial_tied", {"tie_word_embeddings": None}),
    ("plain", {"tie_word_embeddings": True}),
    ("plain", rope("plain", rope_theta=1100.0)),
    ("plain", rope("plain", partial_rotary_factor=0.75)),
    ("plain", rope("plain", rope_type="linear", factor=2.0)),
    ("partial_tied", {"partial_rotary_factor": 0.75}),
    ("longrope", rope("longrope", long_factor=[1.5, 2.6, 4.0, 7.0])),
    ("longrope", rope("longrope", original_max_position_embeddings=40)),
    ("longrope", {"original_max_position_embeddings": 40}),
    ("longrope", {"original_max_position_embeddings": None}),
    ("longrope", {"max_position_embeddings": 128}),
    ("longrope", rope("longrope", factor=2.0)),
    ("longrope", rope("longrope", partial_rotary_factor=0.5)),
    ("sharpened", rope("sharpened", attention_factor=1.2)),
    ("everything", rope("everything", partial_rotary_factor=None)),
    ("plain", {"attention_bias": True}),
    ("plain", {"lm_head_bias": True}),
    ("plain", {"full_attn_mod": 2}),
    ("plain", {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}),
]


def test_a_wrong_short_factor_is_noticed_within_the_trained_length(original, with_config, load_folder):
    found = original("longrope", 16)
    wrong = rope("longrope", short_factor=[1.0, 1.1, 1.4, 1.7])
    require_noticed(found, lambda: load_folder(with_config(found.folder, wrong)))

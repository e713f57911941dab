"""MPT as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import MptForCausalLM, MptForSequenceClassification, MptModel

from clearformer.errors import CheckpointError
from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "d_model": 48,
    "n_layers": 2,
    "n_heads": 6,
    "max_seq_len": 64,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
CHOICES: dict[str, dict[str, Any]] = {
    "six_heads": {},
    "eight_heads": {"n_heads": 8, "vocab_size": 97},
    "sharp": {"attn_config": {"softmax_scale": 0.9}, "d_model": 60},
    "scaled": {"attn_config": {"softmax_scale": 0.2}, "n_heads": 3},
    "untied": {"tie_word_embeddings": False},
    "eps": {"layer_norm_epsilon": 0.1},
}
MODEL = MptForCausalLM
HEADS = [MptModel, MptForSequenceClassification]


class TestMpt(DecoderChecks):
    """Every check of the frame, over these tables."""


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("six_heads", {"vocab_size": 100}),
    ("six_heads", {"d_model": 96}),
    ("six_heads", {"hidden_size": 96}),
    ("six_heads", {"n_layers": 1}),
    ("six_heads", {"n_layers": 3}),
    ("six_heads", {"n_heads": 4}),
    ("six_heads", {"n_heads": 5}),
    ("six_heads", {"layer_norm_epsilon": 1e-3}),
    ("eps", {"layer_norm_epsilon": None}),
    ("six_heads", {"tie_word_embeddings": False}),
    ("untied", {"tie_word_embeddings": None}),
    ("sharp", {"attn_config": None}),
    ("six_heads", {"attn_config": {"softmax_scale": 0.3}}),
    ("scaled", {"attn_config": {"softmax_scale": None}}),
]


REFUSED: dict[str, Any] = {
    "no_bias": False,
    "norm_type": "rmsnorm",
    "expansion_ratio": 2,
    "logit_scale": "inv_sqrt_d_model",
    "ffn_config": {"ffn_type": "mptglu"},
}
REFUSED_WITHIN: dict[str, Any] = {
    "clip_qkv": 6,
    "alibi": False,
    "alibi_bias_max": 4,
    "attn_type": "multiquery_attention",
    "prefix_lm": True,
    "qk_ln": True,
    "attn_uses_sequence_id": True,
    "rope": True,
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_the_spec_cannot_say_is_refused_by_name(original, with_config, load_folder, key):
    with pytest.raises(CheckpointError, match=key):
        load_folder(with_config(original("six_heads").folder, {key: REFUSED[key]}))


@pytest.mark.parametrize("key", REFUSED_WITHIN)
def test_what_attention_cannot_say_is_refused_by_its_whole_name(original, with_config, load_folder, key):
    with pytest.raises(CheckpointError, match=rf"attn_config\.{key}"):
        load_folder(with_config(original("six_heads").folder, {"attn_config": {key: REFUSED_WITHIN[key]}}))

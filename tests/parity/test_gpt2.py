"""GPT-2 as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

from transformers import GPT2ForSequenceClassification, GPT2LMHeadModel, GPT2Model

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "n_embd": 48,
    "n_layer": 3,
    "n_head": 4,
    "n_positions": 64,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "untied": {"tie_word_embeddings": False},
    "unscaled": {"scale_attn_weights": False},
    "by_layer": {"scale_attn_by_inverse_layer_idx": True},
    "unscaled_by_layer": {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
    "upcast": {"reorder_and_upcast_attn": True, "scale_attn_by_inverse_layer_idx": True},
    "inner": {"n_inner": 80},
    "relu": {"activation_function": "relu"},
    "gelu": {"activation_function": "gelu"},
    "quick_gelu": {"activation_function": "quick_gelu"},
    "eps": {"layer_norm_epsilon": 0.1},
}
MODEL = GPT2LMHeadModel
HEADS = [GPT2Model, GPT2ForSequenceClassification]


class TestGPT2(DecoderChecks):
    """Every check of the frame, over these tables."""


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"n_embd": 96}),
    ("published", {"n_layer": 2}),
    ("published", {"n_head": 6}),
    ("published", {"n_positions": 65}),
    ("published", {"n_inner": 100}),
    ("published", {"activation_function": "gelu"}),
    ("gelu", {"activation_function": "gelu_new"}),
    ("published", {"layer_norm_epsilon": 1e-3}),
    ("eps", {"layer_norm_epsilon": None}),
    ("published", {"scale_attn_weights": False}),
    ("published", {"scale_attn_by_inverse_layer_idx": True}),
    ("by_layer", {"scale_attn_by_inverse_layer_idx": False}),
    ("untied", {"tie_word_embeddings": True}),
    ("published", {"tie_word_embeddings": False}),
]

"""OLMo 2 as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

import copy
from typing import Any

import torch
from transformers import Olmo2ForCausalLM, Olmo2ForSequenceClassification, Olmo2Model

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
CHOICES: dict[str, dict[str, Any]] = {
    "grouped": {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
    "published": {"num_key_value_heads": None},
    "tied_multi_query": {"num_key_value_heads": 1, "tie_word_embeddings": True, "head_dim": 16},
    "biased": {"attention_bias": True, "rms_norm_eps": 0.1, "hidden_act": "gelu"},
    "yarn": {"rope_parameters": YARN},
}
MODEL = Olmo2ForCausalLM
HEADS = [Olmo2Model, Olmo2ForSequenceClassification]


class TestOlmo2(DecoderChecks):
    """Every check of the frame, over these tables."""


def test_bfloat16_norms_round_after_their_last_product(original, load_folder):
    found = original("grouped")
    ours, theirs = load_folder(found.folder).model.bfloat16(), copy.deepcopy(found.model).bfloat16().model
    x = torch.randn(1, 200, 48, generator=torch.Generator().manual_seed(0)).bfloat16()
    differing = ours.stack.final_norm(x) != theirs.norm(x)
    assert float(differing.double().mean()) < 0.001


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("grouped", {"vocab_size": 102}),
    ("grouped", {"hidden_size": 96}),
    ("grouped", {"intermediate_size": 80}),
    ("grouped", {"num_hidden_layers": 1}),
    ("grouped", {"num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 4}),
    ("grouped", {"num_attention_heads": 5}),
    ("grouped", {"num_key_value_heads": 3}),
    ("grouped", {"num_key_value_heads": None}),
    ("tied_multi_query", {"head_dim": 8}),
    ("tied_multi_query", {"tie_word_embeddings": None}),
    ("grouped", {"tie_word_embeddings": True}),
    ("grouped", {"rms_norm_eps": 1e-3}),
    ("biased", {"rms_norm_eps": None}),
    ("biased", {"hidden_act": None}),
    ("biased", {"attention_bias": False}),
    ("grouped", {"attention_bias": True}),
    ("grouped", {"rope_parameters": {"rope_type": "default", "rope_theta": 510.0}}),
    ("yarn", {"rope_parameters": {**YARN, "factor": 4.1}}),
    ("grouped", {"clip_qkv": 8.0}),
    ("grouped", {"sliding_window": 8}),
    ("grouped", {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}),
]

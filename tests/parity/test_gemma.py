"""Gemma as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from transformers import GemmaForCausalLM, GemmaForSequenceClassification, GemmaModel

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "untied_multi_query": {"num_key_value_heads": 1, "tie_word_embeddings": False},
    "biased_multi_head": {"attention_bias": True, "num_key_value_heads": 6, "head_dim": 10},
    "silu": {"hidden_act": "silu", "rms_norm_eps": 0.1},
    "yarn": {"rope_parameters": YARN},
}
MODEL = GemmaForCausalLM
HEADS = [GemmaModel, GemmaForSequenceClassification]


class TestGemma(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize(
    "old",
    [
        {"hidden_act": "gelu"},
        {"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"},
        {"rope_parameters": None, "rope_theta": 10000.0, "rope_scaling": None, "cache_implementation": "hybrid"},
    ],
)
def test_old_keys_mean_the_same(original, with_config, load_folder, old):
    found = original("published")
    assert load_folder(with_config(found.folder, old)).spec == load_folder(found.folder).spec


def test_bfloat16_is_rounded_where_it_was_in_training(original, load_folder):
    """The embedding's scale before the product, a norm after its last."""
    found = original("published")
    ours, theirs = load_folder(found.folder).model.bfloat16(), copy.deepcopy(found.model).bfloat16().model
    ids = torch.arange(101)[None]
    embedded = ours.stack.embed(ids, torch.arange(101)[None])
    assert torch.equal(embedded, theirs.embed_tokens(ids))
    normed = ours.stack.blocks[0].attention_norm(embedded)
    differing = normed != theirs.layers[0].input_layernorm(embedded)
    assert float(differing.double().mean()) < 0.001


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"hidden_size": 96}),
    ("published", {"intermediate_size": 80}),
    ("published", {"num_hidden_layers": 1}),
    ("published", {"num_attention_heads": 12, "head_dim": 8, "num_key_value_heads": 4}),
    ("published", {"num_key_value_heads": 3}),
    ("published", {"head_dim": None}),
    ("published", {"rms_norm_eps": 1e-2}),
    ("silu", {"rms_norm_eps": None}),
    ("silu", {"hidden_act": None}),
    ("published", {"hidden_act": "silu"}),
    ("published", {"hidden_act": "gelu_python"}),
    ("published", {"hidden_activation": "silu"}),
    ("published", {"rope_parameters": {"rope_type": "default", "rope_theta": 9000.0}}),
    ("published", {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 1.01}}),
    ("published", {"attention_bias": True}),
    ("biased_multi_head", {"attention_bias": False}),
    ("published", {"tie_word_embeddings": False}),
    ("untied_multi_query", {"tie_word_embeddings": None}),
    ("published", {"use_bidirectional_attention": True}),
    ("published", {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "use_bidirectional_attention": None}),
]

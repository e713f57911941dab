"""Configs as they stand on the Hub, with the keys that a decade of versions left in them."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.families import family_for, family_of
from clearformer.families.family import difference
from clearformer.spec.presets import modern_decoder, tiny_gpt

SMOLLM2_135M: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 576,
    "initializer_range": 0.041666666666666664,
    "intermediate_size": 1536,
    "is_llama_config": True,
    "max_position_embeddings": 8192,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 9,
    "num_hidden_layers": 30,
    "num_key_value_heads": 3,
    "pad_token_id": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_interleaved": False,
    "rope_scaling": None,
    "rope_theta": 100000,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}},
    "transformers_version": "4.42.3",
    "use_cache": True,
    "vocab_size": 49152,
}
LLAMA_3_2_1B: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009],
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "initializer_range": 0.02,
    "intermediate_size": 8192,
    "max_position_embeddings": 131072,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "num_key_value_heads": 8,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {
        "factor": 32.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
    "rope_theta": 500000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.45.0.dev0",
    "use_cache": True,
    "vocab_size": 128256,
}
GPT2_SMALL: dict[str, Any] = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 50256,
    "embd_pdrop": 0.1,
    "eos_token_id": 50256,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "resid_pdrop": 0.1,
    "summary_activation": None,
    "summary_first_dropout": 0.1,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "vocab_size": 50257,
}
BERT_MULTILINGUAL: dict[str, Any] = {
    "architectures": ["BertForMaskedLM"],
    "attention_probs_dropout_prob": 0.1,
    "directionality": "bidi",
    "gradient_checkpointing": False,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "model_type": "bert",
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "pad_token_id": 0,
    "pooler_fc_size": 768,
    "pooler_num_attention_heads": 12,
    "pooler_num_fc_layers": 3,
    "pooler_size_per_head": 128,
    "pooler_type": "first_token_transform",
    "position_embedding_type": "absolute",
    "transformers_version": "4.6.0.dev0",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 119547,
}


def test_smollm2_is_the_preset():
    assert family_of(SMOLLM2_135M).read(SMOLLM2_135M).decoder == modern_decoder().decoder


def test_llama_3_2():
    spec = family_of(LLAMA_3_2_1B).read(LLAMA_3_2_1B)
    assert spec.decoder.blocks[15].attention.position == s.Rotary(5e5, scaling=s.Llama3Scaling(32.0, 8192, 1.0, 4.0))
    assert (spec.context, spec.head) == (131072, s.Language(tied=True))


def test_gpt2_is_the_preset_at_its_size():
    spec = family_of(GPT2_SMALL).read(GPT2_SMALL)
    large = {"width": 768, "heads": 12, "layers": 12, "vocabulary": 50257, "context": 1024, "dropout": 0.1}
    assert spec == tiny_gpt(**large)


def test_bert():
    spec = family_of(BERT_MULTILINGUAL).read(BERT_MULTILINGUAL)
    assert spec.head == s.Language(True, bias=True, transform=s.Transform("gelu", s.LayerNorm(1e-12)))
    assert spec.encoder.input.segments == 2


@pytest.mark.parametrize("config", [SMOLLM2_135M, LLAMA_3_2_1B, GPT2_SMALL, BERT_MULTILINGUAL])
def test_written_and_read_again(config):
    family = family_of(config)
    spec = family.read(config)
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None

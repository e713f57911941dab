"""Gemma, OLMo, Phi, SmolLM3 and GLM as their configs stand on the Hub, with the keys that their makers left in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from clearformer import spec as s
from clearformer.build import empty
from clearformer.families import family_for, family_of
from clearformer.families.family import difference

LOCAL, GLOBAL = "sliding_attention", "full_attention"
PLAIN: dict[str, Any] = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "torch_dtype": "bfloat16",
    "use_cache": True,
}
GEMMA: dict[str, Any] = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 2,
    "eos_token_id": 1,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "initializer_range": 0.02,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-06,
    "torch_dtype": "bfloat16",
    "use_cache": True,
}
GEMMA_7B = GEMMA | {
    "architectures": ["GemmaForCausalLM"],
    "hidden_act": "gelu",
    "hidden_size": 3072,
    "intermediate_size": 24576,
    "max_position_embeddings": 8192,
    "model_type": "gemma",
    "num_attention_heads": 16,
    "num_hidden_layers": 28,
    "num_key_value_heads": 16,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "transformers_version": "4.38.1",
    "vocab_size": 256000,
}
GEMMA_2_2B = GEMMA | {
    "architectures": ["Gemma2ForCausalLM"],
    "attn_logit_softcapping": 50.0,
    "cache_implementation": "hybrid",
    "final_logit_softcapping": 30.0,
    "hidden_act": "gelu_pytorch_tanh",
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "max_position_embeddings": 8192,
    "model_type": "gemma2",
    "num_attention_heads": 8,
    "num_hidden_layers": 26,
    "num_key_value_heads": 4,
    "query_pre_attn_scalar": 256,
    "rope_theta": 10000.0,
    "sliding_window": 4096,
    "transformers_version": "4.42.4",
    "vocab_size": 256000,
}
GEMMA_3_1B = GEMMA | {
    "architectures": ["Gemma3ForCausalLM"],
    "attn_logit_softcapping": None,
    "cache_implementation": "hybrid",
    "eos_token_id": [1, 106],
    "final_logit_softcapping": None,
    "hidden_size": 1152,
    "intermediate_size": 6912,
    "max_position_embeddings": 32768,
    "model_type": "gemma3_text",
    "num_attention_heads": 4,
    "num_hidden_layers": 26,
    "num_key_value_heads": 1,
    "query_pre_attn_scalar": 256,
    "rope_local_base_freq": 10000,
    "rope_scaling": None,
    "rope_theta": 1000000,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "transformers_version": "4.50.0.dev0",
    "vocab_size": 262144,
}
GEMMA_3_270M = GEMMA_3_1B | {
    "_sliding_window_pattern": 6,
    "hidden_size": 640,
    "intermediate_size": 2048,
    "layer_types": ([LOCAL] * 5 + [GLOBAL]) * 3,
    "num_hidden_layers": 18,
    "rope_local_base_freq": 10000.0,
    "rope_theta": 1000000.0,
    "transformers_version": "4.55.0.dev0",
    "use_bidirectional_attention": False,
}
del GEMMA_3_270M["sliding_window_pattern"], GEMMA_3_270M["cache_implementation"]
OLMO_2_7B = PLAIN | {
    "architectures": ["Olmo2ForCausalLM"],
    "eos_token_id": 100257,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "max_position_embeddings": 4096,
    "model_type": "olmo2",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 32,
    "pad_token_id": 100277,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 500000,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "transformers_version": "4.47.0.dev0",
    "vocab_size": 100352,
}
# fmt: off
LONG_FACTORS = [
    1, 1.118320672, 1.250641126, 1.398617824, 1.564103225, 1.74916897, 1.956131817, 2.187582649, 2.446418898,
    2.735880826, 3.059592084, 3.421605075, 3.826451687, 4.279200023, 4.785517845, 5.351743533, 5.984965424,
    6.693110555, 7.485043894, 8.370679318, 9.36110372, 10.4687158, 11.70738129, 13.09260651, 14.64173252,
    16.37415215, 18.31155283, 20.47818807, 22.90118105, 25.61086418, 28.64115884, 32.03, 32.1, 32.13, 32.23, 32.6,
    32.61, 32.64, 32.66, 32.7, 32.71, 32.93, 32.97, 33.28, 33.49, 33.5, 44.16, 47.77,
]
# fmt: on
PHI_4_MINI = PLAIN | {
    "architectures": ["Phi3ForCausalLM"],
    "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
    "bos_token_id": 199999,
    "embd_pdrop": 0.0,
    "eos_token_id": 199999,
    "full_attn_mod": 1,
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "interpolate_factor": 1,
    "lm_head_bias": False,
    "max_position_embeddings": 131072,
    "mlp_bias": False,
    "model_type": "phi3",
    "num_attention_heads": 24,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "original_max_position_embeddings": 4096,
    "pad_token_id": 199999,
    "partial_rotary_factor": 0.75,
    "resid_pdrop": 0.0,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {"long_factor": LONG_FACTORS, "short_factor": [1.0] * 48, "type": "longrope"},
    "rope_theta": 10000.0,
    "sliding_window": 262144,
    "tie_word_embeddings": True,
    "transformers_version": "4.45.0",
    "vocab_size": 200064,
}
SMOLLM3_3B = PLAIN | {
    "architectures": ["SmolLM3ForCausalLM"],
    "bos_token_id": None,
    "eos_token_id": 128012,
    "hidden_size": 2048,
    "intermediate_size": 11008,
    "layer_types": [GLOBAL] * 36,
    "max_position_embeddings": 65536,
    "max_window_layers": 28,
    "mlp_bias": False,
    "model_type": "smollm3",
    "no_rope_layer_interval": 4,
    "no_rope_layers": [1, 1, 1, 0] * 9,
    "num_attention_heads": 16,
    "num_hidden_layers": 36,
    "num_key_value_heads": 4,
    "pad_token_id": 128004,
    "pretraining_tp": 2,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 5000000.0,
    "sliding_window": None,
    "transformers_version": "4.54.0.dev0",
    "use_sliding_window": False,
    "vocab_size": 128256,
}
GLM_4_9B = PLAIN | {
    "architectures": ["Glm4ForCausalLM"],
    "attention_bias": True,
    "eos_token_id": [151329, 151336, 151338],
    "head_dim": 128,
    "hidden_size": 4096,
    "intermediate_size": 13696,
    "max_position_embeddings": 32768,
    "model_type": "glm4",
    "num_attention_heads": 32,
    "num_hidden_layers": 40,
    "num_key_value_heads": 2,
    "pad_token_id": 151329,
    "partial_rotary_factor": 0.5,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "transformers_version": "4.52.0.dev0",
    "vocab_size": 151552,
}
CONFIGS = {
    # config, parameters in millions as their makers count them
    "gemma-7b": (GEMMA_7B, 8538),
    "gemma-2-2b": (GEMMA_2_2B, 2614),
    "gemma-3-1b": (GEMMA_3_1B, 1000),
    "gemma-3-270m": (GEMMA_3_270M, 268),
    "olmo-2-7b": (OLMO_2_7B, 7299),
    "phi-4-mini": (PHI_4_MINI, 3836),
    "smollm3-3b": (SMOLLM3_3B, 3075),
    "glm-4-9b": (GLM_4_9B, 9400),
}


def read(name: str) -> s.DecoderOnly:
    config = CONFIGS[name][0]
    spec = family_of(config).read(config)
    assert isinstance(spec, s.DecoderOnly)
    return spec


@pytest.mark.parametrize("name", CONFIGS)
def test_as_many_parameters_as_published(name):
    found = sum(parameter.numel() for parameter in empty(read(name)).parameters())
    assert round(found / 1e6) == CONFIGS[name][1]


@pytest.mark.parametrize("name", CONFIGS)
def test_written_and_read_again(name):
    spec = read(name)
    again, written = family_for(spec)
    assert again is family_of(CONFIGS[name][0])
    assert difference(again.read(written), spec) is None


def test_gemma_3s_layers():
    blocks = [block.attention for block in read("gemma-3-1b").decoder.blocks]
    kinds = Counter((attention.visibility, attention.position) for attention in blocks)
    assert kinds == {(s.Causal(512), s.Rotary(1e4)): 22, (s.Causal(), s.Rotary(1e6)): 4}
    assert blocks[5].visibility == s.Causal()


def test_what_a_reader_would_miss():
    """One choice of each that no shape gives away."""
    assert read("gemma-7b").decoder.blocks[0].feedforward == s.Gated(24576, "gelu_tanh")
    assert read("gemma-2-2b").head == s.Language(tied=True, cap=30.0)
    assert read("olmo-2-7b").decoder.blocks[0].arrangement == s.Sequential("branch")
    long = read("phi-4-mini").decoder.blocks[0].attention.position
    assert (long.width, round(long.scaling.attention_factor, 4)) == (96, 1.1902)
    assert [block.attention.position is None for block in read("smollm3-3b").decoder.blocks[:4]] == [False] * 3 + [True]
    assert read("glm-4-9b").decoder.blocks[0].attention.position == s.Rotary(1e4, width=64, layout="interleaved")

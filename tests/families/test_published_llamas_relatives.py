"""Configs of Llama's descendants as they stand on the Hub, with the numbers of parameters that it shows for them."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.build import empty
from clearformer.families import family_for, family_of
from clearformer.families.family import difference

MISTRAL_7B: dict[str, Any] = {
    "architectures": ["MistralForCausalLM"],
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "initializer_range": 0.02,
    "intermediate_size": 14336,
    "max_position_embeddings": 32768,
    "model_type": "mistral",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000.0,
    "sliding_window": 4096,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.34.0.dev0",
    "use_cache": True,
    "vocab_size": 32000,
}
MIXTRAL_8X7B: dict[str, Any] = {
    "architectures": ["MixtralForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "initializer_range": 0.02,
    "intermediate_size": 14336,
    "max_position_embeddings": 32768,
    "model_type": "mixtral",
    "num_attention_heads": 32,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "output_router_logits": False,
    "rms_norm_eps": 1e-05,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.02,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.36.0.dev0",
    "use_cache": True,
    "vocab_size": 32000,
}
QWEN2_5_HALF_B: dict[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "hidden_act": "silu",
    "hidden_size": 896,
    "initializer_range": 0.02,
    "intermediate_size": 4864,
    "max_position_embeddings": 32768,
    "max_window_layers": 21,
    "model_type": "qwen2",
    "num_attention_heads": 14,
    "num_hidden_layers": 24,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "sliding_window": 32768,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.43.1",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
QWEN1_5_MOE: dict[str, Any] = {
    "architectures": ["Qwen2MoeForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 151643,
    "decoder_sparse_step": 1,
    "eos_token_id": 151643,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "initializer_range": 0.02,
    "intermediate_size": 5632,
    "max_position_embeddings": 8192,
    "max_window_layers": 21,
    "model_type": "qwen2_moe",
    "moe_intermediate_size": 1408,
    "norm_topk_prob": False,
    "num_attention_heads": 16,
    "num_experts": 60,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 16,
    "output_router_logits": False,
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.001,
    "shared_expert_intermediate_size": 5632,
    "sliding_window": 32768,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.39.0.dev0",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
QWEN3_0_6B: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 151643,
    "eos_token_id": 151645,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 1024,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "max_position_embeddings": 40960,
    "max_window_layers": 28,
    "model_type": "qwen3",
    "num_attention_heads": 16,
    "num_hidden_layers": 28,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000,
    "sliding_window": None,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.51.0",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
QWEN3_30B_A3B: dict[str, Any] = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 151643,
    "decoder_sparse_step": 1,
    "eos_token_id": 151645,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "initializer_range": 0.02,
    "intermediate_size": 6144,
    "max_position_embeddings": 40960,
    "max_window_layers": 48,
    "mlp_only_layers": [],
    "model_type": "qwen3_moe",
    "moe_intermediate_size": 768,
    "norm_topk_prob": True,
    "num_attention_heads": 32,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "output_router_logits": False,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "router_aux_loss_coef": 0.001,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.51.0",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": 151936,
}
PUBLISHED = [MISTRAL_7B, MIXTRAL_8X7B, QWEN2_5_HALF_B, QWEN1_5_MOE, QWEN3_0_6B, QWEN3_30B_A3B]
PARAMETERS = [
    (MISTRAL_7B, 7_241_732_096),
    (MIXTRAL_8X7B, 46_702_792_704),
    (QWEN2_5_HALF_B, 494_032_768),
    (QWEN1_5_MOE, 14_315_784_192),
    (QWEN3_0_6B, 596_049_920),
    (QWEN3_30B_A3B, 30_532_122_624),
]


def parameters(spec: s.Spec) -> int:
    return sum(parameter.numel() for parameter in empty(spec).parameters())


@pytest.mark.parametrize(("config", "expected"), PARAMETERS)
def test_as_many_parameters_as_the_hub_shows(config, expected):
    """From one block and two: all blocks of these models are alike, and thousands of experts take seconds to build."""
    one, two = (parameters(family_of(config).read({**config, "num_hidden_layers": layers})) for layers in (1, 2))
    assert one + (config["num_hidden_layers"] - 1) * (two - one) == expected


def test_what_sets_each_apart():
    mistral, mixtral, qwen2, qwen2_moe, qwen3, qwen3_moe = (family_of(config).read(config) for config in PUBLISHED)
    assert mistral.decoder.blocks[31].attention.visibility == s.Causal(4096)
    assert mixtral.decoder.blocks[0].attention.visibility == s.Causal()
    assert mixtral.decoder.blocks[31].feedforward == s.Experts(
        8, 2, s.Gated(14336), s.SoftmaxRouter("after"), balance_loss=0.02
    )
    assert qwen2.decoder.blocks[23].attention.bias == s.Biases(query=True, key=True, value=True)
    assert qwen2.decoder.blocks[23].attention.visibility == s.Causal()
    assert qwen2_moe.decoder.blocks[23].feedforward == s.Experts(
        60, 4, s.Gated(1408), s.SoftmaxRouter(), shared=s.Gated(5632), shared_gate=True, balance_loss=0.001
    )
    assert qwen3.decoder.blocks[27].attention == s.Attention(
        16, 8, 128, 128, position=s.Rotary(1e6), qk_norm=s.QKNorm(s.RMSNorm(1e-6))
    )
    assert qwen3_moe.decoder.blocks[47].feedforward == s.Experts(
        128, 8, s.Gated(768), s.SoftmaxRouter(normalise=True), balance_loss=0.001
    )


@pytest.mark.parametrize("config", PUBLISHED, ids=lambda config: config["model_type"])
def test_written_and_read_again(config):
    family = family_of(config)
    spec = family.read(config)
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None
    # Key by key as published, but for names that have changed since.
    for key in written.keys() & config.keys() - {"sliding_window", "max_window_layers"}:
        assert written[key] == config[key], key

"""Configs of GPT-NeoX, BLOOM, MPT and DeepSeek as they stand on the Hub, and the sizes that their makers name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clearformer import spec as s
from clearformer.build import empty
from clearformer.errors import CheckpointError
from clearformer.families import PUBLISHED, family_for, family_of
from clearformer.families.family import difference

PYTHIA_70M: dict[str, Any] = {
    "architectures": ["GPTNeoXForCausalLM"],
    "bos_token_id": 0,
    "eos_token_id": 0,
    "hidden_act": "gelu",
    "hidden_size": 512,
    "initializer_range": 0.02,
    "intermediate_size": 2048,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 2048,
    "model_type": "gpt_neox",
    "num_attention_heads": 8,
    "num_hidden_layers": 6,
    "rotary_emb_base": 10000,
    "rotary_pct": 0.25,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "transformers_version": "4.24.0",
    "use_cache": True,
    "use_parallel_residual": True,
    "vocab_size": 50304,
}
BLOOM_560M: dict[str, Any] = {
    "apply_residual_connection_post_layernorm": False,
    "architectures": ["BloomForCausalLM"],
    "attention_dropout": 0.0,
    "attention_softmax_in_fp32": True,
    "bias_dropout_fusion": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_dropout": 0.0,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "masked_softmax_fusion": True,
    "model_type": "bloom",
    "n_embed": 1024,
    "n_inner": None,
    "n_layer": 24,
    "num_attention_heads": 16,
    "offset_alibi": 100,
    "pad_token_id": 3,
    "pretraining_tp": 1,
    "seq_length": 2048,
    "skip_bias_add": True,
    "skip_bias_add_qkv": False,
    "slow_but_exact": False,
    "transformers_version": "4.20.0",
    "unk_token_id": 0,
    "use_cache": True,
    "vocab_size": 250880,
}
MPT_7B: dict[str, Any] = {
    "architectures": ["MPTForCausalLM"],
    "attn_config": {
        "alibi": True,
        "alibi_bias_max": 8,
        "attn_impl": "torch",
        "attn_pdrop": 0,
        "attn_type": "multihead_attention",
        "attn_uses_sequence_id": False,
        "clip_qkv": None,
        "prefix_lm": False,
        "qk_ln": False,
        "softmax_scale": None,
    },
    "auto_map": {"AutoConfig": "configuration_mpt.MPTConfig", "AutoModelForCausalLM": "modeling_mpt.MPTForCausalLM"},
    "d_model": 4096,
    "emb_pdrop": 0,
    "embedding_fraction": 1.0,
    "expansion_ratio": 4,
    "init_config": {"init_nonlinearity": "relu", "init_std": 0.02, "name": "kaiming_normal_", "verbose": 0},
    "init_device": "cpu",
    "learned_pos_emb": True,
    "logit_scale": None,
    "max_seq_len": 2048,
    "model_type": "mpt",
    "n_heads": 32,
    "n_layers": 32,
    "no_bias": True,
    "norm_type": "low_precision_layernorm",
    "resid_pdrop": 0,
    "tokenizer_name": "EleutherAI/gpt-neox-20b",
    "torch_dtype": "bfloat16",
    "transformers_version": "4.28.1",
    "use_cache": False,
    "verbose": 0,
    "vocab_size": 50432,
}
# What both versions say alike.
_DEEPSEEK: dict[str, Any] = {
    "attention_bias": False,
    "attention_dropout": 0.0,
    "aux_loss_alpha": 0.001,
    "first_k_dense_replace": 1,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "initializer_range": 0.02,
    "kv_lora_rank": 512,
    "moe_intermediate_size": 1408,
    "moe_layer_freq": 1,
    "n_group": 1,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_attention_heads": 16,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 27,
    "num_key_value_heads": 16,
    "pretraining_tp": 1,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "seq_aux": True,
    "tie_word_embeddings": False,
    "topk_group": 1,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "v_head_dim": 128,
}
DEEPSEEK_V2_LITE: dict[str, Any] = _DEEPSEEK | {
    "architectures": ["DeepseekV2ForCausalLM"],
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV2Config"},
    "bos_token_id": 100000,
    "eos_token_id": 100001,
    "intermediate_size": 10944,
    "max_position_embeddings": 163840,
    "model_type": "deepseek_v2",
    "norm_topk_prob": False,
    "rms_norm_eps": 1e-06,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 0.707,
        "mscale_all_dim": 0.707,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
    "rope_theta": 10000,
    "routed_scaling_factor": 1.0,
    "scoring_func": "softmax",
    "topk_method": "greedy",
    "transformers_version": "4.33.1",
    "vocab_size": 102400,
}
MOONLIGHT_16B: dict[str, Any] = _DEEPSEEK | {
    "architectures": ["DeepseekV3ForCausalLM"],
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"},
    "bos_token_id": 163584,
    "eos_token_id": 163585,
    "ep_size": 1,
    "intermediate_size": 11264,
    "max_position_embeddings": 8192,
    "model_type": "deepseek_v3",
    "norm_topk_prob": True,
    "num_nextn_predict_layers": 0,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 50000.0,
    "routed_scaling_factor": 2.446,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "transformers_version": "4.48.3",
    "vocab_size": 163840,
}
DEEPSEEK_V3: dict[str, Any] = MOONLIGHT_16B | {
    "bos_token_id": 0,
    "eos_token_id": 1,
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048,
    "n_group": 8,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "rms_norm_eps": 1e-06,
    "rope_scaling": DEEPSEEK_V2_LITE["rope_scaling"] | {"mscale": 1.0, "mscale_all_dim": 1.0},
    "rope_theta": 10000,
    "routed_scaling_factor": 2.5,
    "topk_group": 4,
    "vocab_size": 129280,
}
CONFIGS = {
    "pythia_70m": PYTHIA_70M,
    "bloom_560m": BLOOM_560M,
    "mpt_7b": MPT_7B,
    "deepseek_v2_lite": DEEPSEEK_V2_LITE,
    "moonlight_16b": MOONLIGHT_16B,
    "deepseek_v3": DEEPSEEK_V3,
}
# As the Hub counts them, with the biases that only move Moonlight's choice of experts.
PARAMETERS = {
    "pythia_70m": 70_426_624,
    "bloom_560m": 559_214_592,
    "mpt_7b": 6_649_286_656,
    "deepseek_v2_lite": 15_706_484_224,
    "moonlight_16b": 15_960_110_208,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_as_many_parameters_as_the_makers_say(name):
    spec = family_of(CONFIGS[name]).read(CONFIGS[name])
    assert sum(parameter.numel() for parameter in empty(spec).parameters()) == PARAMETERS[name]


def test_pythia_turns_a_quarter_of_each_head():
    block = family_of(PYTHIA_70M).read(PYTHIA_70M).decoder.blocks[5]
    assert block.attention.position == s.Rotary(width=16)
    assert block.arrangement == s.Parallel()


def test_deepseek_v2_lite_sharpens_scores_by_the_square():
    attention = family_of(DEEPSEEK_V2_LITE).read(DEEPSEEK_V2_LITE).decoder.blocks[26].attention
    assert attention.scale == pytest.approx(1.2608 * 1.2608 / 192**0.5, rel=1e-4)
    assert attention.rotary.scaling == s.YaRN(40.0, 4096, attention_factor=1.0)
    assert attention.query_rank is None


def test_deepseek_v3_routes_within_four_of_eight_groups():
    blocks = family_of(DEEPSEEK_V3).read(DEEPSEEK_V3).decoder.blocks
    assert [type(block.feedforward) for block in blocks[:4]] == [s.Gated] * 3 + [s.Experts]
    assert blocks[3].feedforward.router == s.SigmoidRouter(scale=2.5, groups=s.RouterGroups(8, 4, "best_two"))


def test_eight_bit_weights_are_refused_by_name():
    quantised = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    with pytest.raises(CheckpointError, match="quantization_config"):
        family_of(DEEPSEEK_V3).read(DEEPSEEK_V3 | {"quantization_config": quantised})


@pytest.mark.parametrize("name", CONFIGS)
def test_written_and_read_again(name):
    family = family_of(CONFIGS[name])
    spec = family.read(CONFIGS[name])
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.7071067811865476, 1.0, 1.3, 3.0])
@pytest.mark.parametrize("factor", [1.5, 4, 40])
def test_any_weight_of_yarn_survives_writing(weight, factor):
    scaling = DEEPSEEK_V3["rope_scaling"] | {"mscale_all_dim": weight, "factor": factor}
    family = family_of(DEEPSEEK_V3)
    spec = family.read(DEEPSEEK_V3 | {"rope_scaling": scaling})
    assert difference(family.read(family.write(spec)), spec) is None


LAST = family_of(MOONLIGHT_16B).read(MOONLIGHT_16B).decoder.blocks[-1]
LATENT, EXPERTS = LAST.attention, LAST.feedforward
HARD_TO_SAY: dict[str, tuple[s.AnyAttention, s.FeedForward]] = {
    "scaled_without_yarn": (replace(LATENT, scale=0.5), EXPERTS),
    "norm_of_another_eps": (replace(LATENT, norm=s.RMSNorm(1e-5)), EXPERTS),
    "window": (replace(LATENT, visibility=s.Causal(window=8)), EXPERTS),
    "no_shared_expert": (LATENT, replace(EXPERTS, shared=None)),
    "uneven_shared_expert": (LATENT, replace(EXPERTS, shared=s.Gated(1409))),
    "gated_shared_expert": (LATENT, replace(EXPERTS, shared_gate=True)),
    "dense_experts": (LATENT, replace(EXPERTS, expert=s.Dense(1408))),
    "biased_experts": (LATENT, replace(EXPERTS, expert=s.Gated(1408, bias=True))),
    "no_experts": (LATENT, s.Gated(8)),
    "heads_beside_the_width": (s.Attention(5, 5, 8, 8, position=s.ALiBi()), s.Dense(128)),
}


@pytest.mark.parametrize("name", HARD_TO_SAY)
def test_what_no_family_says_is_refused_and_not_bent(name):
    attention, feedforward = HARD_TO_SAY[name]
    norm = s.RMSNorm()
    stack = s.Stack(32, s.Tokens(50), (s.Block(attention, feedforward, norm, norm),) * 2, final_norm=norm)
    with pytest.raises(CheckpointError):
        family_for(s.DecoderOnly(stack, s.Language(tied=False), 64), PUBLISHED)

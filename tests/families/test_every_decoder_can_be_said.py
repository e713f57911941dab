"""One representative spec of every decoder family in docs/families.md, with as many parameters as transformers has.

Sizes differ from each other on purpose, so that a norm, bias or projection too many or too few cannot cancel out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf

from clearformer import spec as s
from clearformer.build import empty

D, F, V, H, G, K, L, CONTEXT = 48, 88, 101, 6, 2, 8, 2, 64
RMS, UNIT = s.RMSNorm(1e-6), s.RMSNorm(1e-6, unit_offset=True, scale_first=True)
LAYER, NO_BIAS = s.LayerNorm(), s.LayerNorm(bias=False)
ROTARY, QKV = s.Rotary(), s.Biases(query=True, key=True, value=True)
ALL = s.Biases.everywhere()
SIZES = {"vocab_size": V, "hidden_size": D, "intermediate_size": F, "num_hidden_layers": L}
HEADS = {"num_attention_heads": H, "num_key_value_heads": G}
LLAMA_LIKE = {**SIZES, **HEADS, "max_position_embeddings": CONTEXT}


def grouped(position: s.AttentionPosition | None = ROTARY, **choices: Any) -> s.Attention:
    return s.Attention(H, G, K, K, position=position, **choices)


def multi_head(**choices: Any) -> s.Attention:
    return s.Attention(H, H, K, K, **choices)


def block(attention: s.AnyAttention, feedforward: s.FeedForward, norm: s.Norm | None = RMS, **choices: Any) -> s.Block:
    return s.Block(attention, feedforward, norm, norm, **choices)


def decoder(
    *blocks: s.Block, tied: bool = False, final: s.Norm = RMS, cap: float | None = None, **tokens: Any
) -> s.Spec:
    stack = s.Stack(D, s.Tokens(V, **tokens), blocks, final_norm=final)
    return s.DecoderOnly(stack, s.Language(tied, cap=cap), CONTEXT)


SWIGLU, GEGLU = s.Gated(F), s.Gated(F, "gelu_tanh")
WINDOW = s.Causal(window=16)
MIXTRAL = s.Experts(4, 2, SWIGLU, s.SoftmaxRouter("after"), balance_loss=0.001)
QWEN2_MOE = s.Experts(4, 2, s.Gated(40), s.SoftmaxRouter(), shared=s.Gated(56), shared_gate=True)
QWEN3_MOE = s.Experts(4, 2, s.Gated(40), s.SoftmaxRouter(normalise=True))
DEEPSEEK_V2 = s.Experts(4, 2, s.Gated(40), s.SoftmaxRouter(scale=1.5, groups=s.RouterGroups(2, 1)), shared=s.Gated(80))
DEEPSEEK_V3 = s.Experts(
    4, 2, s.Gated(40), s.SigmoidRouter(scale=2.5, groups=s.RouterGroups(2, 1, "best_two")), shared=s.Gated(40)
)
LATENT = s.LatentAttention(H, 10, 14, 24, s.Rotary(width=4, layout="interleaved"), query_rank=20)
MOE = {"moe_intermediate_size": 40, "num_experts": 4, "num_experts_per_tok": 2}
LATENT_SIZES = {
    "q_lora_rank": 20,
    "kv_lora_rank": 24,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 4,
    "v_head_dim": 14,
    "num_key_value_heads": H,
    "first_k_dense_replace": 1,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 40,
    "n_group": 2,
    "topk_group": 1,
    "routed_scaling_factor": 1.5,
}
GEMMA2 = s.Block(
    grouped(score_cap=50.0, scale=0.2, visibility=WINDOW), GEGLU, UNIT, UNIT, arrangement=s.Sequential("sandwich")
)
GEMMA3 = replace(GEMMA2, attention=grouped(s.Rotary(1e6, scaling=s.LinearScaling(8.0)), qk_norm=s.QKNorm(UNIT)))

PRE_BIASED = block(multi_head(bias=ALL), s.Dense(F, "gelu_tanh"), LAYER)
NEOX = block(multi_head(position=s.Rotary(width=2), bias=ALL), s.Dense(F, "gelu"), LAYER, arrangement=s.Parallel())
BLOOM = block(multi_head(position=s.ALiBi(), bias=ALL), s.Dense(4 * D, "gelu_tanh"), LAYER)
MPT = block(multi_head(position=s.ALiBi(8.0)), s.Dense(4 * D, "gelu", bias=False), NO_BIAS)
OLMO2 = block(grouped(qk_norm=s.QKNorm(RMS, "projection")), SWIGLU, arrangement=s.Sequential("branch"))
GLM4 = block(grouped(s.Rotary(width=4, layout="interleaved"), bias=QKV), SWIGLU, arrangement=s.Sequential("sandwich"))
QWEN3 = grouped(qk_norm=s.QKNorm(RMS))
# family: our spec, their model, its config
FAMILIES: dict[str, tuple[s.Spec, Any, Any]] = {
    "gpt2": (
        decoder(PRE_BIASED, PRE_BIASED, tied=True, final=LAYER, position=s.Learned(CONTEXT)),
        hf.GPT2LMHeadModel,
        hf.GPT2Config(vocab_size=V, n_embd=D, n_layer=L, n_head=H, n_positions=CONTEXT, n_inner=F),
    ),
    "llama": (decoder(*[block(grouped(), SWIGLU)] * L), hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA_LIKE)),
    "mistral": (
        decoder(*[block(grouped(visibility=WINDOW), SWIGLU)] * L),
        hf.MistralForCausalLM,
        hf.MistralConfig(**LLAMA_LIKE, sliding_window=16),
    ),
    "mixtral": (
        decoder(*[block(grouped(), MIXTRAL)] * L),
        hf.MixtralForCausalLM,
        hf.MixtralConfig(**LLAMA_LIKE, num_local_experts=4, num_experts_per_tok=2),
    ),
    "qwen2": (decoder(*[block(grouped(bias=QKV), SWIGLU)] * L), hf.Qwen2ForCausalLM, hf.Qwen2Config(**LLAMA_LIKE)),
    "qwen2_moe": (
        decoder(block(grouped(bias=QKV), QWEN2_MOE), block(grouped(bias=QKV), SWIGLU)),
        hf.Qwen2MoeForCausalLM,
        hf.Qwen2MoeConfig(**LLAMA_LIKE, **MOE, shared_expert_intermediate_size=56, mlp_only_layers=[1]),
    ),
    "qwen3": (decoder(*[block(QWEN3, SWIGLU)] * L), hf.Qwen3ForCausalLM, hf.Qwen3Config(**LLAMA_LIKE, head_dim=K)),
    "qwen3_moe": (
        decoder(block(QWEN3, QWEN3_MOE), block(QWEN3, SWIGLU)),
        hf.Qwen3MoeForCausalLM,
        hf.Qwen3MoeConfig(**LLAMA_LIKE, **MOE, head_dim=K, mlp_only_layers=[1], norm_topk_prob=True),
    ),
    "gemma": (
        decoder(*[block(grouped(), GEGLU, UNIT)] * L, tied=True, final=UNIT, scale=D**0.5),
        hf.GemmaForCausalLM,
        hf.GemmaConfig(**LLAMA_LIKE, head_dim=K),
    ),
    "gemma2": (
        decoder(*[GEMMA2] * L, tied=True, final=UNIT, cap=30.0, scale=D**0.5),
        hf.Gemma2ForCausalLM,
        hf.Gemma2Config(**LLAMA_LIKE, head_dim=K, query_pre_attn_scalar=25),
    ),
    "gemma3": (
        decoder(*[GEMMA3] * L, tied=True, final=UNIT, scale=D**0.5),
        hf.Gemma3ForCausalLM,
        hf.Gemma3TextConfig(**LLAMA_LIKE, head_dim=K),
    ),
    "phi3": (
        decoder(*[block(grouped(s.Rotary(width=6)), SWIGLU)] * L),
        hf.Phi3ForCausalLM,
        hf.Phi3Config(**LLAMA_LIKE, pad_token_id=0),
    ),
    "gpt_neox": (
        decoder(*[NEOX] * L, final=LAYER),
        hf.GPTNeoXForCausalLM,
        hf.GPTNeoXConfig(**SIZES, num_attention_heads=H, max_position_embeddings=CONTEXT),
    ),
    "olmo2": (decoder(*[OLMO2] * L), hf.Olmo2ForCausalLM, hf.Olmo2Config(**LLAMA_LIKE)),
    "bloom": (
        decoder(*[BLOOM] * L, tied=True, final=LAYER, norm=LAYER),
        hf.BloomForCausalLM,
        hf.BloomConfig(vocab_size=V, hidden_size=D, n_layer=L, n_head=H),
    ),
    "mpt": (
        decoder(*[MPT] * L, tied=True, final=NO_BIAS),
        hf.MptForCausalLM,
        hf.MptConfig(vocab_size=V, d_model=D, n_layers=L, n_heads=H, max_seq_len=CONTEXT),
    ),
    "glm4": (
        decoder(*[GLM4] * L),
        hf.Glm4ForCausalLM,
        hf.Glm4Config(**LLAMA_LIKE, head_dim=K, attention_bias=True, pad_token_id=0),
    ),
    "deepseek_v2": (
        decoder(block(LATENT, SWIGLU), block(LATENT, DEEPSEEK_V2)),
        hf.DeepseekV2ForCausalLM,
        hf.DeepseekV2Config(**LLAMA_LIKE | LATENT_SIZES, n_shared_experts=2, topk_method="group_limited_greedy"),
    ),
    "deepseek_v3": (
        decoder(block(LATENT, SWIGLU), block(LATENT, DEEPSEEK_V3)),
        hf.DeepseekV3ForCausalLM,
        hf.DeepseekV3Config(**LLAMA_LIKE | LATENT_SIZES, n_shared_experts=1),
    ),
    "smollm3": (
        decoder(block(grouped(), SWIGLU), block(grouped(None), SWIGLU), tied=True),
        hf.SmolLM3ForCausalLM,
        hf.SmolLM3Config(**LLAMA_LIKE, no_rope_layers=[1, 0], pad_token_id=0),
    ),
}


# Buffers in transformers, parameters here: the bias that only moves the choice of experts.
OURS_ONLY = {"deepseek_v3": 4}


@pytest.mark.parametrize("family", FAMILIES)
def test_as_many_parameters_as_transformers(family):
    spec, model, config = FAMILIES[family]
    with torch.device("meta"):
        theirs = model(config).num_parameters()
    ours = sum(parameter.numel() for parameter in empty(spec).parameters())
    assert ours == theirs + OURS_ONLY.get(family, 0)

"""Small models of every architecture that GGUF files are written for; none has a shape that hides a mistake."""

from __future__ import annotations

from typing import Any

import transformers as hf

from parity.saved_models import BERT, FEW_LOCAL, GPT2, LLAMA, YARN

# Divisors of short waves, of long ones and between, over a text of 64.
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e3,
    "factor": 4.0,
    "original_max_position_embeddings": 24,
    "low_freq_factor": 1.0,
    "high_freq_factor": 3.0,
}
LINEAR = {"rope_type": "linear", "rope_theta": 1e3, "factor": 3.0}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 1e3,
    "short_factor": [1.0, 1.25, 1.5, 2.0],
    "long_factor": [2.0, 3.0, 5.0, 9.0],
    "attention_factor": 1.25,
}
BY_KIND = {
    "full_attention": LINEAR,
    "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
}
LOCAL = LLAMA | {"num_hidden_layers": 4, "head_dim": 16, "sliding_window": 8}
MIXED = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]

DECODERS: dict[str, tuple[Any, Any]] = {
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA, head_dim=12, rope_parameters=LLAMA3)),
    "llama_biases": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(**LLAMA, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, rope_parameters=YARN),
    ),
    "llama_yarn": (hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA, rope_parameters=YARN | {"attention_factor": 1.7})),
    "llama_longrope": (
        hf.LlamaForCausalLM,
        hf.LlamaConfig(**LLAMA, rope_parameters=LONG | {"original_max_position_embeddings": 16}),
    ),
    "mistral": (
        hf.MistralForCausalLM,
        hf.MistralConfig(**LLAMA, head_dim=16, sliding_window=None, rope_parameters=LINEAR),
    ),
    "mixtral": (hf.MixtralForCausalLM, hf.MixtralConfig(**FEW_LOCAL, tie_word_embeddings=True)),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config(**LLAMA, rope_parameters=YARN)),
    "qwen2_tied": (hf.Qwen2ForCausalLM, hf.Qwen2Config(**LLAMA | {"vocab_size": 103}, tie_word_embeddings=True)),
    "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config(**LLAMA, head_dim=16, tie_word_embeddings=True)),
    "gemma": (hf.GemmaForCausalLM, hf.GemmaConfig(**LLAMA, head_dim=16)),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config(**LOCAL, query_pre_attn_scalar=16, final_logit_softcapping=20.0)),
    "gemma2_mixed": (hf.Gemma2ForCausalLM, hf.Gemma2Config(**LOCAL, query_pre_attn_scalar=16, layer_types=MIXED)),
    "gemma3": (
        hf.Gemma3ForCausalLM,
        hf.Gemma3TextConfig(**LOCAL | {"num_hidden_layers": 7}, query_pre_attn_scalar=16, rope_parameters=BY_KIND),
    ),
    "gemma3_mixed": (
        hf.Gemma3ForCausalLM,
        hf.Gemma3TextConfig(
            **LOCAL, query_pre_attn_scalar=16, layer_types=MIXED, final_logit_softcapping=9.0, tie_word_embeddings=False
        ),
    ),
    "phi3": (hf.Phi3ForCausalLM, hf.Phi3Config(**LLAMA)),
    "phi3_longrope": (
        hf.Phi3ForCausalLM,
        hf.Phi3Config(**LLAMA, original_max_position_embeddings=16, rope_parameters=LONG),
    ),
    "phi3_part": (
        hf.Phi3ForCausalLM,
        hf.Phi3Config(**LLAMA, rope_parameters={"rope_type": "default", "partial_rotary_factor": 0.5}),
    ),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2, n_inner=80)),
    "gpt2_untied": (hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2, tie_word_embeddings=False)),
}
ENCODERS: dict[str, tuple[Any, Any]] = {"bert": (hf.BertModel, hf.BertConfig(**BERT))}

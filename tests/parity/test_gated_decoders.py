"""Llama's descendants as transformers computes them: biases, windows, norms of heads, experts; and each key wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers as hf

from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
THREE = {"num_hidden_layers": 3}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e3,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
LINEAR = {"rope_type": "linear", "rope_theta": 1e3, "factor": 4.0}
TIED = {"tie_word_embeddings": True}
FEW = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
SHARED = FEW | {"shared_expert_intermediate_size": 40}
WINDOW = {"use_sliding_window": True, "sliding_window": 7}
MIXED = ["sliding_attention", "full_attention", "sliding_attention"]
# choice: class, what its config says beyond SMALL
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "mistral": (hf.MistralForCausalLM, {"sliding_window": 7, "head_dim": 16}),
    "mistral_open_tied": (hf.MistralForCausalLM, {"sliding_window": None, "num_key_value_heads": 6, **TIED}),
    "mistral_narrow": (
        hf.MistralForCausalLM,
        {"sliding_window": 12, "head_dim": 4, "num_attention_heads": 8, "num_key_value_heads": 1, "vocab_size": 97}
        | {"rope_parameters": YARN, "hidden_act": "gelu"},
    ),
    "mixtral": (hf.MixtralForCausalLM, {"num_local_experts": 4}),
    "mixtral_window_tied": (
        hf.MixtralForCausalLM,
        {"num_local_experts": 5, "num_experts_per_tok": 3, "sliding_window": 9, **TIED},
    ),
    "mixtral_one": (
        hf.MixtralForCausalLM,
        {"num_local_experts": 3, "num_experts_per_tok": 1, "head_dim": 12, "rope_parameters": LLAMA3},
    ),
    "qwen2": (hf.Qwen2ForCausalLM, {}),
    "qwen2_late_windows_tied": (hf.Qwen2ForCausalLM, {**THREE, **WINDOW, "max_window_layers": 1, **TIED}),
    "qwen2_mixed_windows": (hf.Qwen2ForCausalLM, {**THREE, **WINDOW, "layer_types": MIXED, "rope_parameters": YARN}),
    "qwen2_moe": (hf.Qwen2MoeForCausalLM, SHARED),
    "qwen2_moe_normalised": (
        hf.Qwen2MoeForCausalLM,
        {**SHARED, **THREE, **TIED, "norm_topk_prob": True, "decoder_sparse_step": 2, "qkv_bias": False},
    ),
    "qwen2_moe_windows": (
        hf.Qwen2MoeForCausalLM,
        {**SHARED, **WINDOW, "num_hidden_layers": 4, "max_window_layers": 3, "mlp_only_layers": [1, 2]}
        | {"num_experts_per_tok": 4, "rope_parameters": LINEAR},
    ),
    "qwen3": (hf.Qwen3ForCausalLM, {"head_dim": 16, **TIED}),
    "qwen3_usual_width": (hf.Qwen3ForCausalLM, {"num_hidden_layers": 1, "num_attention_heads": 2}),
    "qwen3_biases_windows": (
        hf.Qwen3ForCausalLM,
        {**THREE, **WINDOW, "head_dim": 12, "attention_bias": True, "max_window_layers": 2, "rope_parameters": LLAMA3},
    ),
    "qwen3_moe": (hf.Qwen3MoeForCausalLM, {**FEW, "head_dim": 16}),
    "qwen3_moe_normalised": (
        hf.Qwen3MoeForCausalLM,
        {**FEW, **THREE, **TIED, "norm_topk_prob": True, "decoder_sparse_step": 2, "attention_bias": True},
    ),
    "qwen3_moe_windows": (hf.Qwen3MoeForCausalLM, {**FEW, **WINDOW, "mlp_only_layers": [0], "num_key_value_heads": 6}),
}


HEADS = [
    (getattr(hf, kind.__name__.removesuffix("ForCausalLM") + head), changes)
    for kind, changes in (CHOICES[each] for each in ("mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"))
    for head in ("Model", "ForSequenceClassification")
]


class TestGatedDecoders(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize("choice", ["mixtral", "qwen2_moe", "qwen3_moe"])
def test_experts_stacked_as_in_memory(original, load_folder, tmp_path, choice):
    """transformers saves experts apart, as the Hub has them, unless it is told to keep its own form."""
    found = original(choice)
    found.model.save_pretrained(tmp_path / "stacked", save_original_format=False)
    apart, stacked = load_folder(found.folder), load_folder(tmp_path / "stacked")
    for name, value in apart.model.named_parameters():
        assert torch.equal(value, stacked.model.get_parameter(name))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("mistral", {"sliding_window": 8}),
    ("mistral", {"sliding_window": 6}),
    ("mistral", {"sliding_window": None}),
    ("mistral", {"head_dim": None}),
    ("mistral", {"num_key_value_heads": 3}),
    ("mistral", {"num_key_value_heads": None}),
    ("mistral", {"tie_word_embeddings": True}),
    ("mistral", {"rms_norm_eps": 1e-3}),
    ("mistral", {"attention_bias": True}),
    ("mistral_open_tied", {"sliding_window": 4}),
    ("mistral_open_tied", {"tie_word_embeddings": False}),
    ("mistral_narrow", {"hidden_act": "silu"}),
    ("mistral_narrow", {"rope_parameters": None}),
    ("mixtral", {"num_experts_per_tok": 1}),
    ("mixtral", {"num_experts_per_tok": 3}),
    ("mixtral", {"num_local_experts": 3}),
    ("mixtral", {"num_experts": 5}),
    ("mixtral", {"sliding_window": 10}),
    ("mixtral", {"hidden_act": "gelu"}),
    ("mixtral", {"rope_parameters": {"rope_type": "default"}, "rope_theta": 1e4}),
    ("mixtral_window_tied", {"sliding_window": None}),
    ("qwen2", {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1, "layer_types": None}),
    ("qwen2", {"use_mrope": True}),
    ("qwen2", {"head_dim": 16}),
    ("qwen2_late_windows_tied", {"max_window_layers": 2, "layer_types": None}),
    ("qwen2_late_windows_tied", {"use_sliding_window": False}),
    ("qwen2_late_windows_tied", {"sliding_window": 9}),
    ("qwen2_mixed_windows", {"layer_types": MIXED[1:] + MIXED[:1]}),
    ("qwen2_mixed_windows", {"layer_types": None}),
    ("qwen2_mixed_windows", {"layer_types": MIXED[:2]}),
    ("qwen2_moe", {"norm_topk_prob": True}),
    ("qwen2_moe", {"num_experts_per_tok": 3}),
    ("qwen2_moe", {"num_experts": 4}),
    ("qwen2_moe", {"moe_intermediate_size": 12}),
    ("qwen2_moe", {"shared_expert_intermediate_size": 24}),
    ("qwen2_moe", {"qkv_bias": False}),
    ("qwen2_moe", {"decoder_sparse_step": 2}),
    ("qwen2_moe_normalised", {"norm_topk_prob": False}),
    ("qwen2_moe_normalised", {"decoder_sparse_step": 1}),
    ("qwen2_moe_normalised", {"intermediate_size": 40}),
    ("qwen2_moe_normalised", {"qkv_bias": None}),
    ("qwen2_moe_windows", {"mlp_only_layers": [1]}),
    ("qwen2_moe_windows", {"max_window_layers": 2, "layer_types": None}),
    ("qwen2_moe_windows", {"use_sliding_window": False, "layer_types": None}),
    ("qwen3", {"head_dim": None}),
    ("qwen3", {"attention_bias": True}),
    ("qwen3", {"rms_norm_eps": 1e-3}),
    ("qwen3_biases_windows", {"attention_bias": False}),
    ("qwen3_biases_windows", {"sliding_window": 6}),
    ("qwen3_biases_windows", {"max_window_layers": 1, "layer_types": None}),
    ("qwen3_moe", {"head_dim": None}),
    ("qwen3_moe", {"norm_topk_prob": True}),
    ("qwen3_moe", {"num_experts_per_tok": 1}),
    ("qwen3_moe", {"num_local_experts": 6}),
    ("qwen3_moe_normalised", {"norm_topk_prob": False}),
    ("qwen3_moe_normalised", {"attention_bias": None}),
    ("qwen3_moe_windows", {"use_sliding_window": False}),
    ("qwen3_moe_windows", {"sliding_window": 8}),
    ("qwen3_moe_windows", {"mlp_only_layers": []}),
]

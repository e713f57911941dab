"""Configs that tests of cards read, each as it would be published."""

from __future__ import annotations

from typing import Any

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 5000.0,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": True,
    "attention_dropout": 0.1,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "bos_token_id": 1,
}
GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 2,
    "n_positions": 24,
    "vocab_size": 50,
    "resid_pdrop": 0.0,
    "layer_norm_epsilon": 1e-5,
    "summary_type": "cls_index",
}
GEMMA3: dict[str, Any] = {
    "model_type": "gemma3_text",
    "vocab_size": 90,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 40,
    "sliding_window": 5,
    "query_pre_attn_scalar": 8,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    },
    "final_logit_softcapping": 30.0,
}
MIXTRAL: dict[str, Any] = {
    **{key: LLAMA[key] for key in ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers")},
    **{key: LLAMA[key] for key in ("num_attention_heads", "num_key_value_heads", "max_position_embeddings")},
    "model_type": "mixtral",
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "router_aux_loss_coef": 0.01,
}
DEEPSEEK: dict[str, Any] = {
    "model_type": "deepseek_v2",
    "vocab_size": 90,
    "hidden_size": 32,
    "intermediate_size": 48,
    "moe_intermediate_size": 16,
    "num_hidden_layers": 3,
    "first_k_dense_replace": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "n_shared_experts": 2,
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "kv_lora_rank": 12,
    "q_lora_rank": 10,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 6,
    "topk_method": "greedy",
    "n_group": 1,
    "topk_group": 1,
    "max_position_embeddings": 64,
}
T5: dict[str, Any] = {
    "model_type": "t5",
    "d_model": 32,
    "d_ff": 48,
    "d_kv": 8,
    "num_heads": 3,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "vocab_size": 70,
    "feed_forward_proj": "gated-gelu",
    "relative_attention_num_buckets": 16,
    "layer_norm_epsilon": 1e-6,
    "tie_word_embeddings": False,
    "dropout_rate": 0.1,
    "is_encoder_decoder": True,
}
CLIP: dict[str, Any] = {
    "model_type": "clip",
    "projection_dim": 20,
    "logit_scale_init_value": 2.6592,
    "text_config": {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "eos_token_id": 2},
    "vision_config": {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 3, "patch_size": 8},
}
LLAVA: dict[str, Any] = {
    "model_type": "llava",
    "image_token_index": 100,
    "text_config": LLAMA,
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 32, "num_attention_heads": 4},
}

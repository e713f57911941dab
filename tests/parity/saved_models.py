"""A small model of each family and kind of head, to be saved back; none has a shape that hides a mistake."""

from __future__ import annotations

from typing import Any

import transformers as hf

LLAMA = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
GPT2 = {"vocab_size": 101, "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 64, "eos_token_id": 0}
BERT = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
FEW = LLAMA | {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
SHARED = FEW | {"shared_expert_intermediate_size": 40}
FEW_LOCAL = LLAMA | {"num_local_experts": 5, "num_experts_per_tok": 2}
WINDOW = {"use_sliding_window": True, "sliding_window": 7, "num_hidden_layers": 3}
T5 = {
    "vocab_size": 101,
    "d_model": 48,
    "d_kv": 10,
    "d_ff": 88,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 6,
    "relative_attention_num_buckets": 12,
    "relative_attention_max_distance": 20,
}
FLAN = {"feed_forward_proj": "gated-silu", "tie_word_embeddings": False}
PAPER = {
    "vocab_size": 101,
    "d_model": 48,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 88,
    "decoder_ffn_dim": 72,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}
APART = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 83, "activation_function": "swish"}
ROBERTA = BERT | {"max_position_embeddings": 66, "type_vocab_size": 1}
DISTILBERT = {"vocab_size": 101, "dim": 48, "hidden_dim": 88, "n_layers": 2, "n_heads": 4}
MODERNBERT = BERT | {"num_hidden_layers": 4, "local_attention": 8, "pad_token_id": 0}
SEEN = {key: BERT[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")}
IMAGE = SEEN | {"image_size": 24, "patch_size": 8}
TEXT = BERT | {"eos_token_id": 2, "projection_dim": 20}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.2, 1.5], "long_factor": [2.0, 3.0, 5.0]}
BY_KIND = {"full_attention": YARN, "sliding_attention": {"rope_type": "linear", "rope_theta": 1e2, "factor": 2.0}}
# Three layers, one of them local; a sequence is longer than the window.
SLIDING = LLAMA | {
    "num_hidden_layers": 3,
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
    "sliding_window": 8,
}
HALF = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}
NEOX = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
MPT = {"vocab_size": 101, "d_model": 48, "n_layers": 2, "n_heads": 6, "max_seq_len": 64}
LATENT = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "moe_intermediate_size": 24,
    "num_hidden_layers": 2,
    "first_k_dense_replace": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "q_lora_rank": 20,
    "kv_lora_rank": 28,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 6,
    "v_head_dim": 14,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 2,
    "n_group": 4,
    "topk_group": 2,
    "max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
HALF_YARN = YARN | {"partial_rotary_factor": 0.5}
MODELS: dict[str, tuple[Any, Any]] = {
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA, head_dim=12, attention_bias=True, rope_parameters=YARN)),
    "llama_tied": (hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA, tie_word_embeddings=True, mlp_bias=True)),
    "llama_labels": (hf.LlamaForSequenceClassification, hf.LlamaConfig(**LLAMA, num_labels=4)),
    "mistral": (hf.MistralForCausalLM, hf.MistralConfig(**LLAMA, head_dim=16, sliding_window=7, rope_parameters=YARN)),
    "mistral_headless": (hf.MistralModel, hf.MistralConfig(**LLAMA, sliding_window=9)),
    "mixtral": (hf.MixtralForCausalLM, hf.MixtralConfig(**FEW_LOCAL, tie_word_embeddings=True)),
    "mixtral_labels": (
        hf.MixtralForSequenceClassification,
        hf.MixtralConfig(**FEW_LOCAL, sliding_window=7, num_labels=4),
    ),
    "qwen2": (hf.Qwen2ForCausalLM, hf.Qwen2Config(**LLAMA | WINDOW, max_window_layers=1)),
    "qwen2_labels": (hf.Qwen2ForSequenceClassification, hf.Qwen2Config(**LLAMA, num_labels=4)),
    "qwen2_moe": (
        hf.Qwen2MoeForCausalLM,
        hf.Qwen2MoeConfig(**SHARED | WINDOW, mlp_only_layers=[1], norm_topk_prob=True),
    ),
    "qwen2_moe_headless": (hf.Qwen2MoeModel, hf.Qwen2MoeConfig(**SHARED, qkv_bias=False)),
    "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config(**LLAMA | WINDOW, head_dim=16, max_window_layers=2)),
    "qwen3_headless": (hf.Qwen3Model, hf.Qwen3Config(**LLAMA, head_dim=12, attention_bias=True)),
    "qwen3_moe": (
        hf.Qwen3MoeForCausalLM,
        hf.Qwen3MoeConfig(**FEW | WINDOW, decoder_sparse_step=2, norm_topk_prob=True),
    ),
    "qwen3_moe_labels": (hf.Qwen3MoeForSequenceClassification, hf.Qwen3MoeConfig(**FEW, head_dim=16, num_labels=4)),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True)),
    "gpt2_untied": (hf.GPT2LMHeadModel, hf.GPT2Config(**GPT2, tie_word_embeddings=False, scale_attn_weights=False)),
    "gpt2_headless": (hf.GPT2Model, hf.GPT2Config(**GPT2, n_inner=80)),
    "gemma": (hf.GemmaForCausalLM, hf.GemmaConfig(**LLAMA, head_dim=16, attention_bias=True, rope_parameters=YARN)),
    "gemma_labels": (hf.GemmaForSequenceClassification, hf.GemmaConfig(**LLAMA, head_dim=8, num_labels=1)),
    "gemma2": (hf.Gemma2ForCausalLM, hf.Gemma2Config(**SLIDING, head_dim=16, query_pre_attn_scalar=24)),
    "gemma2_uncapped": (
        hf.Gemma2ForCausalLM,
        hf.Gemma2Config(**SLIDING, head_dim=8, attn_logit_softcapping=None, final_logit_softcapping=None),
    ),
    "gemma3": (hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(**SLIDING, head_dim=16, final_logit_softcapping=5.0)),
    "gemma3_scaled": (hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(**SLIDING, head_dim=12, rope_parameters=BY_KIND)),
    "gemma3_both_ways": (
        hf.Gemma3TextModel,
        hf.Gemma3TextConfig(**SLIDING, head_dim=8, use_bidirectional_attention=True),
    ),
    "olmo2": (hf.Olmo2ForCausalLM, hf.Olmo2Config(**LLAMA, attention_bias=True, tie_word_embeddings=True)),
    "olmo2_headless": (hf.Olmo2Model, hf.Olmo2Config(**LLAMA, rope_parameters=YARN)),
    "phi3": (
        hf.Phi3ForCausalLM,
        hf.Phi3Config(
            **LLAMA,
            rope_parameters={**LONG, "rope_theta": 1e3, "partial_rotary_factor": 0.75},
            original_max_position_embeddings=16,
            sliding_window=9,
        ),
    ),
    "phi3_half": (hf.Phi3ForCausalLM, hf.Phi3Config(**LLAMA, rope_parameters=HALF, tie_word_embeddings=True)),
    "smollm3": (hf.SmolLM3ForCausalLM, hf.SmolLM3Config(**SLIDING, use_sliding_window=True, no_rope_layers=[0, 1, 0])),
    "smollm3_untied": (
        hf.SmolLM3ForCausalLM,
        hf.SmolLM3Config(
            **LLAMA, no_rope_layer_interval=2, mlp_bias=True, attention_bias=True, tie_word_embeddings=False
        ),
    ),
    "glm4": (hf.Glm4ForCausalLM, hf.Glm4Config(**LLAMA, head_dim=12, attention_bias=True)),
    "glm4_whole": (
        hf.Glm4ForCausalLM,
        hf.Glm4Config(**LLAMA, head_dim=8, attention_bias=False, partial_rotary_factor=1.0),
    ),
    "bert": (hf.BertModel, hf.BertConfig(**BERT)),
    "bert_masked": (hf.BertForMaskedLM, hf.BertConfig(**BERT, hidden_act="gelu_new")),
    "bert_untied": (hf.BertForMaskedLM, hf.BertConfig(**BERT, tie_word_embeddings=False)),
    "bert_labels": (hf.BertForSequenceClassification, hf.BertConfig(**BERT, num_labels=3)),
    "t5": (hf.T5ForConditionalGeneration, hf.T5Config(**T5)),
    "t5_gated": (hf.T5ForConditionalGeneration, hf.T5Config(**T5, feed_forward_proj="gated-gelu")),
    "t5_own_head": (
        hf.T5ForConditionalGeneration,
        hf.T5Config(**T5, feed_forward_proj="gated-silu", tie_word_embeddings=False),
    ),
    "t5_encoder": (hf.T5EncoderModel, hf.T5Config(**T5, is_encoder_decoder=False)),
    "marian": (hf.MarianMTModel, hf.MarianConfig(**PAPER, scale_embedding=True)),
    "marian_apart": (hf.MarianMTModel, hf.MarianConfig(**PAPER, **APART)),
    "bart": (hf.BartForConditionalGeneration, hf.BartConfig(**PAPER, scale_embedding=True)),
    "roberta": (hf.RobertaModel, hf.RobertaConfig(**ROBERTA | {"pad_token_id": 3})),
    "roberta_masked": (hf.RobertaForMaskedLM, hf.RobertaConfig(**ROBERTA, hidden_act="relu")),
    "roberta_untied": (hf.RobertaForMaskedLM, hf.RobertaConfig(**ROBERTA, tie_word_embeddings=False)),
    "roberta_labels": (hf.RobertaForSequenceClassification, hf.RobertaConfig(**ROBERTA, num_labels=3)),
    "xlm_roberta": (hf.XLMRobertaForMaskedLM, hf.XLMRobertaConfig(**ROBERTA, hidden_act="silu")),
    "distilbert": (hf.DistilBertModel, hf.DistilBertConfig(**DISTILBERT, activation="relu")),
    "distilbert_masked": (hf.DistilBertForMaskedLM, hf.DistilBertConfig(**DISTILBERT)),
    "distilbert_untied": (hf.DistilBertForMaskedLM, hf.DistilBertConfig(**DISTILBERT, tie_word_embeddings=False)),
    "distilbert_labels": (hf.DistilBertForSequenceClassification, hf.DistilBertConfig(**DISTILBERT, num_labels=3)),
    "modernbert": (hf.ModernBertModel, hf.ModernBertConfig(**MODERNBERT, global_attn_every_n_layers=2, norm_bias=True)),
    "modernbert_masked": (
        hf.ModernBertForMaskedLM,
        hf.ModernBertConfig(**MODERNBERT, attention_bias=True, mlp_bias=True),
    ),
    "modernbert_untied": (
        hf.ModernBertForMaskedLM,
        hf.ModernBertConfig(**MODERNBERT, tie_word_embeddings=False, decoder_bias=False, classifier_bias=True),
    ),
    "modernbert_labels": (
        hf.ModernBertForSequenceClassification,
        hf.ModernBertConfig(**MODERNBERT, num_labels=3, classifier_pooling="mean", classifier_activation="silu"),
    ),
    "vit": (hf.ViTModel, hf.ViTConfig(**IMAGE | {"image_size": [16, 24]}, qkv_bias=False, num_channels=1)),
    "vit_labels": (hf.ViTForImageClassification, hf.ViTConfig(**IMAGE, num_labels=3, hidden_act="gelu_new")),
    "clip": (hf.CLIPModel, hf.CLIPConfig(text_config=TEXT, vision_config=IMAGE, projection_dim=20)),
    "clip_text": (hf.CLIPTextModelWithProjection, hf.CLIPTextConfig(**TEXT | {"eos_token_id": 7})),
    "clip_text_hidden": (hf.CLIPTextModel, hf.CLIPTextConfig(**TEXT)),
    "clip_image": (hf.CLIPVisionModelWithProjection, hf.CLIPVisionConfig(**IMAGE, projection_dim=20)),
    "clip_image_pooled": (hf.CLIPVisionModel, hf.CLIPVisionConfig(**IMAGE)),
    "gpt_neox": (hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig(**NEOX, attention_bias=False)),
    "gpt_neox_tied": (
        hf.GPTNeoXForCausalLM,
        hf.GPTNeoXConfig(**NEOX, tie_word_embeddings=True, use_parallel_residual=False, rope_parameters=HALF_YARN),
    ),
    "gpt_neox_labels": (hf.GPTNeoXForSequenceClassification, hf.GPTNeoXConfig(**NEOX, num_labels=4)),
    "bloom": (hf.BloomForCausalLM, hf.BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=6)),
    "bloom_untied": (
        hf.BloomForCausalLM,
        hf.BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=6, tie_word_embeddings=False),
    ),
    "bloom_headless": (hf.BloomModel, hf.BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=8)),
    "mpt": (hf.MptForCausalLM, hf.MptConfig(**MPT, attn_config={"softmax_scale": 0.3})),
    "mpt_untied": (hf.MptForCausalLM, hf.MptConfig(**MPT, tie_word_embeddings=False)),
    "deepseek_v2": (
        hf.DeepseekV2ForCausalLM,
        hf.DeepseekV2Config(**LATENT, topk_method="group_limited_greedy", mlp_bias=True, rope_parameters=YARN),
    ),
    "deepseek_v2_greedy": (
        hf.DeepseekV2ForCausalLM,
        hf.DeepseekV2Config(**LATENT | {"q_lora_rank": None}, attention_bias=True, tie_word_embeddings=True),
    ),
    "deepseek_v3": (
        hf.DeepseekV3ForCausalLM,
        hf.DeepseekV3Config(**LATENT, rope_parameters=YARN | {"mscale_all_dim": 0.9}),
    ),
    "deepseek_v3_headless": (
        hf.DeepseekV3Model,
        hf.DeepseekV3Config(**LATENT | {"n_group": 1, "topk_group": 1}, rope_interleave=False, norm_topk_prob=False),
    ),
}


# Parameters that the answer does not depend on.
POOLER = {"pooler.dense.weight", "pooler.dense.bias"}
UNUSED = {
    **{name: POOLER for name in ("bert", "roberta", "vit")},
    "bert_untied": {"cls.predictions.bias"},
    "roberta_untied": {"lm_head.bias"},
}

"""How configs spell a choice: many names of one thing, gathered under the one that is most common today.

A concept is that name. GGUF files spell without the architecture in front (`llama.block_count`), our own specs by the
type and its field.
"""

from __future__ import annotations

from collections.abc import Collection


def _table(text: str) -> dict[str, str]:
    """`concept: spelling spelling …`, a line that begins deeper going on with the one before."""
    found: dict[str, str] = {}
    concept = ""
    for line in text.splitlines():
        before, colon, after = line.strip().rpartition(": ")
        concept = before if colon else concept
        found |= dict.fromkeys(after.split(), concept)
    return found


SPELLINGS = _table(
    """
    hidden_size: n_embd n_embed d_model dim
    num_attention_heads: n_head n_heads num_heads encoder_attention_heads decoder_attention_heads
    head_dim: d_kv qk_head_dim
    attention_bias: qkv_bias no_bias
    sliding_window_pattern: _sliding_window_pattern global_attn_every_n_layers
    query_pre_attn_scalar: softmax_scale
    is_decoder: directionality use_bidirectional_attention
    max_position_embeddings: n_positions n_ctx seq_length max_seq_len
    position_embedding_type: sinusoidal_pos_embds static_position_embeddings learned_pos_emb
    rope_theta: rotary_emb_base global_rope_theta
    local_rope_theta: rope_local_base_freq
    rope_scaling: rope_parameters
    rope_type: type
    attention_factor: mscale
    partial_rotary_factor: rotary_pct
    rope_interleave: rope_interleaved
    intermediate_size: n_inner d_ff hidden_dim encoder_ffn_dim decoder_ffn_dim
    hidden_act: activation_function activation hidden_activation dense_act_fn
    feed_forward_proj: is_gated_act
    num_local_experts: num_experts n_routed_experts
    shared_expert_intermediate_size: n_shared_experts
    decoder_sparse_step: moe_layer_freq
    mlp_only_layers: first_k_dense_replace
    layer_norm_eps: layer_norm_epsilon norm_eps
    norm_type:
    normalize_before: apply_residual_connection_post_layernorm
    num_hidden_layers: n_layer n_layers num_layers encoder_layers
    decoder_layers: num_decoder_layers
    share_encoder_decoder_embeddings: tie_encoder_decoder
    num_nextn_predict_layers: num_mtp_layers
    tie_word_embeddings: tie_weights_
    lm_head_bias: add_bias_logits decoder_bias
    num_labels: id2label _num_labels
    classifier_pooling: pooler_type
    dropout: hidden_dropout hidden_dropout_prob resid_pdrop dropout_rate
    attention_dropout: attention_probs_dropout_prob attn_pdrop
    embd_pdrop: emb_pdrop embedding_dropout
    activation_dropout: mlp_dropout
    classifier_dropout: classif_dropout seq_classif_dropout qa_dropout summary_first_dropout
    encoder_layerdrop: decoder_layerdrop
    initializer_range: init_std
    router_aux_loss_coef: aux_loss_alpha
    sparse_prediction: sparse_pred_ignore_index repad_logits_with_grad
    replacing_rate: save_step student_decoder_layers student_encoder_layers
    init_config: init_device
    _name_or_path: tokenizer_name tokenizer_class transformers_version transformers.js_config auto_map
        task_specific_params finetuning_task is_llama_config
    torch_dtype: dtype use_bfloat16
    attn_implementation: _attn_implementation attn_impl chunk_size_feed_forward attention_softmax_in_fp32
        bias_dropout_fusion masked_softmax_fusion skip_bias_add skip_bias_add_qkv slow_but_exact
        reorder_and_upcast_attn deterministic_flash_attn reference_compile pretraining_tp ep_size
        cache_implementation torchscript xla_device offset_alibi
    output_attentions: output_hidden_states output_past return_dict use_cache output_router_logits verbose
        tf_legacy_loss
    bos_token_id: eos_token_id pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id
        decoder_start_token_id
    bad_words_ids: begin_suppress_tokens diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size
        exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id length_penalty max_length
        min_length no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_scores prefix
        remove_invalid_values repetition_penalty return_dict_in_generate suppress_tokens temperature top_k top_p
        typical_p force_bos_token_to_be_generated
    pooler_fc_size: pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_output_size
        pooler_act summary_type summary_use_proj summary_activation summary_proj_to_labels encoder_stride
    """
)

GGUF = _table(
    """
    model_type: general.architecture
    hidden_size: embedding_length
    num_attention_heads: attention.head_count
    num_key_value_heads: attention.head_count_kv
    head_dim: attention.key_length
    v_head_dim: attention.value_length
    sliding_window: attention.sliding_window
    query_pre_attn_scalar: attention.scale
    qk_ln: attention.qk_norm
    is_decoder: causal attention.causal
    max_position_embeddings: context_length
    rope_theta: rope.freq_base
    local_rope_theta: rope.freq_base_swa
    sliding_window_pattern: attention.sliding_window_pattern
    kv_lora_rank: attention.kv_lora_rank
    q_lora_rank: attention.q_lora_rank
    alibi_bias_max: attention.max_alibi_bias
    clip_qkv: attention.clamp_kqv
    relative_attention_num_buckets: attention.relative_buckets_count
    rope_type: rope.scaling.type
    factor: rope.scaling.factor
    original_max_position_embeddings: rope.scaling.original_context_length
    beta_fast: rope.scaling.yarn_beta_fast
    beta_slow: rope.scaling.yarn_beta_slow
    attention_factor: rope.scaling.attn_factor rope.scaling.yarn_attn_factor rope.scaling.yarn_log_multiplier
        rope.scaling.yarn_ext_factor
    rope.scaling.finetuned: rope.scale_linear
    partial_rotary_factor: rope.dimension_count
    intermediate_size: feed_forward_length
    num_local_experts: expert_count
    num_experts_per_tok: expert_used_count
    routed_scaling_factor: expert_weights_scale
    norm_topk_prob: expert_weights_norm
    scoring_func: expert_gating_func
    n_group: expert_group_count
    topk_group: expert_group_used_count
    moe_intermediate_size: expert_feed_forward_length
    shared_expert_intermediate_size: expert_shared_count expert_shared_feed_forward_length
    mlp_only_layers: leading_dense_block_count
    rms_norm_eps: attention.layer_norm_rms_epsilon
    layer_norm_eps: attention.layer_norm_epsilon
    num_hidden_layers: block_count
    decoder_layers: decoder_block_count
    num_nextn_predict_layers: nextn_predict_layers
    classifier_pooling: pooling_type
    torch_dtype: general.file_type
    attn_implementation: tensor_data_layout
    general.name: quantize.imatrix split.count split.no split.tensors.count
    """
)

FIELDS = _table(
    """
    vocab_size: Tokens.vocabulary
    hidden_size: Stack.width
    type_vocab_size: Tokens.segments
    scale_embedding: Tokens.scale
    normalize_embedding: Tokens.norm
    stack_input: Stack.input
    image_size: Patches.height Patches.width
    patch_size: Patches.patch Series.patch
    num_channels: Patches.channels Series.channels
    Patches.bias: Series.bias
    num_attention_heads: Attention.heads LatentAttention.heads
    num_key_value_heads: Attention.kv_heads
    head_dim: Attention.key_width
    v_head_dim: Attention.value_width LatentAttention.value_width
    kv_lora_rank: LatentAttention.kv_rank
    q_lora_rank: LatentAttention.query_rank
    qk_nope_head_dim: LatentAttention.key_width
    attention_bias: Attention.bias LatentAttention.bias Biases.query Biases.key Biases.value Biases.output
    sliding_window: Causal.window Full.radius
    attn_logit_softcapping: Attention.score_cap
    query_pre_attn_scalar: Attention.scale LatentAttention.scale
    qk_ln: Attention.qk_norm LatentAttention.norm
    prefix_lm: Causal.prefix
    is_decoder: Attention.visibility LatentAttention.visibility
    add_cross_attention: Block.cross_attention
    attention: Block.attention
    max_position_embeddings: EncoderOnly.context DecoderOnly.context EncoderDecoder.context
    position_embedding_type: Tokens.position Patches.position Series.position Attention.position
        LatentAttention.rotary
    extra_pos_embeddings: Learned.offset
    rope_theta: Rotary.base Sinusoidal.base
    rope_scaling: Rotary.scaling
    factor: LinearScaling.factor DynamicNTK.factor YaRN.factor Llama3Scaling.factor
    original_max_position_embeddings: DynamicNTK.original_length YaRN.original_length Llama3Scaling.original_length
        LongRoPE.original_length
    low_freq_factor: Llama3Scaling.low_frequency
    high_freq_factor: Llama3Scaling.high_frequency
    beta_fast: YaRN.beta_fast
    beta_slow: YaRN.beta_slow
    attention_factor: YaRN.attention_factor LongRoPE.attention_factor
    short_factor: LongRoPE.short
    long_factor: LongRoPE.long
    truncate: YaRN.truncate
    partial_rotary_factor: Rotary.width
    rope_interleave: Rotary.layout Sinusoidal.layout
    alibi_bias_max: ALiBi.max_bias
    relative_attention_num_buckets: RelativeBias.buckets
    relative_attention_max_distance: RelativeBias.max_distance
    intermediate_size: Dense.width Gated.width
    hidden_act: Dense.activation Gated.activation
    mlp_bias: Dense.bias Gated.bias
    feedforward: Block.feedforward
    num_local_experts: Experts.count
    num_experts_per_tok: Experts.active
    shared_expert_intermediate_size: Experts.shared
    router: Experts.router
    norm_topk_prob: SoftmaxRouter.normalise SigmoidRouter.normalise
    routed_scaling_factor: SoftmaxRouter.scale SigmoidRouter.scale
    scoring_func: SoftmaxRouter.softmax
    n_group: SoftmaxRouter.groups SigmoidRouter.groups RouterGroups.count
    topk_group: RouterGroups.kept
    rms_norm_eps: RMSNorm.eps
    layer_norm_eps: LayerNorm.eps ReversibleNorm.eps
    norm_bias: LayerNorm.bias
    norm_type: Stack.final_norm Block.attention_norm Block.feedforward_norm Block.cross_norm QKNorm.norm
        Transform.norm Patches.norm
    normalize_before: Block.arrangement Sequential.placement
    blocks: Stack.blocks
    use_parallel_residual: Parallel.shared_norm
    share_encoder_decoder_embeddings: EncoderDecoder.shared_vocabulary
    stack: DecoderOnly.decoder EncoderOnly.encoder EncoderDecoder.encoder EncoderDecoder.decoder TwoTowers.text
        TwoTowers.image
    tie_word_embeddings: Language.tied
    final_logit_softcapping: Language.cap
    scale_decoder_outputs: Language.hidden_scale
    lm_head_bias: Language.bias
    head: DecoderOnly.head EncoderOnly.head EncoderDecoder.head
    Language.transform: Pooling.transform
    classifier_activation: Transform.activation
    classifier_bias: Transform.bias Classes.bias Regression.bias
    num_labels: Classes.count Regression.outputs
    classifier_pooling: Pooling.take Classes.pooling Regression.pooling Vector.pooling Forecast.pooling
    projection_dim: Vector.width
    logit_scale_init_value: TwoTowers.initial_scale
    dropout: Block.dropout
    attention_dropout: Attention.dropout LatentAttention.dropout
    embd_pdrop: Tokens.dropout Patches.dropout Series.dropout
    activation_dropout: Dense.dropout Gated.dropout
    classifier_dropout: Classes.dropout Regression.dropout Forecast.dropout
    initializer_range: Normal.std
    initializer_factor: T5Init.factor Xavier.gain
    initial: DecoderOnly.initial EncoderOnly.initial EncoderDecoder.initial
    router_aux_loss_coef: Experts.balance_loss
    """
)

# Concepts that no config of another library names so.
OURS_ALONE = frozenset(
    ("stack_input", "attention", "feedforward", "router", "blocks", "stack", "head", "initial", "tokenizer.ggml.model")
)
# What GGUF files say of themselves, in every architecture.
_GGUF_WIDE = {"general.": "general.name", "tokenizer.": "tokenizer.ggml.model", "quantize.": "general.name"}
_ROPE_ALONE = frozenset(("type", "factor", "truncate"))


def of_config(key: str, known: Collection[str], *, within: str = "") -> str | None:
    """The concept of a config's key; None for an unknown one. `within` is the section that it stands in."""
    if key in _ROPE_ALONE and not within.startswith("rope_"):
        return None
    if key in known and "." not in key and key not in OURS_ALONE:
        return key
    return SPELLINGS.get(key) or (key if key in known and key.startswith("transformers.") else None)


def of_gguf(key: str, architecture: str, known: Collection[str]) -> str | None:
    """The concept of a GGUF file's key, with or without the architecture in front."""
    bare = key.removeprefix(f"{architecture}.")
    if found := GGUF.get(bare) or (bare if bare in known and "." in bare else None):
        return found
    if bare == key:
        return next((concept for start, concept in _GGUF_WIDE.items() if key.startswith(start)), None)
    within, _, word = bare.rpartition(".")
    return of_config(word, known, within="rope_" if within.startswith("rope") else "")


def of_field(kind: str, field: str, known: Collection[str]) -> str | None:
    """The concept of a field of one of our own types."""
    name = f"{kind}.{field}"
    return FIELDS.get(name) or (name if name in known else None)

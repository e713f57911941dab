"""Which figures belong to which concept; whatever is not named here is free of parameters, cache and matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clearformer.card import attention_costs as attention
from clearformer.card import network_costs as network
from clearformer.card.prices import Prices
from clearformer.card.sentence import Sentence

Costing = Callable[[Prices], Sentence | None]

COSTS: Mapping[str, Costing] = {
    "vocab_size": network.table,
    "decoder_vocab_size": network.table,
    "hidden_size": network.width,
    "type_vocab_size": network.segments,
    "scale_embedding": network.multiplied,
    "normalize_embedding": network.norm_weights,
    "image_size": network.image,
    "patch_size": network.image,
    "num_channels": network.channels,
    "num_attention_heads": attention.heads,
    "num_key_value_heads": attention.kv_heads,
    "head_dim": attention.head_width,
    "v_head_dim": attention.value_width,
    "qk_nope_head_dim": attention.head_width,
    "qk_rope_head_dim": attention.latent,
    "kv_lora_rank": attention.latent,
    "q_lora_rank": attention.query_latent,
    "attention_bias": attention.biases,
    "sliding_window": attention.window,
    "use_sliding_window": attention.window,
    "max_window_layers": attention.window,
    "local_attention": attention.window,
    "layer_types": attention.window,
    "sliding_window_pattern": attention.window,
    "is_decoder": attention.window,
    "attn_logit_softcapping": attention.cap,
    "max_position_embeddings": attention.context,
    "Learned.length": attention.context,
    "position_embedding_type": attention.context,
    "rope_theta": attention.rotary,
    "rope_type": attention.rotary,
    "partial_rotary_factor": attention.rotary,
    "no_rope_layers": attention.rotary,
    "no_rope_layer_interval": attention.rotary,
    "alibi": attention.added,
    "alibi_bias_max": attention.added,
    "relative_attention_num_buckets": attention.added,
    "relative_attention_max_distance": attention.added,
    "RelativeBias.shared": attention.added,
    "attention": attention.kv_heads,
    "intermediate_size": network.network,
    "expansion_ratio": network.network,
    "feedforward": network.network,
    "hidden_act": network.activation,
    "feed_forward_proj": network.activation,
    "mlp_bias": network.network_biases,
    "num_local_experts": network.experts,
    "num_experts_per_tok": network.expert,
    "moe_intermediate_size": network.expert,
    "Experts.expert": network.expert,
    "shared_expert_intermediate_size": network.shared_expert,
    "router": network.router,
    "decoder_sparse_step": network.experts,
    "mlp_only_layers": network.experts,
    "rms_norm_eps": network.norms,
    "layer_norm_eps": network.norms,
    "norm_type": network.norm_weights,
    "norm_bias": network.norm_biases,
    "normalize_before": network.norm_weights,
    "use_parallel_residual": network.same,
    "is_encoder_decoder": network.two_sides,
    "add_cross_attention": network.crossing,
    "num_hidden_layers": network.layers,
    "decoder_layers": network.layers,
    "blocks": network.layers,
    "share_encoder_decoder_embeddings": network.shared_tables,
    "tie_word_embeddings": network.tied,
    "final_logit_softcapping": network.logits,
    "scale_decoder_outputs": network.multiplied,
    "lm_head_bias": network.logit_bias,
    "head": network.head,
    "num_labels": network.head,
    "projection_dim": network.head,
    "classifier_pooling": network.head,
    "Forecast.horizon": network.head,
    "Language.transform": network.head,
    "logit_scale_init_value": network.scale,
    "dropout": network.dropout,
    "attention_dropout": network.attention_dropout,
    "embd_pdrop": network.input_dropout,
    "activation_dropout": network.network_dropout,
    "initializer_range": network.drawn,
    "initializer_factor": network.drawn,
    "initial": network.drawn,
    "router_aux_loss_coef": network.balance,
}


def cost_of(concept: str, prices: Prices) -> Sentence:
    """What the choice costs in this model."""
    found = COSTS[concept](prices) if concept in COSTS else None
    return network.free(prices) if found is None else found

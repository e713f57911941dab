"""The design that DeepSeek-V2 and V3 share: latent attention; dense layers first, then experts beside a shared one.

DeepSeek-AI 2024 (arXiv 2405.04434); DeepSeek-AI 2024 (arXiv 2412.19437).
"""

from __future__ import annotations

import math
from dataclasses import replace

from clearformer.checkpoint.renames import Ignored, Row, Same, Table, Tied
from clearformer.families.activations import foreign_name
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gated_decoder import read_gated, read_layers, read_norm
from clearformer.families.heads import decoder_head_rows, stems
from clearformer.families.mixtures import stacked_rows
from clearformer.families.pretrained_config import require_decoder
from clearformer.families.rope import RopeDialect, read_rotary, sharpening, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Block,
    DecoderOnly,
    Experts,
    Head,
    LatentAttention,
    Layout,
    Normal,
    RMSNorm,
    Rotary,
    Router,
    Spec,
    Stack,
    Tokens,
    YaRN,
)

_ALL_DIM = "mscale_all_dim"
_RANK, _QUERY_RANK = "q_lora_rank", 1536
# Losses of training alone, layers that guess further ahead and are not read, and who computed where.
_OF_TRAINING = (
    "aux_loss_alpha",
    "ep_size",
    "num_mtp_layers",
    "num_nextn_predict_layers",
    "output_router_logits",
    "seq_aux",
)
# DeepSeek-V3 keeps such a layer behind its last, under the next number.
_LAYERS_OF_V3 = 61


def read_latent_decoder(
    config: ConfigReader, head: Head, router: Router, *, dense_layers: int, layout: Layout, bias: bool = False
) -> DecoderOnly:
    """`dense_layers` is the default of how many come first; `bias` is on the networks that read every token."""
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    attention = _read_attention(config, length, layout)
    norm, dense, expert = read_norm(config), read_gated(config, bias=bias), read_gated(config, "moe_intermediate_size")
    experts = Experts(
        config.whole("n_routed_experts"),
        config.whole("num_experts_per_tok"),
        expert,
        router,
        shared=replace(dense, width=config.whole("n_shared_experts") * expert.width),
    )
    config.only("moe_layer_freq", 1)
    config.only("pretraining_tp", 1)
    require_decoder(config)
    config.harmless(_OF_TRAINING)
    first = config.whole("first_k_dense_replace", dense_layers, at_least=0)
    networks = [dense if index < first else experts for index in range(read_layers(config))]
    blocks = tuple(Block(attention, network, norm, norm) for network in networks)
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size")), blocks, final_norm=norm),
        head=head,
        context=stretched(attention.rotary, length),
        initial=Normal(config.number("initializer_range", 0.02), residual_scaled=False),
    )


def _read_attention(config: ConfigReader, length: int, layout: Layout) -> LatentAttention:
    heads = config.whole("num_attention_heads")
    content, turned = config.whole("qk_nope_head_dim"), config.whole("qk_rope_head_dim")
    # Every head has keys of its own, rebuilt from the latent; the other two repeat what stands above.
    config.only("num_key_value_heads", heads)
    config.only("qk_head_dim", content + turned)
    config.only("head_dim", turned)
    rotary = replace(read_rotary(config, length, turned, RopeDialect(layout=layout)), width=turned)
    return LatentAttention(
        heads,
        content,
        config.whole("v_head_dim"),
        config.whole("kv_lora_rank"),
        rotary,
        # Null is queries from one matrix; an absent key is not.
        query_rank=config.whole(_RANK, _QUERY_RANK) if config.has(_RANK) or not config.mentions(_RANK) else None,
        # The latents' norms keep this eps, whatever rms_norm_eps says.
        norm=RMSNorm(1e-6),
        bias=config.flag("attention_bias", False),
        scale=_score_scale(rotary, content + turned, _read_all_dim(config)),
        dropout=config.number("attention_dropout", 0.0),
    )


def _read_all_dim(config: ConfigReader) -> float:
    """YaRN's second weight, for which scores are scaled; `read_rotary` has checked that it stands in its place."""
    found = {
        ConfigReader(section, config.path, f"{key}.").number(_ALL_DIM, 0.0)
        for key in ("rope_parameters", "rope_scaling")
        if isinstance(section := config.raw(key), dict)
    }
    if len(found) > 1:
        config.contradiction("rope_parameters", "rope_scaling", say.SCALED_DIFFERENTLY)
    return next(iter(found), 0.0)


def _score_scale(rotary: Rotary, query_width: int, weight: float) -> float | None:
    """1/√(K + R) times the square of YaRN's factor with that weight; None where that factor is 1."""
    factor = sharpening(rotary.scaling.factor, weight) if isinstance(rotary.scaling, YaRN) else 1.0
    return None if factor == 1.0 else query_width**-0.5 * factor * factor


def _weight_that_gives(scale: float, rotary: Rotary, query_width: int) -> float | None:
    """The inverse of `_score_scale`: the roundest weight that gives this number, if one does; None without YaRN."""
    if not isinstance(rotary.scaling, YaRN) or rotary.scaling.factor <= 1:
        return None
    weight = (math.sqrt(scale * math.sqrt(query_width)) - 1) / (0.1 * math.log(rotary.scaling.factor))
    nearby = [round(weight, digits) for digits in range(1, 16)] + [weight]
    for direction in (-math.inf, math.inf):
        step = weight
        for _ in range(16):
            step = math.nextafter(step, direction)
            nearby.append(step)
    return next((each for each in nearby if _score_scale(rotary, query_width, each) == scale), weight)


def write_latent_decoder(spec: Spec) -> dict[str, object] | None:
    """All keys but those of head, router and layout; None for a spec of another design."""
    if not isinstance(spec, DecoderOnly) or not isinstance(spec.decoder.input, Tokens) or not spec.decoder.blocks:
        return None
    attention, norm = spec.decoder.blocks[0].attention, spec.decoder.final_norm
    networks = [block.feedforward for block in spec.decoder.blocks]
    dense = next((index for index, each in enumerate(networks) if isinstance(each, Experts)), len(networks))
    experts, first = networks[-1], networks[0]
    if not (isinstance(attention, LatentAttention) and isinstance(experts, Experts) and isinstance(norm, RMSNorm)):
        return None
    rope = write_rotary(attention.rotary)
    query_width = attention.key_width + attention.rotary_width
    if attention.scale and (weight := _weight_that_gives(attention.scale, attention.rotary, query_width)):
        rope[_ALL_DIM] = weight
    return {
        "vocab_size": spec.decoder.input.vocabulary,
        "hidden_size": spec.decoder.width,
        # Without dense layers there is no such width; the key is required all the same.
        "intermediate_size": experts.expert.width if isinstance(first, Experts) else first.width,
        "moe_intermediate_size": experts.expert.width,
        "num_hidden_layers": len(networks),
        "first_k_dense_replace": dense,
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.heads,
        "qk_nope_head_dim": attention.key_width,
        "qk_rope_head_dim": attention.rotary_width,
        "v_head_dim": attention.value_width,
        "kv_lora_rank": attention.kv_rank,
        "q_lora_rank": attention.query_rank,
        "n_routed_experts": experts.count,
        "num_experts_per_tok": experts.active,
        "n_shared_experts": max(experts.shared.width // experts.expert.width, 1) if experts.shared else 1,
        "routed_scaling_factor": experts.router.scale,
        "hidden_act": foreign_name(experts.expert.activation),
        "max_position_embeddings": written_length(attention.rotary, spec.context),
        "rms_norm_eps": norm.eps,
        "rope_parameters": rope,
        "attention_bias": attention.bias,
        "attention_dropout": attention.dropout,
    }


def routed(spec: Spec) -> Experts | None:
    """The experts of a decoder's last layer."""
    last = spec.decoder.blocks[-1].feedforward if isinstance(spec, DecoderOnly) and spec.decoder.blocks else None
    return last if isinstance(last, Experts) else None


_LAYER = (
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "feedforward_norm"),
    ("self_attn.q_proj", "attention.query"),
    ("self_attn.q_a_proj", "attention.query_down"),
    ("self_attn.q_a_layernorm", "attention.query_norm"),
    ("self_attn.q_b_proj", "attention.query_up"),
    ("self_attn.kv_a_proj_with_mqa", "attention.latent_down"),
    ("self_attn.kv_a_layernorm", "attention.latent_norm"),
    ("self_attn.kv_b_proj", "attention.latent_up"),
    ("self_attn.o_proj", "attention.output"),
    ("mlp.gate", "feedforward.router"),
)
_NETWORK = ("gate", "up", "down")


def latent_decoder_table(spec: Spec) -> Table:
    """Checkpoints hold each expert's matrices alone; transformers can also save them stacked, as it computes them."""
    assert isinstance(spec, DecoderOnly)
    block = "decoder.blocks.{i}"
    pairs = [*_LAYER, *((f"mlp.{part}_proj", f"feedforward.{part}") for part in _NETWORK)]
    pairs += [(f"mlp.shared_experts.{part}_proj", f"feedforward.shared.{part}") for part in _NETWORK]
    rows: list[Row | Tied | Ignored] = [
        Ignored("*.rotary_emb.inv_freq", "frequencies that the config gives, kept by old versions")
    ]
    gate, up, down = (f"{block}.feedforward.experts.{{e}}.{part}.weight" for part in _NETWORK)
    for stem in stems(spec.head, "model."):
        layer = f"{stem}layers.{{i}}"
        rows += [
            Same(f"{stem}embed_tokens.weight", "decoder.embed.token.weight"),
            Same(f"{stem}norm.weight", "decoder.final_norm.weight"),
            Same(f"{layer}.mlp.gate.e_score_correction_bias", f"{block}.feedforward.router.selection_bias"),
        ]
        for kind in ("weight", "bias"):
            rows += [Same(f"{layer}.{theirs}.{kind}", f"{block}.{ours}.{kind}") for theirs, ours in pairs]
        for part, ours in zip(_NETWORK, (gate, up, down), strict=True):
            rows.append(Same(f"{layer}.mlp.experts.{{e}}.{part}_proj.weight", ours))
        if (experts := routed(spec)) is not None:
            rows += stacked_rows(f"{layer}.mlp.experts", (gate, up, down), experts.count)
        if len(spec.decoder.blocks) == _LAYERS_OF_V3:
            rows.append(Ignored(f"{stem}layers.{_LAYERS_OF_V3}.*", "a layer that guesses one token further ahead"))
    tables = (f"{stem}embed_tokens.weight" for stem in stems(spec.head, "model."))
    return (*rows, *decoder_head_rows(spec.head, tables))

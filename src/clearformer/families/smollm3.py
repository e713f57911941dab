"""SmolLM3 (Hugging Face 2025): Llama's block, with layers that know no positions (NoPE, Yang et al. 2025, arXiv
2501.18795)."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import ACTIVATIONS, foreign_name
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.layer_kinds import reach_of, read_local_layers, read_window, write_layer_types
from clearformer.families.rms_decoder import (
    MATRICES,
    PRE_NORMS,
    Names,
    decoder_table,
    parts_of,
    read_heads,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import RopeDialect, read_rotary, stretched, write_rotary
from clearformer.messages import families as say
from clearformer.spec import (
    Attention,
    Biases,
    Block,
    Causal,
    DecoderOnly,
    Gated,
    RMSNorm,
    Rotary,
    Spec,
    Stack,
    Tokens,
)

_NAMES = Names("SmolLM3ForCausalLM", "SmolLM3Model", "SmolLM3ForSequenceClassification")
_DIALECT = RopeDialect(base=2e6)


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    heads, kv_heads, key_width = read_heads(config, width)
    rotary, norm = read_rotary(config, length, _DIALECT), RMSNorm(config.number("rms_norm_eps", 1e-6))
    turning = _read_turning_layers(config)
    bias = Biases.everywhere() if config.flag("attention_bias", False) else Biases()
    dropout = config.number("attention_dropout", 0.0)
    feedforward = Gated(
        config.whole("intermediate_size"),
        config.choice("hidden_act", ACTIVATIONS, "silu"),
        bias=config.flag("mlp_bias", False),
    )

    def block(turns: bool, window: int | None) -> Block:
        position = rotary if turns else None
        attention = Attention(
            heads, kv_heads, key_width, key_width, Causal(window), position=position, bias=bias, dropout=dropout
        )
        return Block(attention, feedforward, attention_norm=norm, feedforward_norm=norm)

    blocks = tuple(map(block, turning, _read_windows(config, turning)))
    # Left over from the code that it was trained with.
    config.harmless(("max_window_layers", "pretraining_tp"))
    return DecoderOnly(
        decoder=Stack(width, Tokens(config.whole("vocab_size")), blocks, final_norm=norm),
        head=read_decoder_head(config, architecture, tied=True),
        context=stretched(rotary, length),
        initial=read_initial(config),
    )


def _read_turning_layers(config: ConfigReader) -> tuple[bool, ...]:
    """Which layers have rotary positions: a list in which 1 says yes, or all but every n-th."""
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    every = config.whole("no_rope_layer_interval", 4)
    given = config.raw("no_rope_layers")
    if given is None:
        return tuple((layer + 1) % every != 0 for layer in range(layers))
    if not isinstance(given, list) or not all(type(turns) is int and turns in (0, 1) for turns in given):
        config.cannot_say("no_rope_layers", "[1 | 0, …]", given)
    if len(given) < layers:
        config.contradiction("num_hidden_layers", "no_rope_layers", say.ROTARY_NAMED, count=len(given))
    return tuple(turns == 1 for turns in given[:layers])


def _read_windows(config: ConfigReader, turning: tuple[bool, ...]) -> tuple[int | None, ...]:
    """Each layer's window: where there are windows, the layers without positions have them."""
    used, there = config.flag("use_sliding_window", False), config.has("sliding_window")
    implied = tuple(used and there and not turns for turns in turning)
    local = read_local_layers(config, len(turning), implied)
    if any(local) and not used:
        config.contradiction("layer_types", "use_sliding_window", say.WINDOWS_ARE_OFF)
    window = read_window(config, None, wanted=any(local))
    return tuple(window if is_local else None for is_local in local)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    window = next((reach for each in parts.attentions if (reach := reach_of(each)) is not None), None)
    return {
        **write_sizes(parts, "smollm3", _NAMES),
        "head_dim": parts.attention.key_width,
        "hidden_act": foreign_name(parts.feedforward.activation),
        "attention_bias": parts.attention.bias.query,
        "mlp_bias": parts.feedforward.bias,
        "no_rope_layers": [int(isinstance(each.position, Rotary)) for each in parts.attentions],
        "layer_types": write_layer_types(parts.attentions),
        "use_sliding_window": window is not None,
        "sliding_window": window,
        "rope_parameters": write_rotary(parts.rotary),
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, MATRICES + PRE_NORMS)


SMOLLM3 = Family("smollm3", _NAMES, translate, to_config, table)

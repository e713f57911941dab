"""SmolLM3 (Hugging Face 2025): Llama's block, with layers that know no positions (NoPE, Yang et al. 2025, arXiv
2501.18795)."""

from __future__ import annotations

from dataclasses import replace

from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_gated,
    read_layers,
    read_norm,
    write_decoder,
    write_gated,
)
from clearformer.families.heads import decoder_classes
from clearformer.families.layer_kinds import (
    read_local_layers,
    read_switched_window,
    require_window,
    write_layer_types,
    write_switched_window,
)
from clearformer.families.rope import RopeDialect
from clearformer.messages import families as say
from clearformer.spec import Block, Causal, Rotary, Spec

_CLASSES = decoder_classes("SmolLM3")
_UNSAID = Unsaid(kv_heads=4, rope=RopeDialect(base=2e6))


def translate(config: ConfigReader, architecture: str) -> Spec:
    attention, norm = read_attention(config, read_biases(config), _UNSAID), read_norm(config)
    feedforward = read_gated(config, bias=config.flag("mlp_bias", False))
    turning = _read_turning_layers(config)

    def block(turns: bool, window: int | None) -> Block:
        position = attention.position if turns else None
        return Block(replace(attention, visibility=Causal(window), position=position), feedforward, norm, norm)

    blocks = list(map(block, turning, _read_windows(config, turning)))
    # Left over from the code that it was trained with.
    config.harmless(("max_window_layers", "pretraining_tp"))
    return read_decoder(config, architecture, _CLASSES, blocks, tied=True)


def _read_turning_layers(config: ConfigReader) -> tuple[bool, ...]:
    """Which layers have rotary positions: a list in which 1 says yes, or all but every n-th."""
    layers, every = read_layers(config), config.whole("no_rope_layer_interval", 4)
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
    window = read_switched_window(config)
    local = read_local_layers(config, [window is not None and not turns for turns in turning])
    require_window(config, local, window, switched=True)
    return tuple(window if is_local else None for is_local in local)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "smollm3", _CLASSES),
        **write_gated(parts.gated),
        **write_switched_window(parts.attentions),
        "attention_bias": parts.attention.bias.query,
        "mlp_bias": parts.gated.bias,
        "no_rope_layers": [int(isinstance(each.position, Rotary)) for each in parts.attentions],
        "layer_types": write_layer_types(parts.attentions),
    }


SMOLLM3 = Family("smollm3", _CLASSES, translate, to_config, decoder_table)

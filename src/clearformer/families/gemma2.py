"""Gemma 2 (Gemma Team 2024, arXiv 2408.00118): sandwich norms, capped scores and logits, every other layer local."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.activations import foreign_name
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    Pairs,
    Parts,
    Unsaid,
    decoder_table,
    parts_of,
    read_attention,
    read_biases,
    read_decoder,
    read_heads,
    read_layers,
    write_decoder,
)
from clearformer.families.gemma import HEAD_WIDTH, read_geglu, read_norm, read_tokens
from clearformer.families.heads import decoder_classes
from clearformer.families.layer_kinds import (
    first_reach,
    read_local_layers,
    read_window,
    require_window,
    write_layer_types,
)
from clearformer.families.multi_head import require_even_split
from clearformer.spec import Attention, Block, Causal, Gated, Language, Sequential, Spec

WINDOW = 4096
UNSAID = Unsaid(kv_heads=4, head_width=HEAD_WIDTH)
_CLASSES = decoder_classes("Gemma2")
SANDWICH: Pairs = (
    ("input_layernorm", "attention_norm"),
    ("post_attention_layernorm", "attention_output_norm"),
    ("pre_feedforward_layernorm", "feedforward_norm"),
    ("post_feedforward_layernorm", "feedforward_output_norm"),
)


def translate(config: ConfigReader, architecture: str) -> Spec:
    local = read_local_layers(config, [layer % 2 == 0 for layer in range(read_layers(config))])
    window = read_window(config, WINDOW)
    # The mask of local layers is made whether or not a layer uses it.
    require_window(config, local, window)
    whole = replace(
        read_attention(config, read_biases(config), UNSAID),
        scale=read_scale(config),
        score_cap=read_cap(config, "attn_logit_softcapping", 50.0),
    )
    kinds = {False: whole, True: replace(whole, visibility=Causal(window))}
    # As in Gemma: its masks stay causal whatever this says.
    config.only("use_bidirectional_attention", False)
    cap = read_cap(config, "final_logit_softcapping", 30.0)
    blocks = read_blocks(config, [kinds[each] for each in local])
    return read_decoder(config, architecture, _CLASSES, blocks, tokens=read_tokens(config), tied=True, cap=cap)


def read_scale(config: ConfigReader) -> float | None:
    """What scores are multiplied with, as a width of head that would give it; transformers also wants even heads."""
    scalar = config.whole("query_pre_attn_scalar", 256)
    attention = read_heads(config, read_biases(config), UNSAID)
    require_even_split(config, config.whole("hidden_size"), attention.heads)
    return None if scalar == attention.key_width else scalar**-0.5


def read_blocks(config: ConfigReader, attentions: Iterable[Attention]) -> list[Block]:
    norm, feedforward = read_norm(config), read_geglu(config, "hidden_activation", "hidden_act")
    return [Block(each, feedforward, norm, norm, arrangement=Sequential("sandwich")) for each in attentions]


def read_cap(config: ConfigReader, key: str, default: float | None) -> float | None:
    """A cap on scores or logits; null is none, which is not what an absent key means."""
    if not config.has(key) and (default is None or config.mentions(key)):
        return None
    return config.number(key, default)


def write_blocks(parts: Parts, gated: Gated) -> dict[str, object]:
    """What this Gemma and the next write of a block, the layers' kinds and the cap on logits."""
    return {
        "intermediate_size": gated.width,
        "hidden_activation": foreign_name(gated.activation),
        "attention_bias": parts.attention.bias.query,
        "query_pre_attn_scalar": round(min(max(parts.attention.score_scale, 1e-6), 1e6) ** -2),
        "layer_types": write_layer_types(parts.attentions),
        "final_logit_softcapping": parts.spec.head.cap if isinstance(parts.spec.head, Language) else None,
    }


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    return {
        **write_decoder(parts, "gemma2", _CLASSES),
        **write_blocks(parts, parts.gated),
        "attn_logit_softcapping": parts.attention.score_cap,
        "sliding_window": first_reach(parts.attentions) or WINDOW,
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, ATTENTION + GATED + SANDWICH)


GEMMA2 = Family("gemma2", _CLASSES, translate, to_config, table)

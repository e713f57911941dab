"""Gemma 3's text model (Gemma Team 2025, arXiv 2503.19786): five local layers to a global one, each kind with its own
rotary base; queries and keys normalised where Gemma 2 capped their scores."""

from __future__ import annotations

from dataclasses import replace

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family
from clearformer.families.gated_decoder import (
    ATTENTION,
    GATED,
    HEAD_NORMS,
    decoder_table,
    parts_of,
    read_biases,
    read_decoder,
    read_heads,
    read_layers,
    write_decoder,
)
from clearformer.families.gemma import read_norm, read_tokens
from clearformer.families.gemma2 import SANDWICH, UNSAID, WINDOW, read_blocks, read_cap, read_scale, write_blocks
from clearformer.families.heads import Architectures
from clearformer.families.layer_kinds import (
    GLOBAL,
    LOCAL,
    first_reach,
    first_rotaries,
    read_local_layers,
    read_window,
    require_window,
)
from clearformer.families.rope import read_rotary_by_kind, write_rotary
from clearformer.spec import Causal, EncoderOnly, Full, QKNorm, Spec, Visibility

_CLASSES = Architectures("Gemma3ForCausalLM", "Gemma3TextModel", "Gemma3TextForSequenceClassification")
_BASES = {GLOBAL: ("rope_theta", 1e6), LOCAL: ("rope_local_base_freq", 1e4)}


def translate(config: ConfigReader, architecture: str) -> Spec:
    local, both_ways = _read_local_layers(config), config.flag("use_bidirectional_attention", False)
    window = read_window(config, WINDOW)
    require_window(config, local, window)
    rotaries = read_rotary_by_kind(config, config.whole("max_position_embeddings"), _BASES)
    heads = replace(
        read_heads(config, read_biases(config), UNSAID), scale=read_scale(config), qk_norm=QKNorm(read_norm(config))
    )
    kinds = {
        False: replace(heads, visibility=_seen(None, both_ways), position=rotaries[GLOBAL]),
        True: replace(heads, visibility=_seen(window, both_ways), position=rotaries[LOCAL]),
    }
    # A key that Gemma 2 left behind; no computation heeds it.
    config.only("attn_logit_softcapping", None)
    cap = read_cap(config, "final_logit_softcapping", None)
    blocks, tokens = read_blocks(config, [kinds[each] for each in local]), read_tokens(config)
    return read_decoder(config, architecture, _CLASSES, blocks, tokens=tokens, tied=True, cap=cap)


def _read_local_layers(config: ConfigReader) -> tuple[bool, ...]:
    every = config.whole("sliding_window_pattern", 6)
    implied = [(layer + 1) % every != 0 for layer in range(read_layers(config))]
    local = read_local_layers(config, implied, "sliding_window_pattern")
    if config.has("layer_types"):
        # transformers keeps the pattern under a name of its own, and its default there whatever the layers are.
        config.harmless(("_sliding_window_pattern",))
    else:
        config.only("_sliding_window_pattern", every)
    return local


def _seen(window: int | None, both_ways: bool) -> Visibility:
    """A local layer that sees both ways shares its window between them."""
    if both_ways:
        return Full(None if window is None else window // 2)
    return Causal(window)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None or parts.gated is None:
        return None
    both_ways, reach = isinstance(spec, EncoderOnly), first_reach(parts.attentions)
    window = WINDOW if reach is None else max(2 * reach, 1) if both_ways else reach
    return {
        **write_decoder(parts, "gemma3_text", _CLASSES),
        **write_blocks(parts, parts.gated),
        "sliding_window": window,
        "use_bidirectional_attention": both_ways,
        "rope_parameters": {kind: write_rotary(rotary) for kind, rotary in first_rotaries(parts.attentions).items()},
    }


def table(spec: Spec) -> Table:
    return decoder_table(spec, ATTENTION + GATED + HEAD_NORMS + SANDWICH)


GEMMA3 = Family("gemma3_text", _CLASSES, translate, to_config, table)

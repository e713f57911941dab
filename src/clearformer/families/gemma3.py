"""Gemma 3's text model (Gemma Team 2025, arXiv 2503.19786): five local layers to a global one, each kind with its own
rotary base; queries and keys normalised where Gemma 2 capped their scores."""

from __future__ import annotations

from clearformer.checkpoint.renames import Table
from clearformer.families.config_reader import MAX_LAYERS, ConfigReader
from clearformer.families.decoder_heads import read_decoder_head
from clearformer.families.family import Family
from clearformer.families.gemma import read_norm, read_tokens
from clearformer.families.gemma2 import SANDWICH, read_blocks, read_cap, window_of, write_blocks
from clearformer.families.layer_kinds import GLOBAL, LOCAL, read_local_layers, read_window, write_layer_types
from clearformer.families.rms_decoder import (
    HEAD_NORMS,
    MATRICES,
    Names,
    Parts,
    decoder_table,
    parts_of,
    read_initial,
    write_sizes,
)
from clearformer.families.rope import read_rotary_by_kind, stretched, write_rotary, written_length
from clearformer.messages import families as say
from clearformer.spec import (
    Causal,
    DecoderOnly,
    EncoderOnly,
    Full,
    Rotary,
    Spec,
    Stack,
    Visibility,
)

_NAMES = Names("Gemma3ForCausalLM", "Gemma3TextModel", "Gemma3TextForSequenceClassification")
_BASES = {GLOBAL: ("rope_theta", 1e6), LOCAL: ("rope_local_base_freq", 1e4)}


def translate(config: ConfigReader, architecture: str) -> Spec:
    width, length = config.whole("hidden_size"), config.whole("max_position_embeddings")
    local = _read_local_layers(config)
    both_ways = config.flag("use_bidirectional_attention", False)
    window = read_window(config, 4096, wanted=any(local))
    rotaries = read_rotary_by_kind(config, length, _BASES)
    seen: dict[bool, tuple[Visibility, Rotary]] = {
        False: (Full() if both_ways else Causal(), rotaries[GLOBAL]),
        True: (_local(window, both_ways), rotaries[LOCAL]),
    }
    blocks = read_blocks(config, width, local, seen, head_norms=True)
    # A key that Gemma 2 left behind; no computation heeds it.
    config.only("attn_logit_softcapping", None)
    cap = read_cap(config, "final_logit_softcapping", None)
    stack = Stack(width, read_tokens(config, width), blocks, final_norm=read_norm(config))
    head = read_decoder_head(config, architecture, tied=True, cap=cap)
    context, initial = stretched(rotaries[GLOBAL], length), read_initial(config)
    return EncoderOnly(stack, head, context, initial) if both_ways else DecoderOnly(stack, head, context, initial)


def _read_local_layers(config: ConfigReader) -> tuple[bool, ...]:
    layers = config.whole("num_hidden_layers", limit=MAX_LAYERS)
    every = config.whole("sliding_window_pattern", 6)
    implied = tuple((layer + 1) % every != 0 for layer in range(layers))
    local = read_local_layers(config, layers, implied)
    if config.has("sliding_window_pattern") and local != implied:
        config.contradiction("layer_types", "sliding_window_pattern", say.LAYERS_DIFFER)
    if config.has("layer_types"):
        # transformers keeps the pattern under a name of its own, and its default there whatever the layers are.
        config.harmless(("_sliding_window_pattern",))
    else:
        config.only("_sliding_window_pattern", every)
    return local


def _local(window: int | None, both_ways: bool) -> Visibility:
    """A local layer that sees both ways shares its window between them."""
    if both_ways:
        return Full(None if window is None else window // 2)
    return Causal(window)


def to_config(spec: Spec) -> dict[str, object] | None:
    if (parts := parts_of(spec)) is None:
        return None
    both_ways = isinstance(spec, EncoderOnly)
    rotaries = _rotaries(parts)
    return {
        **write_sizes(parts, "gemma3_text", _NAMES),
        **write_blocks(parts),
        "max_position_embeddings": written_length(rotaries.get(GLOBAL, Rotary()), parts.context),
        "sliding_window": max(2 * window_of(parts), 1) if both_ways else window_of(parts),
        "use_bidirectional_attention": both_ways,
        "rope_parameters": {kind: write_rotary(rotary) for kind, rotary in rotaries.items()},
    }


def _rotaries(parts: Parts) -> dict[str, Rotary]:
    """The first of each kind of layer."""
    found: dict[str, Rotary] = {}
    for kind, attention in zip(write_layer_types(parts.attentions), parts.attentions, strict=True):
        if isinstance(attention.position, Rotary):
            found.setdefault(kind, attention.position)
    return found


def table(spec: Spec) -> Table:
    return decoder_table(spec, MATRICES + HEAD_NORMS + SANDWICH)


GEMMA3 = Family("gemma3_text", _NAMES, translate, to_config, table)

"""Configs that choose layer by layer: which layers look through a sliding window."""

from __future__ import annotations

from collections.abc import Iterable

from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import Attention, Causal

GLOBAL, LOCAL = "full_attention", "sliding_attention"
# The older word for a layer that sees everything.
_KINDS = {GLOBAL: False, "attention": False, LOCAL: True}


def read_local_layers(config: ConfigReader, layers: int, implied: tuple[bool, ...]) -> tuple[bool, ...]:
    """Which layers have a window, by `layer_types`; where that is absent, `implied` by a family's older keys."""
    given = config.raw("layer_types")
    if given is None:
        return implied
    if not isinstance(given, list) or not all(isinstance(kind, str) and kind in _KINDS for kind in given):
        config.cannot_say("layer_types", f"[{GLOBAL} | {LOCAL}, …]", given)
    if len(given) != layers:
        config.contradiction("num_hidden_layers", "layer_types", say.LAYERS_NAMED, count=len(given))
    return tuple(_KINDS[kind] for kind in given)


def read_window(config: ConfigReader, default: int | None, *, wanted: bool) -> int | None:
    """`sliding_window`; a null is none, which is refused where a layer's window is `wanted`."""
    given = config.has("sliding_window") or (default is not None and not config.mentions("sliding_window"))
    window = config.whole("sliding_window", default) if given else None
    if wanted and window is None:
        config.cannot_say("sliding_window", "1, 2, 3 …", None)
    return window


def write_layer_types(attentions: Iterable[Attention]) -> list[str]:
    """The inverse: a layer with a window, or a radius, is local."""
    return [GLOBAL if reach_of(attention) is None else LOCAL for attention in attentions]


def reach_of(attention: Attention) -> int | None:
    """How far a layer sees, itself included; None where it sees everything."""
    seen = attention.visibility
    return seen.window if isinstance(seen, Causal) else seen.radius

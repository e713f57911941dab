"""Sliding windows in configs: one for every layer, or a choice layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clearformer.families.config_reader import ConfigReader
from clearformer.messages import families as say
from clearformer.spec import Attention, Causal, Rotary

GLOBAL, LOCAL = "full_attention", "sliding_attention"
# The older word for a layer that sees everything.
_KINDS = {GLOBAL: False, "attention": False, LOCAL: True}
_WINDOW, _SWITCH, _TYPES = "sliding_window", "use_sliding_window", "layer_types"


def read_window(config: ConfigReader, default: int | None = None) -> int | None:
    """How far a layer sees, itself included: null is everything, an absent key the family's own `default`."""
    absent = None if config.mentions(_WINDOW) else default
    return config.whole(_WINDOW, absent) if config.has(_WINDOW) or absent else None


def read_switched_window(config: ConfigReader, default: int | None = None) -> int | None:
    """The same where `use_sliding_window` turns it on; elsewhere nothing asks what the window is."""
    config.harmless((_WINDOW, "max_window_layers"))
    return read_window(config, default) if config.flag(_SWITCH, False) else None


def read_local_layers(config: ConfigReader, implied: Sequence[bool], pattern: str | None = None) -> tuple[bool, ...]:
    """Which layers have a window, by `layer_types`; where that is absent, `implied` by a family's older keys.

    `pattern` is an older key that must not contradict the list where a config has both.
    """
    named = config.choices(_TYPES, _KINDS)
    if named is None:
        return tuple(implied)
    if len(named) != len(implied):
        config.contradiction("num_hidden_layers", _TYPES, say.LAYERS_NAMED, count=len(named))
    if pattern is not None and config.has(pattern) and named != tuple(implied):
        config.contradiction(_TYPES, pattern, say.LAYERS_DIFFER)
    return named


def require_window(config: ConfigReader, local: Iterable[bool], window: int | None, *, switched: bool = False) -> None:
    """Refuse local layers without a window; `switched` where `use_sliding_window` may have turned it off."""
    if window is not None or not any(local):
        return
    if switched and not config.flag(_SWITCH, False):
        config.contradiction(_TYPES, _SWITCH, say.WINDOWS_ARE_OFF)
    if config.has(_TYPES):
        config.contradiction(_TYPES, _WINDOW, say.WINDOW_LACKING)
    config.cannot_say(_WINDOW, "1, 2, 3 …", None)


def reach_of(attention: Attention) -> int | None:
    """How far a layer sees, itself included, or its radius; None where it sees everything."""
    seen = attention.visibility
    return seen.window if isinstance(seen, Causal) else seen.radius


def first_reach(attentions: Iterable[Attention]) -> int | None:
    """The reach of the first local layer, which is that of all."""
    return next((reach for each in attentions if (reach := reach_of(each)) is not None), None)


def write_window(attentions: Sequence[Attention]) -> dict[str, object]:
    """One window for every layer."""
    return {_WINDOW: reach_of(attentions[0])}


def write_switched_window(attentions: Iterable[Attention]) -> dict[str, object]:
    window = first_reach(attentions)
    return {_SWITCH: window is not None, _WINDOW: window}


def first_rotaries(attentions: Iterable[Attention]) -> dict[str, Rotary]:
    """The rotary positions of the first layer of each kind, which are those of its kind."""
    found: dict[str, Rotary] = {}
    for attention in attentions:
        if isinstance(attention.position, Rotary):
            found.setdefault(kind_of(attention), attention.position)
    return found


def kind_of(attention: Attention) -> str:
    """A layer with a window, or a radius, is local."""
    return GLOBAL if reach_of(attention) is None else LOCAL


def write_layer_types(attentions: Iterable[Attention]) -> list[str]:
    """The inverse of `read_local_layers`."""
    return [kind_of(attention) for attention in attentions]

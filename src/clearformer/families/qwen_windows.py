"""Sliding windows as the Qwen families choose them: off, or on behind so many blocks, or named layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clearformer.families.config_reader import ConfigReader
from clearformer.families.gated_decoder import read_layers
from clearformer.families.layer_kinds import (
    reach_of,
    read_local_layers,
    read_switched_window,
    require_window,
    write_layer_types,
    write_switched_window,
)
from clearformer.spec import Attention, Causal

DEFAULT = 4096


def read_windows(config: ConfigReader, slides: Callable[[int, int], bool]) -> tuple[Causal, ...]:
    """What each block sees: as `layer_types` says, else as `slides` of its number and `max_window_layers`."""
    window, bound = read_switched_window(config, DEFAULT), config.whole("max_window_layers", 28, at_least=0)
    implied = [window is not None and slides(layer, bound) for layer in range(read_layers(config))]
    local = read_local_layers(config, implied)
    require_window(config, local, window, switched=True)
    return tuple(Causal(window if each else None) for each in local)


def write_windows(attentions: Sequence[Attention]) -> dict[str, object]:
    """`layer_types`, and for readers that do not know them the number of blocks below the first that slides."""
    reaches = [reach_of(attention) for attention in attentions]
    return {
        **write_switched_window(attentions),
        "max_window_layers": next((layer for layer, reach in enumerate(reaches) if reach), len(reaches)),
        "layer_types": write_layer_types(attentions),
    }

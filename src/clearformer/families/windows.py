"""Sliding windows in configs: one for every block (Mistral), or a choice layer by layer (Qwen)."""

from __future__ import annotations

from collections.abc import Callable

from clearformer.families.config_reader import ConfigReader
from clearformer.families.gated_decoder import Parts, read_layers
from clearformer.messages import families as say
from clearformer.spec import Causal

_SLIDES = {"full_attention": False, "sliding_attention": True}
_QWENS_DEFAULT = 4096


def read_window(config: ConfigReader, default: int | None = None) -> Causal:
    """What every block sees; a null `sliding_window` is the whole past, an absent one the family's own `default`."""
    absent = None if config.mentions("sliding_window") else default
    return Causal(config.whole("sliding_window", absent) if config.has("sliding_window") or absent else None)


def read_switched_window(config: ConfigReader) -> Causal:
    """Qwen: the window counts where `use_sliding_window` says so."""
    config.harmless(("sliding_window", "max_window_layers"))
    return read_window(config, _QWENS_DEFAULT) if config.flag("use_sliding_window", False) else Causal()


def read_layer_windows(config: ConfigReader, slides: Callable[[int, int], bool]) -> tuple[Causal, ...]:
    """What each block sees: as `layer_types` says, else as `slides` of its number and `max_window_layers`."""
    layers, window = read_layers(config), read_switched_window(config)
    named = config.choices("layer_types", _SLIDES)
    if named is None:
        bound = config.whole("max_window_layers", 28, at_least=0)
        named = tuple(window.window is not None and slides(layer, bound) for layer in range(layers))
    if len(named) != layers:
        config.contradiction("layer_types", "num_hidden_layers", say.ONE_TYPE_A_LAYER)
    if any(named) and window.window is None:
        switch = "sliding_window" if config.flag("use_sliding_window", False) else "use_sliding_window"
        config.contradiction("layer_types", switch, say.WINDOW_LACKING)
    return tuple(window if each else Causal() for each in named)


def windows_of(parts: Parts) -> list[int | None]:
    """Each block's window, None for the whole past."""
    seen = [block.attention.visibility for block in parts.blocks]
    return [each.window if isinstance(each, Causal) else None for each in seen]


def write_switched_window(parts: Parts) -> dict[str, object]:
    window = next((each for each in windows_of(parts) if each), None)
    return {"use_sliding_window": window is not None, "sliding_window": window}


def write_layer_windows(parts: Parts) -> dict[str, object]:
    """`layer_types`, and for readers that do not know them the number of blocks below the first that slides."""
    windows = windows_of(parts)
    return {
        **write_switched_window(parts),
        "max_window_layers": next((layer for layer, window in enumerate(windows) if window), len(windows)),
        "layer_types": ["sliding_attention" if window else "full_attention" for window in windows],
    }

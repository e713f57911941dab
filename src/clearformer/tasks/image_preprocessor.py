"""How a published vision model reads pictures: `preprocessor_config.json`, as transformers writes it.

Every key is read, known to change nothing, or an error that names it: a picture scaled otherwise, or in other units, is
answered with confidence and wrongly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from clearformer.checkpoint.folder import MAX_CONFIG
from clearformer.data.image_files import Cover, Fitting, Stretch
from clearformer.data.images import Standard
from clearformer.families.config_reader import ConfigReader
from clearformer.messages import images as say
from clearformer.spec import Patches
from clearformer.text.files import read_json

PREPROCESSOR = "preprocessor_config.json"
_EIGHT_BITS = 1 / 255
_LONGEST_SIDE = 1 << 14
_FILTERS = {0: "NEAREST", 1: "LANCZOS", 2: "BILINEAR", 3: "BICUBIC", 4: "BOX", 5: "HAMMING"}
_HARMLESS = (
    "image_processor_type", "feature_extractor_type", "processor_class", "do_convert_rgb", "input_data_format",
    "data_format", "return_tensors", "device", "disable_grouping", "default_to_square", "do_pad", "auto_map",
)  # fmt: skip


def read_preprocessor(folder: Path, patches: Patches) -> tuple[Fitting, Standard]:
    """How a picture is fitted, and its units. Raises CheckpointError, or TokenizerError for no readable JSON."""
    path = folder / PREPROCESSOR
    config = ConfigReader(read_json(path, limit=MAX_CONFIG), path)
    config.harmless(_HARMLESS)
    config.only("do_resize", True)
    config.only("do_rescale", True)
    if config.has("rescale_factor") and abs(config.number("rescale_factor") - _EIGHT_BITS) > 1e-6:
        config.cannot_say("rescale_factor", "1/255", config.raw("rescale_factor"))
    fitting = _fitting(config, patches)
    if fitting.size != (patches.height, patches.width):
        config.cannot_say("size", f"{patches.height} × {patches.width}", " × ".join(map(str, fitting.size)))
    standard = _standard(config, patches.channels)
    config.finish()
    return fitting, standard


def _fitting(config: ConfigReader, patches: Patches) -> Fitting:
    resampling = config.whole("resample", 2, at_least=0)
    if resampling not in _FILTERS:
        config.cannot_say("resample", "0 … 5", resampling)
    filtering = Image.Resampling[_FILTERS[resampling]]
    cropped = config.flag("do_center_crop", False)
    crop = _sides(config, "crop_size", (patches.height, patches.width))
    scaled = config.raw("size")
    edge = scaled.get("shortest_edge") if isinstance(scaled, dict) else scaled if cropped else None
    if edge is None:
        if cropped:
            config.cannot_say("do_center_crop", "size.shortest_edge", "true")
        return Stretch(_sides(config, "size", (224, 224)), filtering)
    if type(edge) is not int or not max(crop) <= edge <= _LONGEST_SIDE:
        config.contradiction("size", "crop_size", say.CROP_IS_LARGER)
    if not cropped:
        config.cannot_say("do_center_crop", "true", "false")
    return Cover(edge, crop, filtering)


def _sides(config: ConfigReader, key: str, default: tuple[int, int]) -> tuple[int, int]:
    """(height, width) from an object of both, or from one number for a square."""
    given: Any = config.raw(key)
    if given is None:
        return default
    if isinstance(given, dict):
        given = [given.get("height"), given.get("width")]
    sides = tuple(given) if isinstance(given, list) else (given, given)
    if len(sides) != 2 or any(type(side) is not int or not 0 < side <= _LONGEST_SIDE for side in sides):
        config.cannot_say(key, '{"height": …, "width": …}', config.raw(key))
    return sides


def _standard(config: ConfigReader, channels: int) -> Standard:
    """Units of the pixels; those of 0 to 1 where nothing is normalised."""
    if not config.flag("do_normalize", True):
        config.harmless(("image_mean", "image_std"))
        return Standard((0.0,) * channels, (1.0,) * channels)
    mean, deviation = (config.numbers(key, channels, 0.5) for key in ("image_mean", "image_std"))
    if not all(each > 0 for each in deviation):
        config.cannot_say("image_std", "> 0", list(deviation))
    return Standard(mean, deviation)

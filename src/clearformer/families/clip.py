"""CLIP (Radford et al. 2021, arXiv 2103.00020): text and image in one space, together or a tower alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clearformer.checkpoint.renames import Same, Table
from clearformer.families.clip_towers import (
    IMAGE_MODEL,
    TEXT_MODEL,
    image_rows,
    read_image,
    read_text,
    text_rows,
    write_image,
    write_text,
)
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Family, difference
from clearformer.messages import families as say
from clearformer.spec import DecoderOnly, EncoderOnly, Head, Hidden, Patches, Spec, TwoTowers, Vector

_BOTH = "CLIPModel"
_IMAGE, _IMAGE_POOLED = "CLIPVisionModelWithProjection", "CLIPVisionModel"
_TEXT, _TEXT_HIDDEN = "CLIPTextModelWithProjection", "CLIPTextModel"

Tower = TypeVar("Tower", DecoderOnly, EncoderOnly)


def _read_both(config: ConfigReader, architecture: str) -> Spec:
    joint = config.whole("projection_dim", 512)
    config.harmless(("initializer_factor", "tie_word_embeddings"))
    config.only("is_encoder_decoder", False)
    return TwoTowers(
        text=_read_section(config, "text_config", lambda section: read_text(section, joint, normalise=True)),
        image=_read_section(config, "vision_config", lambda section: read_image(section, joint, normalise=True)),
        initial_scale=config.number("logit_scale_init_value", 2.6592),
    )


def _read_section(config: ConfigReader, name: str, read: Callable[[ConfigReader], Tower]) -> Tower:
    """A tower's section. LAION's configs have it a second time, as `…_dict`, which must then mean the same."""
    tower = read(config.section(name) or ConfigReader({}, config.path, f"{name}."))
    if (again := config.section(f"{name}_dict")) is not None and difference(tower, read(again)) is not None:
        config.contradiction(name, f"{name}_dict", say.SECTIONS_DIFFER)
    return tower


def _write_both(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, TwoTowers) or not isinstance(spec.text, DecoderOnly):
        return None
    text, image = write_text(spec.text), write_image(spec.image)
    if text is None or image is None or not isinstance(head := spec.text.head, Vector):
        return None
    return {
        "architectures": [_BOTH],
        "model_type": "clip",
        "text_config": text,
        "vision_config": image,
        "projection_dim": head.width,
        "logit_scale_init_value": spec.initial_scale,
    }


def _table_of_both(spec: Spec) -> Table:
    assert isinstance(spec, TwoTowers)
    return (
        *text_rows("text_model.", "text.decoder"),
        *image_rows("vision_model.", "image.encoder", spec.image.encoder),
        Same("text_projection.weight", "text.head.project.weight"),
        Same("visual_projection.weight", "image.head.project.weight"),
        Same("logit_scale", "scale"),
    )


def _read_text_alone(config: ConfigReader, architecture: str) -> Spec:
    joint = config.whole("projection_dim", 512)
    return read_text(config, joint if architecture == _TEXT else None, normalise=False)


def _write_text_alone(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, DecoderOnly) or (written := write_text(spec)) is None:
        return None
    if isinstance(spec.head, Hidden):
        return written | {"architectures": [_TEXT_HIDDEN]}
    joint = spec.head.width if isinstance(spec.head, Vector) else None
    return written | {"architectures": [_TEXT], "projection_dim": joint}


def _table_of_text(spec: Spec) -> Table:
    assert isinstance(spec, DecoderOnly)
    rows = [row for stem in _stems("text_model.", spec.head) for row in text_rows(stem, "decoder")]
    return (*rows, Same("text_projection.weight", "head.project.weight"))


def _stems(stem: str, head: Head) -> tuple[str, str]:
    """transformers writes a tower without projection under bare names, and reads both."""
    return (stem, "") if isinstance(head, Vector) and head.width else ("", stem)


def _read_image_alone(config: ConfigReader, architecture: str) -> Spec:
    joint = config.whole("projection_dim", 512)
    return read_image(config, joint if architecture == _IMAGE else None, normalise=False)


def _write_image_alone(spec: Spec) -> dict[str, object] | None:
    if not isinstance(spec, EncoderOnly) or not isinstance(spec.encoder.input, Patches):
        return None
    if (written := write_image(spec)) is None or not isinstance(spec.head, Vector):
        return None
    if spec.head.width is None:
        return written | {"architectures": [_IMAGE_POOLED]}
    return written | {"architectures": [_IMAGE], "projection_dim": spec.head.width}


def _table_of_image(spec: Spec) -> Table:
    assert isinstance(spec, EncoderOnly)
    stems = _stems("vision_model.", spec.head)
    rows = [row for stem in stems for row in image_rows(stem, "encoder", spec.encoder)]
    return (*rows, Same("visual_projection.weight", "head.project.weight"))


CLIP = Family("clip", (_BOTH,), _read_both, _write_both, _table_of_both)
CLIP_TEXT = Family(TEXT_MODEL, (_TEXT, _TEXT_HIDDEN), _read_text_alone, _write_text_alone, _table_of_text)
CLIP_IMAGE = Family(IMAGE_MODEL, (_IMAGE, _IMAGE_POOLED), _read_image_alone, _write_image_alone, _table_of_image)

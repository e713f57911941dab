"""A config as a list of its choices, nested ones under dotted keys; and a spec of our own as the same."""

from __future__ import annotations

import dataclasses
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clearformer.card import names
from clearformer.card.explained import SECTION_OF
from clearformer.families.gguf.values import decimal
from clearformer.spec import Biases, Spec, Stack
from clearformer.spec.typed import options_of

_SIDES = ("encoder", "decoder")
# Sections of one choice; every other object is a leaf, or a tower.
_NESTED = ("rope_parameters", "rope_scaling", "attn_config")
# Types that a field has no other choice than; only what is in them was chosen.
_ONE_OF_A_KIND = (Biases, Stack)
_OF_A_MODEL = ("model_type", "hidden_size", "num_hidden_layers", "d_model", "n_embd")


@dataclass(frozen=True)
class Entry:
    """One choice: `key` as it is shown, `concept` None for an unknown one. `tower` is the section of a config of
    several models, `side` the stack that is meant where a model has two, `reach` which layers: "local" are those with a
    window, "global" those without."""

    key: str
    value: object
    concept: str | None
    tower: str = ""
    side: str = ""

    @property
    def reach(self) -> str:
        """Which layers are meant, "" for all."""
        if self.concept == "local_rope_theta" or ".sliding_attention." in self.key:
            return "local"
        return "global" if self.key == "global_rope_theta" or ".full_attention." in self.key else ""


def of_config(config: Mapping[str, object], tower: str = "") -> Iterator[Entry]:
    """A Hugging Face config, towers and nested sections after it opened up."""
    stem = f"{tower}." if tower else ""
    for key, value in config.items():
        concept = names.of_config(key, SECTION_OF)
        if isinstance(value, dict) and not tower and is_tower(key, value):
            yield from of_config(value, key)
        elif isinstance(value, dict) and value and key in _NESTED:
            yield from _nested(value, key, stem, tower)
        else:
            side = next((side for side in _SIDES if key.startswith((f"{side}_", f"num_{side}_"))), "")
            yield Entry(stem + key, value, concept, tower, side)


def is_tower(key: str, value: Mapping[str, object]) -> bool:
    """Whether a section describes a model of its own."""
    return key.startswith(("text_config", "vision_config")) or any(word in value for word in _OF_A_MODEL)


def _nested(section: Mapping[str, object], within: str, stem: str, tower: str) -> Iterator[Entry]:
    for key, value in section.items():
        if isinstance(value, dict) and value:
            yield from _nested(value, f"{within}.{key}", stem, tower)
        else:
            yield Entry(f"{stem}{within}.{key}", value, names.of_config(key, SECTION_OF, within=within), tower)


def of_gguf(metadata: Mapping[str, object]) -> Iterator[Entry]:
    """A GGUF file's metadata."""
    architecture = str(metadata.get("general.architecture"))
    for key, value in metadata.items():
        value = decimal(value) if isinstance(value, float) else value
        yield Entry(key, value, names.of_gguf(key, architecture, SECTION_OF))


def of_spec(spec: Spec, stem: str = "") -> Iterator[Entry]:
    """Each field of a spec of our own; of many blocks a field is named once, with all of its values."""
    yield from _fields([spec], stem, "")


def _fields(owners: Sequence[object], stem: str, side: str) -> Iterator[Entry]:
    kind = type(owners[0])
    assert dataclasses.is_dataclass(kind)
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        key, values = f"{stem}{field.name}", [getattr(owner, field.name) for owner in owners]
        inner = field.name if not stem and kind.__name__ in ("EncoderDecoder", "TwoTowers") else side
        if len(options_of(hints[field.name])) > 1 or not isinstance(values[0], _ONE_OF_A_KIND):
            yield Entry(key, _together(values), names.of_field(kind.__name__, field.name, SECTION_OF), "", inner)
        members = [item for value in values if isinstance(value, tuple) for item in value]
        mark = "[*]" if members else ""
        by_kind: dict[type, list[object]] = {}
        for value in members or values:
            if dataclasses.is_dataclass(value):
                by_kind.setdefault(type(value), []).append(value)
        for nested in by_kind.values():
            yield from _fields(nested, f"{key}{mark}.", inner)


def _together(values: Sequence[object]) -> object:
    """One value if all agree, else each with how often it occurs."""
    if any(isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]) for value in values):
        counts = sorted({len(value) for value in values if isinstance(value, tuple)})
        return counts[0] if len(counts) == 1 else counts
    plain = [_plain(value) for value in values]
    if all(value == plain[0] for value in plain):
        return plain[0]
    return ", ".join(f"{name} ×{count}" for name, count in Counter(map(str, plain)).most_common(4))


def _plain(value: object) -> object:
    """A choice of type by its name."""
    if dataclasses.is_dataclass(value):
        return type(value).__name__
    return list(value) if isinstance(value, tuple) else value

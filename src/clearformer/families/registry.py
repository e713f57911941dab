"""Which family a model belongs to. A new family is one more name in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from clearformer.errors import CheckpointError
from clearformer.families.bert import BERT
from clearformer.families.bloom import BLOOM
from clearformer.families.deepseek_v2 import DEEPSEEK_V2
from clearformer.families.deepseek_v3 import DEEPSEEK_V3
from clearformer.families.family import Family, GGUFForm
from clearformer.families.gpt2 import GPT2
from clearformer.families.gpt_neox import GPT_NEOX
from clearformer.families.llama import LLAMA
from clearformer.families.mpt import MPT
from clearformer.families.own import OWN
from clearformer.messages import did_you_mean
from clearformer.messages import families as say
from clearformer.spec import Spec

T = TypeVar("T")

PUBLISHED: tuple[Family, ...] = (LLAMA, GPT2, BERT, GPT_NEOX, BLOOM, MPT, DEEPSEEK_V2, DEEPSEEK_V3)
FAMILIES: tuple[Family, ...] = (*PUBLISHED, OWN)


def family_of(config: Mapping[str, object], path: Path | str = "config.json") -> Family:
    """The family of a config's `model_type`. Raises CheckpointError naming the type, the nearest and all known."""
    return _named(config.get("model_type"), {family.model_type: family for family in FAMILIES}, path)


def gguf_form_of(metadata: Mapping[str, object], path: Path | str) -> GGUFForm:
    """The form of a GGUF file's `general.architecture`. Raises CheckpointError, as `family_of`."""
    known = {form.architecture: form for family in FAMILIES if (form := family.gguf)}
    return _named(metadata.get("general.architecture"), known, path)


def family_for(spec: Spec, families: Iterable[Family] = FAMILIES) -> tuple[Family, dict[str, object]]:
    """The first family that can say the spec, and its config; our own, the last, can say every one.

    Raises CheckpointError where none of `families` can, with what each lacks.
    """
    obstacles = []
    for family in families:
        try:
            return family, family.write(spec)
        except CheckpointError as error:
            obstacles.append(f"{family.model_type} ({error.values['field']} = {error.values['found']})")
    raise CheckpointError(say.NO_FAMILY, expected=", ".join(obstacles))


def _named(found: object, known: Mapping[str, T], path: Path | str) -> T:
    if isinstance(found, str) and found in known:
        return known[found]
    expected = ", ".join(known)
    if found is None:
        raise CheckpointError(say.NO_TYPE, path=path, expected=expected)
    hint = did_you_mean(found, known)
    raise CheckpointError(say.UNKNOWN_TYPE, path=path, found=found, expected=expected, hint=hint)

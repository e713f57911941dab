"""Which family a model belongs to. A new family is one more name in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clearformer.errors import CheckpointError
from clearformer.families.bert import BERT
from clearformer.families.family import Family
from clearformer.families.gpt2 import GPT2
from clearformer.families.llama import LLAMA
from clearformer.messages import did_you_mean
from clearformer.messages import families as say
from clearformer.spec import Spec

FAMILIES: tuple[Family, ...] = (LLAMA, GPT2, BERT)


def family_of(config: Mapping[str, object], path: Path | str = "config.json") -> Family:
    """The family of a config's `model_type`. Raises CheckpointError naming the type, the nearest and all known."""
    return _named(config.get("model_type"), {family.model_type: family for family in FAMILIES}, path)


def family_of_gguf(metadata: Mapping[str, object], path: Path | str) -> Family:
    """The family of a GGUF file's `general.architecture`. Raises CheckpointError, as `family_of`."""
    known = {family.gguf.architecture: family for family in FAMILIES}
    return _named(metadata.get("general.architecture"), known, path)


def family_for(spec: Spec) -> tuple[Family, dict[str, object]]:
    """The first family that can say the spec, and its config. Raises CheckpointError where none can."""
    for family in FAMILIES:
        try:
            return family, family.write(spec)
        except CheckpointError:
            continue
    raise CheckpointError(say.NO_FAMILY, expected=", ".join(family.model_type for family in FAMILIES))


def _named(found: object, known: Mapping[str, Family], path: Path | str) -> Family:
    if isinstance(found, str) and found in known:
        return known[found]
    expected = ", ".join(known)
    if found is None:
        raise CheckpointError(say.NO_TYPE, path=path, expected=expected)
    hint = did_you_mean(found, known)
    raise CheckpointError(say.UNKNOWN_TYPE, path=path, found=found, expected=expected, hint=hint)

"""Which family a model belongs to. A new family is one more name in `FAMILIES`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from clearformer.errors import CheckpointError
from clearformer.families.bart import BART
from clearformer.families.bert import BERT
from clearformer.families.bloom import BLOOM
from clearformer.families.clip import CLIP, CLIP_IMAGE, CLIP_TEXT
from clearformer.families.deepseek_v2 import DEEPSEEK_V2
from clearformer.families.deepseek_v3 import DEEPSEEK_V3
from clearformer.families.distilbert import DISTILBERT
from clearformer.families.family import Family
from clearformer.families.gemma import GEMMA
from clearformer.families.gemma2 import GEMMA2
from clearformer.families.gemma3 import GEMMA3
from clearformer.families.gguf.bert import BERT as GGUF_BERT
from clearformer.families.gguf.form import GGUFForm, Said
from clearformer.families.gguf.gemma import GEMMA as GGUF_GEMMA
from clearformer.families.gguf.gemma import GEMMA2 as GGUF_GEMMA2
from clearformer.families.gguf.gemma import GEMMA3 as GGUF_GEMMA3
from clearformer.families.gguf.gpt2 import GPT2 as GGUF_GPT2
from clearformer.families.gguf.llama import LLAMA as GGUF_LLAMA
from clearformer.families.gguf.phi3 import PHI3 as GGUF_PHI3
from clearformer.families.gguf.qwen import QWEN2 as GGUF_QWEN2
from clearformer.families.gguf.qwen import QWEN3 as GGUF_QWEN3
from clearformer.families.glm4 import GLM4
from clearformer.families.gpt2 import GPT2
from clearformer.families.gpt_neox import GPT_NEOX
from clearformer.families.llama import LLAMA
from clearformer.families.marian import MARIAN
from clearformer.families.mistral import MISTRAL
from clearformer.families.mixtral import MIXTRAL
from clearformer.families.modernbert import MODERNBERT
from clearformer.families.mpt import MPT
from clearformer.families.olmo2 import OLMO2
from clearformer.families.own import OWN
from clearformer.families.phi3 import PHI3
from clearformer.families.qwen2 import QWEN2
from clearformer.families.qwen2_moe import QWEN2_MOE
from clearformer.families.qwen3 import QWEN3
from clearformer.families.qwen3_moe import QWEN3_MOE
from clearformer.families.roberta import ROBERTA, XLM_ROBERTA
from clearformer.families.smollm3 import SMOLLM3
from clearformer.families.t5 import T5
from clearformer.families.vit import VIT
from clearformer.messages import did_you_mean
from clearformer.messages import families as say
from clearformer.spec import Spec

T = TypeVar("T")

PUBLISHED: tuple[Family, ...] = (
    *(LLAMA, MISTRAL, MIXTRAL, QWEN2, QWEN2_MOE, QWEN3, QWEN3_MOE, GPT2),
    *(GEMMA, GEMMA2, GEMMA3, OLMO2, PHI3, SMOLLM3, GLM4),
    *(GPT_NEOX, BLOOM, MPT, DEEPSEEK_V2, DEEPSEEK_V3),
    *(BERT, ROBERTA, XLM_ROBERTA, DISTILBERT, MODERNBERT, VIT, CLIP, CLIP_TEXT, CLIP_IMAGE),
    *(T5, MARIAN, BART),
)
FAMILIES: tuple[Family, ...] = (*PUBLISHED, OWN)
GGUF_FORMS: tuple[GGUFForm, ...] = (
    *(GGUF_LLAMA, GGUF_QWEN2, GGUF_QWEN3, GGUF_GEMMA, GGUF_GEMMA2, GGUF_GEMMA3, GGUF_PHI3),
    *(GGUF_GPT2, GGUF_BERT),
)


def family_of(config: Mapping[str, object], path: Path | str = "config.json") -> Family:
    """The family of a config's `model_type`. Raises CheckpointError naming the type, the nearest and all known."""
    return _named(config.get("model_type"), {family.model_type: family for family in FAMILIES}, path)


def gguf_form_of(metadata: Mapping[str, object], path: Path | str) -> GGUFForm:
    """The form of a GGUF file's `general.architecture`. Raises CheckpointError, as `family_of`."""
    return _named(metadata.get("general.architecture"), {form.architecture: form for form in GGUF_FORMS}, path)


def gguf_form_for(spec: Spec, shapes: Mapping[str, tuple[int, ...]], family: str = "") -> tuple[GGUFForm, Said]:
    """The architecture of llama.cpp that can say the spec, and what a file says of it; `family` is what the model was
    read as, whose own form is asked first. `shapes` are those of its weights.

    Raises CheckpointError where none can, with the field that each lacks.
    """
    own = _LLAMA_CPPS_NAME.get(family, family)
    obstacles = []
    asked = [form for form in GGUF_FORMS if form.architecture not in _FOR_THEIR_OWN or form.architecture == own]
    for form in sorted(asked, key=lambda form: form.architecture != own):
        try:
            return form, form.write(spec, shapes)
        except CheckpointError as error:
            if form.architecture == own and error.values["field"] != "spec":
                raise
            obstacles.append((form.architecture, error.values["field"], error.values["found"]))
    raise CheckpointError(say.NO_GGUF_FORM, expected=_obstacles(obstacles))


# llama.cpp reads Phi-3's window and looks past it: no other model with a window may take that name.
_FOR_THEIR_OWN = frozenset({"phi3"})
# Families that llama.cpp keeps under another name.
_LLAMA_CPPS_NAME = {"mistral": "llama", "mixtral": "llama", "gemma3_text": "gemma3"}


def family_for(spec: Spec, families: Iterable[Family] = FAMILIES) -> tuple[Family, dict[str, object]]:
    """The first family that can say the spec, and its config; our own, the last, can say every one.

    Raises CheckpointError where none of `families` can, with what each lacks.
    """
    obstacles = []
    for family in families:
        try:
            return family, family.write(spec)
        except CheckpointError as error:
            obstacles.append((family.model_type, error.values["field"], error.values["found"]))
    raise CheckpointError(say.NO_FAMILY, expected=_obstacles(obstacles))


def _obstacles(found: list[tuple[str, object, object]]) -> str:
    """Those that have no such kind of model at all say nothing that helps, unless none has."""
    near = [each for each in found if each[1] != "spec"] or found
    return ", ".join(f"{name} ({field} = {value})" for name, field, value in near)


def _named(found: object, known: Mapping[str, T], path: Path | str) -> T:
    if isinstance(found, str) and found in known:
        return known[found]
    expected = ", ".join(known)
    if found is None:
        raise CheckpointError(say.NO_TYPE, path=path, expected=expected)
    hint = did_you_mean(found, known)
    raise CheckpointError(say.UNKNOWN_TYPE, path=path, found=found, expected=expected, hint=hint)

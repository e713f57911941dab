"""Any model as a folder: in the form that transformers reads, or in our own, which keeps the whole spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from torch import Tensor

from clearformer.build import empty
from clearformer.checkpoint import weight_table
from clearformer.checkpoint.folder import CONFIG, GENERATION, RECIPE, WEIGHTS
from clearformer.checkpoint.manifest import MANIFEST, read_manifest
from clearformer.checkpoint.reading import given, inside, read_bounded, read_json
from clearformer.checkpoint.writing import save_folder
from clearformer.families import PUBLISHED, family_for
from clearformer.families.generation import token_keys, write_generation
from clearformer.families.own import OWN
from clearformer.families.sentence_head import write_sentence_head
from clearformer.load import Found, look
from clearformer.spec import DecoderOnly, EncoderOnly, Hidden, Spec
from clearformer.store.places import Progress
from clearformer.store.pull import silent
from clearformer.store.resolve import resolve
from clearformer.text.fast import FastTokenizer
from clearformer.text.load import FILES
from clearformer.text.training import tokenizer_files

Form = Literal["hf", "own"]

_MAX_FILE = 256 * 2**20
# Written anew, or no part of the model.
_OWN_PLACE = {CONFIG, WEIGHTS, GENERATION, RECIPE, MANIFEST}


def export(model: str | Path, out: Path, form: Form = "hf", *, progress: Progress = silent) -> Path:
    """Write the model that `model` names (as for `load`) into the new folder `out`; returns `out`.

    The weights keep their number types; tokenizer, chat template, generation config and names of classes come along.
    Raises what `load` raises, and CheckpointError where no published family can say the model (`form` "hf") or `out`
    exists.
    """
    located = resolve(str(model), progress=progress)
    found = look(located)
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(found.spec).named_parameters()}
    weights = weight_table.load(found.table, found.tensors, shapes)
    source = found.path if located.kind == "folder" else None
    spec, beside = _sentence_head_apart(found.spec) if form == "hf" else (found.spec, {})
    # Several families can say some specs; a model stays in its own, by which transformers also picks a tokenizer.
    published = sorted(PUBLISHED, key=lambda family: family.model_type != found.family)
    family, config = family_for(spec, published if form == "hf" else (OWN,))
    save_folder(
        out,
        token_keys(found.generation) | config | _types(weights) | (_label_names(source) if source else {}),
        weight_table.dump(family.table(spec), weights),
        _generation(source, found),
        {**(_copied(source) if source else _text_files(found)), **beside},
    )
    return out


def _sentence_head_apart(spec: Spec) -> tuple[Spec, Mapping[str, bytes]]:
    """A published sentence encoder is a bare model, with its pooling in files of its own beside it."""
    if isinstance(spec, DecoderOnly | EncoderOnly) and (files := write_sentence_head(spec)):
        return replace(spec, head=Hidden()), files
    return spec, {}


def _types(weights: Mapping[str, Tensor]) -> dict[str, object]:
    """The number type, which transformers would take for float32."""
    names = {str(tensor.dtype).removeprefix("torch.") for tensor in weights.values()}
    return {"dtype": names.pop()} if len(names) == 1 else {}


def _label_names(source: Path) -> dict[str, object]:
    config = read_json(inside(source, CONFIG), _MAX_FILE)
    return {key: config[key] for key in ("id2label", "label2id") if key in config}


def _generation(source: Path | None, found: Found) -> Mapping[str, object]:
    """As the makers wrote it, what is not honoured here included; else what is known."""
    if source is not None and given(source, GENERATION):
        return read_json(inside(source, GENERATION), _MAX_FILE)
    return write_generation(found.generation)


def _copied(source: Path) -> dict[str, bytes]:
    """The tokenizer's files, and whatever a run has published beside its weights."""
    names = {name for name in FILES if given(source, name)}
    if given(source, RECIPE):
        names |= read_manifest(source).files.keys() - _OWN_PLACE
    return {name: read_bounded(inside(source, name), _MAX_FILE) for name in sorted(names)}


def _text_files(found: Found) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if found.tokenizer is not None:
        assert isinstance(found.tokenizer, FastTokenizer)
        files |= tokenizer_files(found.tokenizer)
    if found.template is not None:
        files["chat_template.jinja"] = found.template.encode("utf-8")
    return files

"""Any model that llama.cpp knows as one GGUF file: weights in a chosen number type, tokenizer, chat template."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from clearformer.build import empty
from clearformer.checkpoint import weight_table
from clearformer.checkpoint.gguf_blocks import Kind
from clearformer.checkpoint.gguf_writing import Entry, save_gguf
from clearformer.errors import CheckpointError, TokenizerError
from clearformer.families import gguf_form_for
from clearformer.families.generation import write_gguf_sampling
from clearformer.families.gguf.kinds import falls_back, kind_of
from clearformer.load import Found, look
from clearformer.messages import checkpoint as say
from clearformer.messages import text as say_of_text
from clearformer.spec import DecoderOnly, EncoderOnly, SingleStack, Tokens, main_stack
from clearformer.store.places import Progress
from clearformer.store.pull import silent
from clearformer.store.resolve import resolve
from clearformer.text.fast import FastTokenizer
from clearformer.text.gguf_writing import no_tokenizer, tokenizer_to_gguf

# LLAMA_FTYPE of llama.h, and the version of the block formats.
_FILE_TYPES: dict[Kind, int] = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 7, "bf16": 32}
_BLOCKS_VERSION = 2


@dataclass(frozen=True)
class Written:
    """The file, and what of it is not of the kind that was asked for although it is a matrix: F16 for rows that are not
    of whole blocks."""

    path: Path
    architecture: str
    fell_back: tuple[str, ...]


def export_gguf(
    model: str | Path,
    out: Path,
    kind: Kind = "f16",
    *,
    progress: Progress = silent,
    writing: Progress = silent,
) -> Written:
    """Write the model that `model` names (as for `load`) into the new file `out`, as llama.cpp reads it.

    `progress` is told of the download, if there is one, `writing` of bytes written. Raises what `load` raises, and
    CheckpointError or TokenizerError naming what llama.cpp has no word for, where `out` exists, or where a weight is
    too large for the kind.
    """
    if out.exists():
        raise CheckpointError(say.FILE_EXISTS, path=out)
    found = look(resolve(str(model), progress=progress))
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(found.spec).named_parameters()}
    form, said = gguf_form_for(found.spec, shapes, found.family)
    foreign = form.foreign_shapes(found.spec, shapes)
    vectors = {name: torch.tensor(numbers, dtype=torch.float32) for name, numbers in said.vectors.items()}
    entries = [
        *(Entry(name, tuple(vector.shape), "f32") for name, vector in vectors.items()),
        *(Entry(name, shape, kind_of(name, shape, kind, foreign)) for name, shape in foreign.items()),
    ]
    metadata: dict[str, object] = {
        "general.architecture": form.architecture,
        "general.type": "model",
        "general.name": found.name,
        "general.file_type": _FILE_TYPES[kind],
        "general.size_label": _size_label(sum(math.prod(shape) for shape in shapes.values())),
        "general.quantization_version": _BLOCKS_VERSION,
        **said.metadata,
        **write_gguf_sampling(found.generation),
        **_text(found, form.architecture),
    }
    weights = weight_table.load(found.table, found.tensors, shapes)

    def contents() -> Iterator[tuple[str, Tensor]]:
        yield from vectors.items()
        yield from weight_table.pairs(form.table(found.spec), weights)

    save_gguf(out, metadata, entries, contents(), writing)
    names = [name for name, shape in foreign.items() if len(shape) > 1 and falls_back(shape, kind)]
    fell_back = tuple(entry.name for entry in entries if entry.name in names and entry.kind == "f16")
    return Written(out, form.architecture, fell_back)


def _text(found: Found, architecture: str) -> dict[str, object]:
    """Tokenizer and chat template; the ids that begin and end a text in any case."""
    ends = found.generation.end_ids
    if found.tokenizer is None:
        if len(ends) > 3:
            values = {"field": "eos_token_id", "found": f"{len(ends)} ids", "expected": "at most 3"}
            raise TokenizerError(say_of_text.GGUF_CANNOT_SAY, **values)
        return no_tokenizer(found.generation.begin_id, ends, found.generation.pad_id)
    assert isinstance(found.tokenizer, FastTokenizer)
    assert isinstance(found.spec, EncoderOnly | DecoderOnly)
    written = tokenizer_to_gguf(found.tokenizer, _rows(found.spec), architecture, ends)
    if found.template is not None:
        written["tokenizer.chat_template"] = found.template
    return written


def _rows(spec: SingleStack) -> int:
    tokens = main_stack(spec).input
    assert isinstance(tokens, Tokens)
    return tokens.vocabulary


def _size_label(parameters: int) -> str:
    """135M, 7.2B: two digits of worth, as names of models have them."""
    for unit, name in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if parameters >= unit:
            amount = parameters / unit
            return f"{amount:.1f}{name}" if amount < 10 else f"{amount:.0f}{name}"
    return str(parameters)

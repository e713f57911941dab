"""From a model's name to a model that speaks: where it lies, what it is, its weights in place, its tokenizer."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from clearformer.build import empty
from clearformer.checkpoint import weight_table
from clearformer.checkpoint.folder import RECIPE, open_folder
from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.checkpoint.manifest import check_manifest
from clearformer.checkpoint.reading import given, inside
from clearformer.checkpoint.renames import Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.cost.parameters import parameters
from clearformer.errors import CheckpointError, MachineError, UsageError
from clearformer.families import GenerationDefaults, family_of, gguf_form_of
from clearformer.families.generation import read_generation, read_gguf_generation
from clearformer.families.sentence_head import read_sentence_head
from clearformer.messages import load as say
from clearformer.messages import runs as say_of_runs
from clearformer.messages import verbatim
from clearformer.model import Model
from clearformer.spec import DecoderOnly, EncoderDecoder, EncoderOnly, Hidden, Spec, Tokens, TwoTowers, main_stack
from clearformer.store.places import Progress
from clearformer.store.pull import silent
from clearformer.store.resolve import Located, resolve
from clearformer.text.gguf import chat_template_from_gguf, describes_tokenizer, tokenizer_from_gguf
from clearformer.text.load import FILES, SOURCE_TOKENIZER, TOKENIZER, chat_template_from_folder, tokenizer_from_folder
from clearformer.text.tokenizer import Tokenizer

# A config that asks for far more numbers than the files hold is refused before a module is made: only then is which
# tensor is lacking of no interest.
_NUMBERS_A_NUMBER = 8
_SMALL = 100_000
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


@dataclass(frozen=True)
class Found:
    """All that is known of a model before a weight is read. `tokenizer` and `template` are None where it has none."""

    name: str
    path: Path
    spec: Spec
    tensors: TensorFile
    table: Table
    generation: GenerationDefaults
    tokenizer: Tokenizer | None
    template: str | None
    source_tokenizer: Tokenizer | None = None
    family: str = ""
    """The model type, or the architecture of a GGUF file, that it was read as."""


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode, and what it needs to read and write text."""

    name: str
    model: Model
    spec: Spec
    tokenizer: Tokenizer | None
    generation: GenerationDefaults
    template: str | None
    path: Path | None = None
    """Where it was read from; beside the weights may lie what a task knows, such as the names of its classes."""
    source_tokenizer: Tokenizer | None = None
    """The vocabulary of what an encoder-decoder reads, where `tokenizer` is that of what it writes alone."""

    def __repr__(self) -> str:
        """One line: the spec of thirty blocks would bury whatever else a notebook shows."""
        first = next(self.model.parameters())
        million = sum(parameter.numel() for parameter in self.model.parameters()) / 1e6
        kind = f"{type(self.spec).__name__}, {million:.1f} million parameters, {_short(first.dtype)}, {first.device}"
        return f"Loaded({self.name!r}: {kind})"


def load(
    model: str | Path,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    progress: Progress = silent,
) -> Loaded:
    """The model that `model` names: a folder, a GGUF file, a built-in name, a Hub id, or a name under runs/.

    `dtype` is float32, bfloat16, float16 or float64. Raises UsageError or StoreError where nothing is found,
    CheckpointError for what cannot be read or understood, TokenizerError, MachineError for a device or memory lacking.
    """
    place = _usable(device)
    if dtype not in DTYPES:
        raise UsageError(say.BAD_DTYPE, expected=", ".join(map(_short, DTYPES)), found=_short(dtype))
    return loaded(look(resolve(str(model), progress=progress)), place, dtype)


def loaded(found: Found, device: torch.device, dtype: torch.dtype) -> Loaded:
    """What was found, with its weights in memory. Raises as `load` does."""
    return with_model(found, _filled(found, device, dtype))


def with_model(found: Found, model: Model) -> Loaded:
    """What was found, with a model that holds its weights in a form of its own."""
    return Loaded(
        name=found.name,
        model=model,
        spec=found.spec,
        tokenizer=found.tokenizer,
        generation=found.generation,
        template=found.template,
        path=found.path,
        source_tokenizer=found.source_tokenizer,
    )


def look(located: Located) -> Found:
    """Read everything but the weights. Raises CheckpointError and TokenizerError."""
    found = _look_into_gguf(located) if located.kind == "gguf" else _look_into_folder(located)
    reads, writes = _vocabularies(found.spec)
    for tokenizer, rows in ((found.source_tokenizer or found.tokenizer, reads), (found.tokenizer, writes)):
        if tokenizer is not None and rows is not None and tokenizer.vocabulary_size > rows:
            values = {"expected": rows, "found": tokenizer.vocabulary_size}
            raise CheckpointError(say.VOCABULARY_TOO_LARGE, name=found.name, **values)
    return found


def _look_into_folder(located: Located) -> Found:
    folder = located.path
    if given(folder, RECIPE):
        _require_as_published(folder)
    checkpoint = open_folder(folder)
    for name in FILES:
        if given(folder, name):
            inside(folder, name)
    family = family_of(checkpoint.config, folder / "config.json")
    spec = family.read(checkpoint.config, folder / "config.json")
    if isinstance(spec, EncoderOnly | DecoderOnly) and isinstance(spec.head, Hidden):
        spec = replace(spec, head=read_sentence_head(folder) or spec.head)
    return Found(
        name=located.name,
        path=folder,
        spec=spec,
        tensors=checkpoint.tensors,
        table=family.table(spec),
        generation=read_generation(checkpoint.generation, checkpoint.config, folder / "generation_config.json"),
        tokenizer=tokenizer_from_folder(folder) if given(folder, TOKENIZER) else None,
        template=chat_template_from_folder(folder),
        source_tokenizer=tokenizer_from_folder(folder, SOURCE_TOKENIZER) if given(folder, SOURCE_TOKENIZER) else None,
        family=family.model_type,
    )


def _require_as_published(run: Path) -> None:
    """A run folder's files are those of its manifest, bit for bit."""
    try:
        check_manifest(run)
    except CheckpointError as error:
        cause = verbatim(error.cause("en"), error.cause("zh"))
        raise CheckpointError(say_of_runs.NOT_AS_PUBLISHED, path=run, cause=cause) from error


def _look_into_gguf(located: Located) -> Found:
    file = open_gguf(located.path)
    form = gguf_form_of(file.metadata, located.path)
    spec = form.read(file)
    return Found(
        name=located.name,
        path=located.path,
        spec=spec,
        tensors=file,
        table=form.table(spec),
        generation=read_gguf_generation(file.metadata, located.path),
        tokenizer=tokenizer_from_gguf(file.metadata) if describes_tokenizer(file.metadata) else None,
        template=chat_template_from_gguf(file.metadata),
        family=form.architecture,
    )


def weights_of(found: Found, *, blocks: Collection[str] = ()) -> weight_table.Reading:
    """The weights one by one, by the names of our parameters; quantised `blocks` as the file has them."""
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(found.spec).named_parameters()}
    return weight_table.Reading(found.table, found.tensors, shapes, blocks=blocks)


def _filled(found: Found, device: torch.device, dtype: torch.dtype) -> Model:
    """The weights become the parameters themselves: nothing is drawn first, and nothing is kept twice."""
    _require_enough(found)
    model = empty(found.spec)
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    try:
        weights = weight_table.load(found.table, found.tensors, shapes, dtype)
        placed = {name: weights.pop(name).to(device) for name in shapes}
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _no_memory(found, shapes, device, dtype) from error
    except RuntimeError as error:
        # torch's allocator on the CPU has no exception of its own.
        if "allocate memory" not in str(error):
            raise
        raise _no_memory(found, shapes, device, dtype) from error
    # A table shared by two stacks has one name here and two in a state dict.
    model.load_state_dict(placed, assign=True, strict=False)
    assert not any(parameter.is_meta for parameter in model.parameters())
    return model.eval()


def _require_enough(found: Found) -> None:
    held = sum(math.prod(found.tensors.shape(name)) for name in found.tensors.names())
    needed = parameters(found.spec).total
    if needed > _SMALL + _NUMBERS_A_NUMBER * held:
        raise CheckpointError(say.CLAIMS_MORE, path=found.path, needed=needed, held=held)


def _no_memory(
    found: Found, shapes: dict[str, tuple[int, ...]], device: torch.device, dtype: torch.dtype
) -> MachineError:
    needed = sum(math.prod(shape) for shape in shapes.values()) * dtype.itemsize / 1e9
    return MachineError(say.NO_MEMORY, name=found.name, needed=f"{needed:.1f}", device=device, dtype=_short(dtype))


def _usable(device: torch.device | str) -> torch.device:
    try:
        place = torch.empty(0, device=device).device
        if place.type == "meta":
            raise RuntimeError("it holds shapes and no numbers")
        return place
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise MachineError(say.NO_DEVICE, found=device, detail=reason) from error


def _vocabularies(spec: Spec) -> tuple[int | None, int | None]:
    """Rows of the tables that ids index, of what is read and of what is written; None where those are no tokens."""
    if isinstance(spec, TwoTowers):
        return None, None
    stacks = (spec.encoder, spec.decoder) if isinstance(spec, EncoderDecoder) else (main_stack(spec),) * 2
    reads, writes = (each.input.vocabulary if isinstance(each.input, Tokens) else None for each in stacks)
    return reads, writes


def _short(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")

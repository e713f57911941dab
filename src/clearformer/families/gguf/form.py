"""What an architecture of llama.cpp is: its metadata as a spec, its tensors' names, and the inverse of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import numpy as np

from clearformer.checkpoint.renames import Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families.config_reader import ConfigReader
from clearformer.families.family import Examined, examined, require_same, translated
from clearformer.families.gguf.rotary import divisors_alone
from clearformer.families.gguf.values import decimal
from clearformer.messages import families as say
from clearformer.spec import Attention, Spec

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
Metadata = dict[str, object]


@dataclass(frozen=True)
class Said:
    """What a file says of a spec beside its weights: metadata, and small float32 tensors that are no weights here."""

    metadata: Mapping[str, object]
    vectors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class GGUFForm:
    """An architecture of llama.cpp: `translate` reads metadata and, where it must, tensors; `describe` is its inverse,
    None for a spec of another kind; `table` pairs the tensors' names."""

    architecture: str
    translate: Callable[[ConfigReader, TensorFile], Spec]
    describe: Callable[[Spec], Said | None]
    table: Callable[[Spec], Table]

    def read(self, tensors: TensorFile) -> Spec:
        """A GGUF file's metadata → the spec that it means. Raises CheckpointError naming the key."""
        reader = self._reader(tensors)
        return translated(reader, lambda: self.translate(reader, tensors))

    def examine(self, tensors: TensorFile) -> Examined:
        """The same without a refusal of keys that nobody reads."""
        reader = self._reader(tensors)
        return examined(reader, lambda: self.translate(reader, tensors))

    def _reader(self, tensors: TensorFile) -> ConfigReader:
        reader = ConfigReader(tensors.metadata, tensors.path)
        reader.harmless(key for key in tensors.metadata if key.startswith(("general.", "tokenizer.", "quantize.")))
        return reader

    def write(self, spec: Spec, shapes: Mapping[str, tuple[int, ...]]) -> Said:
        """What a file must say to mean this spec, whose weights have these shapes. Raises CheckpointError naming the
        field that llama.cpp has no word for."""
        said = self.describe(spec)
        if said is None:
            refuse(self.architecture, "spec", type(spec).__name__, self.architecture)
        held = _Described(said, self.foreign_shapes(spec, shapes))
        try:
            require_same(self.architecture, lambda: as_stored(self.read(held)), as_stored(spec))
        except CheckpointError as error:
            failure = say.GGUF_UNREADABLE_BACK if "why" in error.values else say.NOT_OF_GGUF
            raise CheckpointError(failure, **error.values) from None
        return said

    def foreign_shapes(self, spec: Spec, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The file's tensors of weights, by name, in its order."""
        import torch

        from clearformer.checkpoint.weight_table import pairs

        ours = {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}
        return {name: tuple(tensor.shape) for name, tensor in pairs(self.table(spec), ours)}


def refuse(architecture: str, wanted: str, found: object, expected: object) -> NoReturn:
    """`wanted` is the field of the spec that llama.cpp's architecture fixes otherwise."""
    raise CheckpointError(say.NOT_OF_GGUF, family=architecture, field=wanted, found=found, expected=expected)


@dataclass(frozen=True)
class _Described:
    """A file that is not written yet, for `read` to judge."""

    said: Said
    shapes: Mapping[str, tuple[int, ...]]
    path: Path = Path("GGUF")

    @property
    def metadata(self) -> Mapping[str, object]:
        return self.said.metadata

    def names(self) -> tuple[str, ...]:
        return (*self.shapes, *self.said.vectors)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.shapes[name] if name in self.shapes else (len(self.said.vectors[name]),)

    def dtype(self, name: str) -> torch.dtype:
        import torch

        return torch.float32

    def tensor(self, name: str) -> torch.Tensor:
        import torch

        return torch.tensor(self.said.vectors[name], dtype=torch.float32)


def as_stored(value: T) -> T:
    """A spec as far as a file can tell it: numbers in float32, Llama 3's scaling as the divisors that come of it."""
    changed: object = value
    if isinstance(value, Attention):
        changed = value = dataclasses.replace(value, position=divisors_alone(value))
    if isinstance(value, float):
        changed = _single(value)
    elif isinstance(value, tuple):
        changed = tuple(as_stored(item) for item in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: as_stored(getattr(value, part.name)) for part in dataclasses.fields(value)}
        changed = dataclasses.replace(value, **parts)
    return changed  # type: ignore[return-value]


def _single(number: float) -> float:
    with np.errstate(over="ignore"):
        return decimal(float(np.float32(number)))

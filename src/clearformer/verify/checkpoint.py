"""Another checkpoint of the same architecture as the reference, and the noise that storing weights makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from clearformer.checkpoint import weight_table
from clearformer.checkpoint.gguf_file import GGUFFile
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError, UsageError
from clearformer.load import Found
from clearformer.messages import verify as messages
from clearformer.spec import DecoderOnly, EncoderDecoder, EncoderOnly, Spec, TwoTowers
from clearformer.verify.ours import Suspect, Weights

EXACT = 1e-9
"""Relative differences up to this are none: both sides compute in float64."""


def require_alike(suspect: Suspect, other: Suspect, name: str) -> None:
    """Raises UsageError where the two are not of one architecture: other blocks, or a tensor of another shape."""
    pairs = [("architecture", type(suspect.spec).__name__, type(other.spec).__name__)]
    pairs.append(("blocks", str(_blocks(suspect.spec)), str(_blocks(other.spec))))
    both = [each for each in other.weights if each in suspect.weights]
    pairs += [(each, _shape(suspect.weights[each]), _shape(other.weights[each])) for each in both]
    for what, found, expected in pairs:
        if found != expected:
            raise UsageError(messages.NOT_ALIKE, name=name, what=what, expected=expected, found=found)


def stored_as(found: Found, weights: Weights) -> dict[str, Tensor] | None:
    """These weights as the file's number types would keep them: written into its names and types, and read back.

    Tensors that the file has and `weights` has not are those of the file. None where a type cannot be written here.
    """
    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    try:
        names = weight_table.dump(found.table, weights)
        return weight_table.load(found.table, _Written(found.tensors, names), shapes, torch.float64)
    except (CheckpointError, NotImplementedError):
        return None


@dataclass(frozen=True)
class _Written:
    """A file's types with other contents; see `TensorFile`."""

    file: TensorFile
    contents: Mapping[str, Tensor]

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def metadata(self) -> Mapping[str, object]:
        return self.file.metadata

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.file.names() if name in self.contents)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.file.shape(name)

    def dtype(self, name: str) -> torch.dtype:
        return self.file.dtype(name)

    def tensor(self, name: str) -> Tensor:
        value = self.contents[name]
        if isinstance(self.file, GGUFFile) and self.file.kind(name) not in ("F64", "F32", "F16", "BF16"):
            return _quantised(value, self.file.kind(name))
        return value.to(self.file.dtype(name))


def _quantised(value: Tensor, kind: str) -> Tensor:
    """Through a block type of GGML and back. Raises NotImplementedError for one that the gguf package cannot write."""
    from gguf.constants import GGMLQuantizationType
    from gguf.quants import dequantize, quantize

    numbers = np.ascontiguousarray(value.float().numpy())
    return torch.from_numpy(dequantize(quantize(numbers, GGMLQuantizationType[kind]), GGMLQuantizationType[kind]))


def _shape(value: Tensor) -> str:
    return " × ".join(map(str, value.shape))


def _blocks(spec: Spec) -> tuple[int, ...]:
    match spec:
        case EncoderOnly():
            return (len(spec.encoder.blocks),)
        case DecoderOnly():
            return (len(spec.decoder.blocks),)
        case EncoderDecoder():
            return len(spec.encoder.blocks), len(spec.decoder.blocks)
        case TwoTowers():
            return _blocks(spec.text) + _blocks(spec.image)

"""GGUF weights, memory-mapped: float types as they are, quantised types decoded by the gguf package to float32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from clearformer.checkpoint.gguf_header import GGUFHeader, GGUFTensor, read_header
from clearformer.checkpoint.reading import foreign_parser
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

# NumPy has no bfloat16: its bits travel as int16.
_PLAIN = {
    GGMLQuantizationType.F64: (np.float64, torch.float64),
    GGMLQuantizationType.F32: (np.float32, torch.float32),
    GGMLQuantizationType.F16: (np.float16, torch.float16),
    GGMLQuantizationType.BF16: (np.int16, torch.bfloat16),
    GGMLQuantizationType.I64: (np.int64, torch.int64),
    GGMLQuantizationType.I32: (np.int32, torch.int32),
    GGMLQuantizationType.I16: (np.int16, torch.int16),
    GGMLQuantizationType.I8: (np.int8, torch.int8),
}
# Decoding works through temporaries several times its output: a quarter of a megabyte at a time stays in the cache.
_NUMBERS_A_STEP = 1 << 16


@dataclass(frozen=True)
class GGUFFile:
    """A checked GGUF file; see `TensorFile`. `metadata` holds Python ints, floats, bools, strings and lists of them."""

    path: Path
    header: GGUFHeader

    @property
    def metadata(self) -> Mapping[str, object]:
        return self.header.metadata

    def names(self) -> tuple[str, ...]:
        return tuple(self.header.tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._entry(name).shape

    def dtype(self, name: str) -> torch.dtype:
        kind = self._entry(name).kind
        return _PLAIN[kind][1] if kind in _PLAIN else torch.float32

    def kind(self, name: str) -> str:
        """GGML's name of the stored type, such as `Q4_1`."""
        return self._entry(name).kind.name

    def plain(self, name: str) -> bool:
        """Whether it is stored as numbers and not in quantised blocks."""
        return self._entry(name).kind in _PLAIN

    def tensor(self, name: str) -> torch.Tensor:
        """The tensor: a view of the mapped file for plain types, else decoded to float32."""
        entry = self._entry(name)
        if entry.kind not in _PLAIN:
            return self._decode(name, entry)
        number, dtype = _PLAIN[entry.kind]
        content = self._bytes(entry)
        if content.ctypes.data % np.dtype(number).itemsize:
            content = content.copy()
        return torch.from_numpy(content.view(number)).view(dtype).reshape(entry.shape)

    def raw(self, name: str) -> tuple[np.ndarray, str]:
        """The stored bytes, uint8 of shape (*rows, bytes a row), a view of the mapped file; and the type's name."""
        entry = self._entry(name)
        rows = entry.shape[:-1]
        block_numbers, block_bytes = GGML_QUANT_SIZES[entry.kind]
        row_bytes = (entry.shape[-1] if entry.shape else 1) // block_numbers * block_bytes
        return self._bytes(entry).reshape(*rows, row_bytes), entry.kind.name

    def _decode(self, name: str, entry: GGUFTensor) -> torch.Tensor:
        block_numbers, block_bytes = GGML_QUANT_SIZES[entry.kind]
        step = _NUMBERS_A_STEP // block_numbers
        blocks = self._bytes(entry).reshape(-1, block_bytes)
        decoded = np.empty((len(blocks), block_numbers), np.float32)
        # Scales of damaged files overflow or are NaN; that is the model's number, not a warning's.
        with foreign_parser(self.path), np.errstate(all="ignore"):
            try:
                for first in range(0, len(blocks), step):
                    part = blocks[first : first + step].reshape(1, -1)
                    decoded[first : first + step] = dequantize(part, entry.kind).reshape(-1, block_numbers)
            except NotImplementedError:
                failure = say.NOT_DECODED
                raise CheckpointError(failure, path=self.path, name=name, found=entry.kind.name) from None
        return torch.from_numpy(decoded).reshape(entry.shape)

    def _bytes(self, entry: GGUFTensor) -> np.ndarray:
        found = self.path.stat().st_size
        if found < entry.start + entry.size:  # it shrank after its header was checked
            raise CheckpointError(say.TOO_SHORT, path=self.path, expected=entry.start + entry.size, found=found)
        if not entry.size:
            return np.empty(0, np.uint8)
        # A mapping a tensor, which goes with its last view: what was packed leaves no pages of the file in memory.
        # Copy-on-write: torch wants writable memory, and the file must never change.
        return np.asarray(np.memmap(self.path, np.uint8, "c", entry.start, (entry.size,)))

    def _entry(self, name: str) -> GGUFTensor:
        if name not in self.header.tensors:
            raise CheckpointError(say.NO_TENSOR, path=self.path, name=name)
        return self.header.tensors[name]


def open_gguf(path: Path | str) -> GGUFFile:
    """Check the whole header and return the file; no tensor is read yet. Raises CheckpointError."""
    path = Path(path)
    return GGUFFile(path, read_header(path))

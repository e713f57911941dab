"""A decoder that the compiled kernels run: what they can run, and the model that stands for it.

The model keeps its spec and no numbers of torch's: its weights are packed, once, in the type that was asked for.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

import torch
from torch import Tensor

from clearformer import spec as specs
from clearformer.machine import cores
from clearformer.model import DecoderOnly
from clearformer.native.engine import Engine, Sequence
from clearformer.native.matrix import Format
from clearformer.speed.native_program import Weights, program_of


class NativeDecoder(DecoderOnly):
    """A decoder whose parameters are shapes alone: it is read through `engine`, and never called itself."""

    def __init__(self, spec: specs.DecoderOnly, weights: Weights, dtype: Format, *, threads: int) -> None:
        """Packs every weight; `threads` beyond the cores are not started. Raises MachineError without a library."""
        with torch.device("meta"):
            super().__init__(spec)
        self.dtype = dtype
        used = min(threads, cores())
        program, self.positions = program_of(spec, weights, dtype, threads=used)
        self.engine = Engine(program, threads=used)
        self.eval()

    @property
    def backend(self) -> str:
        """As `generate` names it: with the instruction set that was chosen."""
        return f"native-{self.engine.path}"

    @property
    def bytes_a_number(self) -> float:
        """Of a weight, with its share of scales."""
        return self.engine.program.bytes_a_number

    def sequence(self, capacity: int, length_bound: int) -> Sequence:
        """An empty text of up to `capacity` tokens; `length_bound` chooses tables that depend on the length."""
        return Sequence(self.engine, capacity, self.positions.tables(capacity, length_bound))


class _Held(NamedTuple):
    tensor: Tensor
    blocks: str | None = None
    decoded: str | None = None


class HeldWeights:
    """The weights of a model in memory."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._parameters = dict(model.named_parameters())

    def take(self, name: str) -> _Held:
        return _Held(self._parameters[name])


def native_decoder(model: DecoderOnly, dtype: Format | None = None, *, threads: int | None = None) -> NativeDecoder:
    """A model in memory packed for the kernels; `dtype` None keeps float32 or bfloat16 as it is.

    Let go of the model, and its own weights go. Raises MachineError without a library.
    """
    held = next(model.parameters()).dtype
    chosen: Format = dtype or ("bfloat16" if held == torch.bfloat16 else "float32")
    assert isinstance(model.spec, specs.DecoderOnly)
    return NativeDecoder(model.spec, HeldWeights(model), chosen, threads=threads or torch.get_num_threads())


def as_format(dtype: str) -> Format:
    """The kernels' format of a number type's name."""
    return next(format for format in get_args(Format) if format == dtype)

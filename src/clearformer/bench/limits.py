"""What the machine allows at most, measured in the same run, and the share of it that ours reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

import clearformer.machine as machine
from clearformer.cost.time import decode, prefill
from clearformer.cost.work import Work
from clearformer.spec import Spec
from clearformer.speed.native import NativeDecoder


@dataclass(frozen=True)
class Reached:
    """`measured` and `used` in 10⁹ bytes, or operations, a second."""

    limit: Literal["memory read", "matrix product"]
    measured: float
    used: float

    @property
    def share(self) -> float:
        return self.used / self.measured


def reading_reached(model: torch.nn.Module, spec: Spec, dtype: str, *, rows: int, length: int, tok_s: float) -> Reached:
    """Of the rate of reading memory: every step reads all weights, and the cache of each row, `length` tokens of it."""
    half = dtype != "float32"
    job = decode(spec, Work(batch=rows, length=length, dtype="bfloat16" if half else "float32"))
    assert job is not None
    weights = job.weights * _bytes_a_number(model) / (2 if half else 4)
    return Reached("memory read", machine.read_gb_per_s(), (weights + job.cache) * tok_s / rows / 1e9)


def products_reached(spec: Spec, dtype: str, *, length: int, tok_s: float) -> Reached:
    """Of the peak of the number type's matrix product; of float32's for packed types, which torch has no product of."""
    job = prefill(spec, Work(length=length))
    peak = machine.matmul_gflops(torch.bfloat16 if dtype == "bfloat16" else torch.float32)
    return Reached("matrix product", peak, job.flops / length * tok_s / 1e9)


def _bytes_a_number(model: torch.nn.Module) -> float:
    """Of a matrix, with its scales."""
    if not isinstance(model, NativeDecoder):
        return next(model.parameters()).element_size()
    packed = [matrix for _, matrix in model.engine.program.packed]
    return sum(matrix.bytes for matrix in packed) / sum(matrix.rows * matrix.columns for matrix in packed)

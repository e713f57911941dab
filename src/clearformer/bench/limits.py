"""What the machine allows at most, measured in the same run, and the share of it that ours reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

import clearformer.machine as machine
from clearformer.cost.time import decode, prefill, stored
from clearformer.cost.work import Work
from clearformer.spec import Spec
from clearformer.speed.native import NativeDecoder


@dataclass(frozen=True)
class Reached:
    """`measured` and `used` in 10⁹ bytes, or operations, a second. `dtype` is that of the numbers read, or of the
    product."""

    limit: Literal["memory read", "matrix product"]
    dtype: str
    measured: float
    used: float

    @property
    def share(self) -> float:
        return self.used / self.measured


def reading_reached(model: torch.nn.Module, spec: Spec, dtype: str, *, rows: int, length: int, tok_s: float) -> Reached:
    """Of the rate of reading memory: every step reads all weights, and the cache of each row, `length` tokens of it."""
    work = Work(batch=rows, length=length, dtype="float32" if dtype == "float32" else "bfloat16")
    job = decode(spec, work)
    assert job is not None
    held = stored(job, work, bytes_a_number(model))
    return Reached("memory read", dtype, machine.read_gb_per_s(), held.bytes * tok_s / rows / 1e9)


def products_reached(spec: Spec, dtype: str, *, length: int, tok_s: float) -> Reached:
    """Of the peak of the number type's matrix product; of float32's for packed types, which torch has no product of."""
    job = prefill(spec, Work(length=length))
    of = "bfloat16" if dtype == "bfloat16" else "float32"
    peak = machine.matmul_gflops(torch.bfloat16 if of == "bfloat16" else torch.float32)
    return Reached("matrix product", of, peak, job.flops / length * tok_s / 1e9)


def bytes_a_number(model: torch.nn.Module) -> float:
    """Of a weight as the model holds it, with its share of scales."""
    return model.bytes_a_number if isinstance(model, NativeDecoder) else next(model.parameters()).element_size()

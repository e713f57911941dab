"""Which backend writes: PyTorch, or the compiled kernels. The choice is made before a weight is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from clearformer import spec as specs
from clearformer.errors import MachineError, UsageError
from clearformer.messages import Message
from clearformer.messages import native as say
from clearformer.native.library import found
from clearformer.speed.native import NativeDecoder
from clearformer.speed.native_scope import native_lacks
from clearformer.speed.pack import is_packed

Backend = Literal["auto", "torch", "native"]
PACKED_TYPES = ("int8", "int4")
_NATIVE_TYPES = ("float32", "bfloat16", *PACKED_TYPES)


@dataclass(frozen=True)
class Wanted:
    """What was asked for: `cached` False reads the whole text at every step."""

    backend: Backend = "auto"
    dtype: str = "float32"
    device: str = "cpu"
    cached: bool = True


@dataclass(frozen=True)
class Chosen:
    """`why` says why it is not native where `auto` would have had it."""

    native: bool
    why: Message | None = None
    absent: bool = False
    """True where `why` is about this installation and not about what was asked."""


def choose(spec: specs.Spec, wanted: Wanted) -> Chosen:
    """`auto` takes the kernels wherever they do what is asked: they are as exact as the number type, and write faster.
    (A long float32 prompt PyTorch may read faster; docs/results.md has both.)

    Raises UsageError where native is asked for, or a type that it alone computes, and it does not do the rest;
    MachineError where it is not there.
    """
    if wanted.backend == "torch":
        if wanted.dtype in PACKED_TYPES:
            raise UsageError(say.NATIVE_ONLY_TORCH, dtype=wanted.dtype)
        return Chosen(native=False)
    lacking, absent = _lacks(spec, wanted), found().why
    if lacking is None and absent is None:
        return Chosen(native=True)
    if wanted.dtype in PACKED_TYPES and lacking is not None:
        raise UsageError(say.NATIVE_ONLY, dtype=wanted.dtype, why=lacking)
    if wanted.backend == "native" and lacking is not None:
        raise UsageError(say.UNSUPPORTED, why=lacking)
    if wanted.dtype in PACKED_TYPES or wanted.backend == "native":
        assert absent is not None
        raise MachineError(say.NO_LIBRARY, why=absent)
    return Chosen(False, lacking, False) if lacking is not None else Chosen(False, absent, True)


def backend_of(model: nn.Module) -> str:
    """The name that results carry."""
    if isinstance(model, NativeDecoder):
        return model.backend
    return "torch-packed" if is_packed(model) else "torch"


def dtype_of(model: nn.Module) -> str:
    """The number type of a model's weights."""
    if isinstance(model, NativeDecoder):
        return model.dtype
    return str(next(model.parameters()).dtype).removeprefix("torch.")


def _lacks(spec: specs.Spec, wanted: Wanted) -> Message | None:
    if wanted.device != "cpu":
        return say.filled(say.DEVICE, device=wanted.device)
    if wanted.dtype not in _NATIVE_TYPES:
        return say.filled(say.DTYPE, dtype=wanted.dtype)
    if (lacking := native_lacks(spec)) is not None:
        return lacking
    return None if wanted.cached else say.NO_CACHE

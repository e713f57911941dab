"""How the twin refuses inputs that the spec cannot read."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from clearformer.errors import GenerationError, SpecError, UsageError
from clearformer.messages import reference as messages
from clearformer.reference.block import Memory
from clearformer.reference.cache import Cache
from clearformer.spec import (
    Causal,
    Input,
    Last,
    Patches,
    Pooling,
    Series,
    Stack,
    Tokens,
)


def shaped(what: str, array: np.ndarray, expected: tuple[int | str, ...], kind: type, kind_name: str) -> np.ndarray:
    """The array, if its sizes are as expected (a letter stands for any size above 0) and its type is of the kind."""
    array = np.asarray(array)
    if not np.issubdtype(array.dtype, kind):
        raise UsageError(messages.ARRAY_KIND, what=what, expected=kind_name, found=array.dtype)
    fits = len(array.shape) == len(expected) and all(
        isinstance(size, str) or size == found for size, found in zip(expected, array.shape, strict=True)
    )
    if not fits:
        raise UsageError(messages.ARRAY_SHAPE, what=what, expected=expected, found=array.shape)
    if array.size == 0:
        raise GenerationError(messages.EMPTY, what=what)
    return array


def ids(what: str, array: np.ndarray, below: int, expected: tuple[int | str, ...] = ("B", "T")) -> np.ndarray:
    """Whole numbers from 0 up to a limit."""
    array = shaped(what, array, expected, np.integer, "whole numbers")
    for extreme in (int(array.min()), int(array.max())):
        if not 0 <= extreme < below:
            raise UsageError(messages.NUMBER_OUT_OF_RANGE, what=what, low=0, high=below - 1, found=extreme)
    return array


def inputs(spec: Input, array: np.ndarray) -> np.ndarray:
    """Ids, an image or a series, as the input says."""
    match spec:
        case Tokens():
            return ids("ids", array, spec.vocabulary)
        case Patches():
            expected = ("B", spec.channels, spec.height, spec.width)
            return shaped("images", array, expected, np.floating, "real numbers").astype(np.float64)
        case Series():
            series = shaped("series", array, ("B", "S", spec.channels), np.floating, "real numbers")
            if spec.length(series.shape[1]) < 1:
                raise UsageError(messages.SERIES_TOO_SHORT, expected=spec.patch, found=series.shape[1])
            return series.astype(np.float64)


def memory(given: Memory, batch: int, width: int) -> None:
    """A memory with a row for each target and the encoder's width."""
    shaped("memory.states", given.states, (batch, "S", width), np.floating, "real numbers")
    shaped("memory.real", given.real, (batch, given.states.shape[1]), np.bool_, "booleans")


def real(array: np.ndarray | None, batch: int, length: int) -> Bool[np.ndarray, "B T"]:
    """Which positions are real; None says all."""
    if array is None:
        return np.ones((batch, length), dtype=bool)
    return shaped("real", array, (batch, length), np.bool_, "booleans")


def segments(array: np.ndarray | None, spec: Input, shape: tuple[int, ...]) -> np.ndarray | None:
    """Segment ids, where the spec has segments."""
    if array is None:
        return None
    if not isinstance(spec, Tokens) or not spec.segments:
        raise UsageError(messages.NO_SEGMENTS)
    return ids("segments", array, spec.segments, shape)


def prefix(array: np.ndarray | None, spec: Stack, batch: int) -> Int[np.ndarray, " B"]:
    """A row's prefix length; None says that there is none."""
    if array is None:
        return np.zeros(batch, dtype=np.int64)
    seen = [block.attention.visibility for block in spec.blocks]
    if not any(isinstance(visibility, Causal) and visibility.prefix for visibility in seen):
        raise UsageError(messages.NO_PREFIX)
    return ids("prefix", array, 2**31, (batch,))


def bound(value: int | np.ndarray | None, batch: int, copies: int = 1) -> Int[np.ndarray, " rows"] | None:
    """The declared length of each row, one number for all or one a sequence, for as many `copies` as it has rows."""
    if value is None:
        return None
    lengths = ids("length_bound", np.full(batch, value) if np.ndim(value) == 0 else np.asarray(value), 2**31, (batch,))
    return np.repeat(lengths, copies)


def cacheable(cache: Cache | None, source: Input, pooling: Pooling | None) -> None:
    """Refuse what needs the whole sequence where only a chunk is at hand."""
    if cache is None:
        return
    if isinstance(source, Series) and source.normalise is not None:
        raise UsageError(messages.CACHE_DOES_NOT_FIT, what="Series(normalise=...)")
    if pooling is not None and not isinstance(pooling.take, Last):
        raise UsageError(messages.CACHE_DOES_NOT_FIT, what=f"{type(pooling.take).__name__}()")


def one_memory_a_sequence(source: Input) -> None:
    """A decoder's rows are sequences; channels as rows would have no decoder row."""
    if isinstance(source, Series) and source.independent:
        raise SpecError(messages.INDEPENDENT_ENCODER)

"""Operations that put positions together outside attention: norms, means and softmaxes over the sequence, convolutions.

Found by the tokens that the numbers along their axes belong to; put right by a norm of each position alone, by a
number that depends on none of them, or by a kernel that lies before its position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from clearformer.doctor.operations import origins
from clearformer.doctor.operations.operation import Operation

if TYPE_CHECKING:
    from clearformer.doctor.operations.following import Followed

_CENTRES = frozenset({"mean", "sum", "amax", "amin", "max", "min", "median", "logsumexp", "nanmean"})
_SPREADS = frozenset({"std", "var", "norm", "vector_norm", "linalg_vector_norm", "linalg_norm", "var_mean", "std_mean"})
_BY_AXIS = frozenset({"softmax", "log_softmax", "normalize"})
_CHANNELS_SECOND = frozenset({"instance_norm", "group_norm", "batch_norm"})
_POOLS = frozenset({"adaptive_avg_pool1d", "avg_pool1d", "max_pool1d", "adaptive_max_pool1d"})
_KERNELS = frozenset({"conv1d", "pad", "roll"})


def per_position(operation: Operation, known: Followed) -> Operation:
    """The operation on each position alone; the same operation where it is that already."""
    given = _mixed(operation, known)
    if given is None:
        return operation
    return replace(operation, function=_instead(operation.name), args=(given, operation), kwargs={})


def before_position(operation: Operation, known: Followed) -> Operation:
    """A convolution whose kernel lies before its position instead of around it."""
    given = operation.argument(0, "input")
    if operation.name not in _KERNELS or (origin := _origin(given, known)) is None:
        return operation
    if operation.name == "pad":
        return _padded_before(operation, origin)
    if operation.name == "roll":
        return _rolled_before(operation, origin)
    if origins.constant(origin):
        return operation
    weight, padding = operation.argument(1, "weight"), operation.argument(4, "padding", 0)
    dilation = operation.argument(5, "dilation", 1)
    reach = (weight.shape[-1] - 1) * (dilation[0] if isinstance(dilation, tuple | list) else dilation)
    around = reach if padding == "same" else 2 * (padding[0] if isinstance(padding, tuple | list) else padding)
    if not around:
        return operation

    def behind(x: Tensor, asked: Operation) -> Tensor:
        moved: Tensor = asked.with_argument(0, "input", functional.pad(x, (around, 0))).with_argument(4, "padding", 0)()
        return moved

    return replace(operation, function=behind, args=(given, operation), kwargs={})


def _padded_before(operation: Operation, origin: Tensor) -> Operation:
    """What is put behind the sequence goes in front of it."""
    pad = list(operation.argument(1, "pad"))
    for axis in range(len(pad) // 2):
        if not origins.constant(origin, -1 - axis) and pad[2 * axis + 1] > 0:
            pad[2 * axis], pad[2 * axis + 1] = pad[2 * axis] + pad[2 * axis + 1], 0
    return (
        operation
        if tuple(pad) == tuple(operation.argument(1, "pad"))
        else operation.with_argument(1, "pad", tuple(pad))
    )


def _rolled_before(operation: Operation, origin: Tensor) -> Operation:
    """A roll brings the last positions to the first ones: a shift has nothing there."""
    shift, axis = (
        each[0] if isinstance(each, tuple | list) and len(each) == 1 else each
        for each in (operation.argument(1, "shifts"), operation.argument(2, "dims"))
    )
    if not isinstance(shift, int) or not isinstance(axis, int) or origins.constant(origin, axis):
        return operation

    def behind(x: Tensor) -> Tensor:
        moved = x.movedim(axis, -1)
        by = max(shift, 0)
        return functional.pad(moved, (by, -by)).movedim(-1, axis)

    return replace(operation, function=behind, args=operation.args[:1], kwargs={})


def _origin(given: Any, known: Followed) -> Tensor | None:
    trail = known.of(given)
    return trail.origin if trail is not None and trail.role in {"plain", "context"} else None


def _mixed(operation: Operation, known: Followed) -> Tensor | None:
    """The operand whose positions the operation takes together."""
    name = operation.name
    if name not in _CENTRES | _SPREADS | _BY_AXIS | _CHANNELS_SECOND | _POOLS and name != "layer_norm":
        return None
    given = operation.argument(0, "input")
    origin = _origin(given, known)
    if origin is None or not given.ndim:
        return None
    return given if any(not origins.constant(origin, axis) for axis in _axes(operation, given)) else None


def _axes(operation: Operation, given: Tensor) -> Iterator[int]:
    """The axes over which the operation takes numbers together."""
    name = operation.name
    if name == "layer_norm":
        shape = operation.argument(1, "normalized_shape")
        yield from range(-len(shape) if isinstance(shape, tuple | list | torch.Size) else -1, 0)
    elif name == "batch_norm":
        # With running statistics each position is normalised by numbers that are fixed.
        if operation.argument(5, "training", False) or operation.argument(1, "running_mean") is None:
            yield from (axis for axis in range(given.ndim) if axis != 1)
    elif name in {"instance_norm", "group_norm"}:
        yield from range(2 if name == "instance_norm" else 1, given.ndim)
    elif name in _POOLS:
        yield -1
    else:
        place = 2 if name in {"norm", "vector_norm", "linalg_vector_norm", "linalg_norm", "normalize"} else 1
        dim = operation.argument(place, "dim", operation.kwargs.get("axis"))
        dim = 1 if dim is None and name == "normalize" else dim
        if dim is None:
            yield from range(given.ndim)
        elif isinstance(dim, int):
            yield dim
        elif isinstance(dim, tuple | list):
            yield from dim


def _instead(name: str) -> Callable[..., Any]:
    if name == "layer_norm":
        return _norm_of_features
    if name in _CHANNELS_SECOND:
        return _norm_of_channels
    if name in _BY_AXIS:
        return lambda x, asked: asked.with_argument(2 if name == "normalize" else 1, "dim", -1)()
    return lambda x, asked: _constant(asked(), 1.0 if name in _SPREADS else 0.0)


def _norm_of_features(x: Tensor, asked: Operation) -> Tensor:
    normed = functional.layer_norm(x, x.shape[-1:], eps=asked.argument(4, "eps", 1e-5))
    weight, bias = asked.argument(2, "weight"), asked.argument(3, "bias")
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias


def _norm_of_channels(x: Tensor, asked: Operation) -> Tensor:
    return functional.layer_norm(x.movedim(1, -1), x.shape[1:2]).movedim(-1, 1)


def _constant(output: Any, number: float) -> Any:
    """Numbers that depend on no input, in the output's shape."""
    if isinstance(output, Tensor):
        return torch.full_like(output, number) if output.is_floating_point() else torch.zeros_like(output)
    parts = [_constant(each, number) for each in output]
    return type(output)(parts) if hasattr(output, "_fields") or type(output).__module__.startswith("torch") else parts

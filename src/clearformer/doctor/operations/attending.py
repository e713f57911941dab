"""What happens between a query and its keys: the product, its scale, its mask, the softmax, the values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from clearformer.doctor.operations import origins
from clearformer.doctor.operations.operation import Operation
from clearformer.doctor.operations.trail import Hiding, Scrambling, Site, Trail, Written

if TYPE_CHECKING:
    from clearformer.doctor.operations.following import Followed

HIDES = -100.0
"""A number added to a score, or put in its place, that is meant to hide it."""
FAR_BELOW = 90.0
"""A score this far below the largest of its row has no weight, whether it was hidden or not."""


def multiplies(known: Followed, operation: Operation, output: Tensor) -> None:
    """Weights times values, query times key, or a product with a weight matrix: told apart by what is followed."""
    names = ("input", "batch1", "batch2") if operation.name == "baddbmm" else ()
    place = {id(operation.argument(i, name)) for i, name in enumerate(names) if i}
    followed = [
        (each, trail) for each, trail in known.tracked(operation) if not place or id(each) in place
    ]  # fmt: skip
    weights = next(((each, trail) for each, trail in followed if trail.role in {"weights", "scores"}), None)
    if weights is not None:
        _reads_values(known, operation, output, *weights)
    elif len(followed) == 2:
        _scores(known, operation, output, followed[0], followed[1])
    elif len(followed) == 1:
        each, trail = followed[0]
        if trail.origin is not None:
            origin, mixed = origins.through_product(operation, each, trail.origin)
            if mixed and trail.role == "context":
                known.scramblings.append(Scrambling("merge", known.place(), tuple(each.shape)))
            known.put(output, Trail(origin=None if mixed else origin, projected=True))


def _scores(
    known: Followed, operation: Operation, output: Tensor, one: tuple[Tensor, Trail], other: tuple[Tensor, Trail]
) -> None:
    site = Site("written", None, _summed(operation, one[0], other[0], output))
    site.normed = one[1].normed or other[1].normed
    scale = None if None in (one[1].scale, other[1].scale) else (one[1].scale or 0.0) * (other[1].scale or 0.0)
    if operation.name == "baddbmm":
        scale = None if scale is None else scale * float(operation.argument(4, "alpha", 1.0))
        added_to(site, operation.argument(0, "input"), float(operation.argument(3, "beta", 1.0)))
    query = key = None
    if one[1].origin is not None and other[1].origin is not None:
        query, mixed_query = origins.through_product(operation, one[0], one[1].origin)
        key, mixed_key = origins.through_product(operation, other[0], other[1].origin)
        if mixed_query and mixed_key and _over_all(query) and _over_all(key):
            return  # keys times values, summed over the sequence: linear attention
        if mixed_query or mixed_key:
            known.scramblings.append(Scrambling("split", known.place(), tuple(one[0].shape)))
            query = key = None
    site.key_axis = _key_axis(operation, output)
    known.put(output, Trail("scores", query, key, scale, site=site))


def _over_all(means: Tensor) -> bool:
    """Whether every number is a mean over a whole row: one value a row."""
    return means.unique().numel() == origins.rows(means).unique().numel()


def _summed(operation: Operation, one: Tensor, other: Tensor, output: Tensor) -> int:
    """Over how many features a product sums."""
    if operation.name == "einsum":
        inputs, result = _letters(operation)
        if len(inputs) == 2:
            sizes = dict(zip(inputs[0], one.shape, strict=False)) | dict(zip(inputs[1], other.shape, strict=False))
            gone = set(inputs[0]) & set(inputs[1]) - set(result)
            return int(torch.tensor([sizes[letter] for letter in gone]).prod()) if gone else 1
    return one.shape[-1]


def _key_axis(operation: Operation, output: Tensor) -> int:
    """Which axis of the scores runs over the second operand's tokens, from the end."""
    if operation.name == "einsum":
        inputs, result = _letters(operation)
        if len(inputs) == 2:
            own = [place for place, letter in enumerate(result) if letter not in inputs[0]]
            if len(own) == 1:
                return own[0] - len(result)
    return -1


def _letters(operation: Operation) -> tuple[list[str], str]:
    equation = operation.args[0] if operation.args and isinstance(operation.args[0], str) else ""
    equation = equation.replace(" ", "").replace("...", "")
    inputs, _, result = equation.partition("->")
    return inputs.split(","), result


def _reads_values(known: Followed, operation: Operation, output: Tensor, weights: Tensor, trail: Trail) -> None:
    site = trail.site
    if site is not None and site.axis is not None and trail.pure and trail.role == "weights":
        ones = _with_ones(operation, weights)
        finite = ones[ones.isfinite()]
        site.summing_to_one = bool((finite - 1).abs().max() < 1e-2) if finite.numel() else None
    origin = None
    if trail.origin is not None:
        origin, mixed = origins.through_product(operation, weights, trail.origin)
        origin = None if mixed else origin
    known.put(output, Trail("context", origin, site=site))


def _with_ones(operation: Operation, weights: Tensor) -> Tensor:
    """The product with ones in the values' place: what each row of weights sums to."""

    def put(value: Any) -> Any:
        if value is weights:
            return weights.double()
        if isinstance(value, Tensor):
            return torch.ones(value.shape, dtype=torch.float64, device=value.device)
        return [put(each) for each in value] if isinstance(value, list | tuple) else value

    if operation.name == "baddbmm":
        return torch.bmm(put(operation.argument(1, "batch1")), put(operation.argument(2, "batch2")))
    result: Tensor = operation.function(
        *(put(each) for each in operation.args), **{name: put(each) for name, each in operation.kwargs.items()}
    )
    return result


def softmax(known: Followed, operation: Operation, output: Tensor) -> None:
    given = operation.argument(0, "input")
    trail = known.of(given)
    if trail is None or trail.role != "scores" or trail.site is None:
        known.lose(output)
        return
    site, axis = trail.site, operation.argument(1, "dim")
    site.axis = axis if axis is None or axis < 0 else axis - output.ndim
    site.place, site.scale = known.place(), trail.scale
    if site.axis is not None:
        low = given.detach() < given.detach().amax(site.axis, keepdim=True) - FAR_BELOW
        site.visible = ~(low & (output == 0))
    site.queries, site.keys = trail.origin, trail.keys
    site.query_length, site.key_length = output.shape[-2] if output.ndim > 1 else 1, output.shape[site.key_axis]
    known.sites.append(site)
    known.put(output, replace(trail, role="weights", pure=True))


def scales(known: Followed, operation: Operation, output: Tensor) -> None:
    from clearformer.doctor.operations.following import inherited

    trail = inherited(known, operation, output)
    if trail is None:
        return
    others = [each for each in operation.args[:2] if known.of(each) is not trail]
    factor = number(others[0]) if len(others) == 1 else None
    if factor is not None and trail.scale is not None:
        divides = operation.name not in {"mul", "multiply", "rmul"}
        known.put(output, replace(trail, scale=trail.scale / factor if divides and factor else trail.scale * factor))
        return
    if trail.role == "plain" or trail.site is None:
        known.put(output, trail)
        return
    other = next((each for each in others if isinstance(each, Tensor)), None)
    if trail.role == "scores" and other is not None and other.shape[-2:] == output.shape[-2:] and zeros_and_ones(other):
        trail.site.hidings.append(Hiding("multiplied", 0.0))
        known.put(output, trail)
    elif trail.role == "weights" and other is not None and zeros_and_ones(other):
        trail.site.hidings.append(Hiding("after softmax", 0.0))
        known.put(output, replace(trail, pure=False))
    else:
        known.put(output, replace(trail, scale=None if trail.role == "scores" else trail.scale, pure=False))


def adds(known: Followed, operation: Operation, output: Tensor) -> None:
    from clearformer.doctor.operations.following import inherited

    trail = inherited(known, operation, output)
    if trail is None:
        return
    if trail.role == "scores" and trail.site is not None:
        sign = -1.0 if operation.name.startswith("sub") else 1.0
        for each in operation.args[:2]:
            if isinstance(each, Tensor) and known.of(each) is not trail:
                added_to(trail.site, each, sign)
    known.put(output, trail)


def added_to(site: Site, mask: Any, sign: float) -> None:
    """A tensor added to scores: a mask if it reaches far down, else a bias."""
    if not isinstance(mask, Tensor) or mask.numel() < 2:
        return
    values = mask.detach().double() * sign
    lowest = float(values.min())
    if lowest <= HIDES:
        site.hidings.append(Hiding("added", lowest, finite=lowest > -3e38))
    elif zeros_and_ones(mask):
        site.hidings.append(Hiding("added", None, zeros_and_ones=True))
    elif bool(values.any()):
        site.biased = True


def hides(known: Followed, operation: Operation, output: Tensor) -> None:
    from clearformer.doctor.operations.following import inherited

    trail = inherited(known, operation, output)
    if trail is None:
        return
    if trail.site is not None and trail.role in {"scores", "weights"}:
        if operation.name == "masked_fill":
            value = number(operation.argument(2, "value"))
        else:
            others = [operation.argument(1, "input"), operation.argument(2, "other")]
            value = next((number(each) for each in others if known.of(each) is not trail), None)
        _hidden_as(trail, value)
    known.put(output, trail if trail.role != "weights" else replace(trail, pure=False))


def _hidden_as(trail: Trail, value: float | None) -> None:
    assert trail.site is not None
    written: Written = "filled" if trail.role == "scores" else "after softmax"
    trail.site.hidings.append(Hiding(written, value, finite=value is None or value > -3e38))


def set_in_place(known: Followed, operation: Operation) -> None:
    """`scores[mask] = -inf`."""
    trail = known.of(operation.args[0])
    if trail is not None and trail.site is not None and trail.role in {"scores", "weights"}:
        _hidden_as(trail, number(operation.args[2]))


def cuts(known: Followed, operation: Operation, output: Tensor) -> None:
    """`scores.tril()` makes a score nought, which hides nothing."""
    from clearformer.doctor.operations.following import inherited

    trail = inherited(known, operation, output)
    if trail is None:
        return
    if trail.site is not None and trail.role in {"scores", "weights"}:
        written: Written = "multiplied" if trail.role == "scores" else "after softmax"
        trail.site.hidings.append(Hiding(written, 0.0))
        trail = replace(trail, pure=False)
    known.put(output, trail)


def number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, Tensor) and value.numel() == 1:
        return float(value)
    return None


def zeros_and_ones(tensor: Tensor) -> bool:
    """Whether a tensor has noughts and ones, both, and nothing else but what another mask hides already."""
    values = set(tensor.detach().double().unique().tolist()) if tensor.numel() < 1 << 20 else set()
    return {value for value in values if value > HIDES} == {0.0, 1.0}

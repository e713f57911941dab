"""How each operation carries on what is known of its operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.operations import attending, origins
from clearformer.doctor.operations.fused import fused
from clearformer.doctor.operations.operation import ADDING, MOVES, NORMS, PRODUCTS, REDUCTIONS, SCALING, Operation
from clearformer.doctor.operations.places import Places
from clearformer.doctor.operations.trail import Scrambling, Site, Stage, Trail


class Followed:
    """What is known of the tensors of one forward pass, and the attentions that have been met."""

    def __init__(self, batch_first: bool, places: Places | None, *, numbered: bool = True) -> None:
        self.batch_first, self.places, self.numbered = batch_first, places, numbered
        self.forget()

    def forget(self) -> None:
        """Another forward pass begins."""
        self.trails: dict[int, Trail] = {}
        self.kept: dict[int, Tensor] = {}
        """A tensor that is followed stays alive, so that its identity is its own."""
        self.grids: set[tuple[int, int]] = set()
        """(B, T) of the inputs that have been seen."""
        self.sites: list[Site] = []
        self.scramblings: list[Scrambling] = []
        self.ignored_hints: list[str | None] = []
        """Places where `is_causal` was handed to an attention together with a mask that is not causal."""
        self.dropouts: list[tuple[float, str | None]] = []

    def of(self, tensor: Any) -> Trail | None:
        return self.trails.get(id(tensor)) if isinstance(tensor, Tensor) else None

    def lose(self, output: Any) -> None:
        for each in output if isinstance(output, tuple | list) else (output,):
            self.trails.pop(id(each), None)

    def put(self, tensor: Tensor, trail: Trail) -> None:
        if not self.numbered or (trail.origin is not None and trail.origin.shape != tensor.shape):
            trail = replace(trail, origin=None, keys=None)
        self.trails[id(tensor)], self.kept[id(tensor)] = trail, tensor

    def place(self) -> str | None:
        return self.places.here() if self.places is not None else None

    def tracked(self, operation: Operation) -> Iterator[tuple[Tensor, Trail]]:
        for each in operation.operands():
            if (trail := self.of(each)) is not None:
                yield each, trail

    def whole_attention(self, operation: Operation) -> None:
        """`is_causal` is a hint that the mask given beside it must bear out."""
        mask, hint = operation.kwargs.get("attn_mask"), operation.kwargs.get("is_causal")
        if not hint or not isinstance(mask, Tensor) or mask.ndim < 2 or mask.shape[-1] < 2:
            return
        hides = mask if mask.dtype == torch.bool else mask <= attending.HIDES
        ahead = torch.ones(mask.shape[-2:], dtype=torch.bool, device=mask.device).triu(1)
        if not bool(hides[..., ahead].all()):
            self.ignored_hints.append(self.place())


def follow(known: Followed, operation: Operation, output: Any) -> None:
    """Takes note of one operation that has just been done."""
    name = operation.name
    if name == "setitem":
        attending.set_in_place(known, operation)
        return
    if name in MOVES:
        _moves(known, operation, output)
        return
    if name in {"view_as_complex", "view_as_real"}:
        _pairs(known, operation, output)
        return
    if not isinstance(output, Tensor) or not (output.is_floating_point() or output.is_complex()):
        return
    if name == "embedding":
        _embeds(known, operation, output)
    elif name in {"linear", "addmm"}:
        _projects(known, operation, output)
    elif name == "fused attention":
        fused(known, operation, output)
    elif name in PRODUCTS:
        attending.multiplies(known, operation, output)
    elif name == "softmax":
        attending.softmax(known, operation, output)
    elif name in REDUCTIONS:
        _reduces(known, operation, output)
    elif name in {"masked_fill", "where"}:
        attending.hides(known, operation, output)
    elif name in {"tril", "triu"}:
        attending.cuts(known, operation, output)
    elif name in {"dropout", "feature_dropout", "alpha_dropout"}:
        _drops(known, operation, output)
    elif name in SCALING:
        attending.scales(known, operation, output)
    elif name in ADDING:
        attending.adds(known, operation, output)
    else:
        _keeps(known, operation, output, normed=name in NORMS)


def _keeps(known: Followed, operation: Operation, output: Tensor, *, normed: bool = False) -> None:
    """Whatever else it is: a result of the shape of a followed operand belongs to the same tokens."""
    if (trail := inherited(known, operation, output)) is not None:
        known.put(output, replace(trail, normed=trail.normed or (normed and trail.projected)))


def inherited(known: Followed, operation: Operation, output: Tensor) -> Trail | None:
    """The trail of the operand that has the output's shape: scores before others, else one that broadcasts."""
    found = list(known.tracked(operation))
    same = [trail for each, trail in found if each.shape == output.shape]
    for trail in sorted(same, key=lambda each: each.role == "plain"):
        return trail
    for each, trail in found:
        if each.ndim and torch.broadcast_shapes(each.shape, output.shape) == output.shape and trail.origin is not None:
            spread = trail.origin.expand(output.shape)
            return replace(trail, origin=spread, keys=None if trail.keys is None else trail.keys.expand(output.shape))
    return None


def _embeds(known: Followed, operation: Operation, output: Tensor) -> None:
    ids = operation.argument(0, "input")
    if isinstance(ids, Tensor) and ids.ndim == 2 and 1 < ids.shape[1] < origins.ROW:
        rows, length = ids.shape if known.batch_first else (ids.shape[1], ids.shape[0])
        numbers = origins.numbered(rows, length, batch_first=known.batch_first)
        known.grids.add((ids.shape[0], ids.shape[1]))
        known.put(output, Trail(origin=origins.widened(numbers, output.shape)))


def _projects(known: Followed, operation: Operation, output: Tensor) -> None:
    """A projection mixes the features of one token, so its input must have the features of one token together."""
    place = (1, "mat1") if operation.name == "addmm" else (0, "input")
    given = operation.argument(*place)
    trail = known.of(given) if isinstance(given, Tensor) else None
    if not known.numbered:
        known.put(output, Trail(projected=True))
        return
    if trail is None or trail.origin is None:
        _begins(known, given, output)
        return
    numbers = trail.origin.select(-1, 0)
    known_grid = tuple(numbers.shape) in known.grids or tuple(reversed(numbers.shape)) in known.grids
    mixed = not origins.constant(trail.origin)
    if mixed or (numbers.ndim == 2 and known_grid and not origins.in_order(numbers)):
        stage: Stage = "merge" if trail.role == "context" else "between"
        known.scramblings.append(Scrambling(stage, known.place(), tuple(trail.origin.shape)))
        _begins(known, given, output)
        return
    known.put(output, Trail(origin=origins.widened(numbers, output.shape), projected=True))


def _begins(known: Followed, given: Any, output: Tensor) -> None:
    """Vectors that come from outside (B T D), or whose tokens were lost, are numbered by their shape."""
    if not isinstance(given, Tensor) or given.ndim != 3 or min(given.shape[:2]) < 1:
        return
    first, second = given.shape[:2]
    if not known.grids:
        # PyTorch's attention turns its input before all else; a probe has fewer rows than positions.
        known.grids.add((first, second) if (first <= second) == known.batch_first else (second, first))
    if (first, second) in known.grids:
        batch_first = known.batch_first
    elif (second, first) in known.grids:
        batch_first = not known.batch_first
    else:
        return
    rows, length = (first, second) if batch_first else (second, first)
    numbers = origins.numbered(rows, length, batch_first=batch_first)
    known.put(output, Trail(origin=origins.widened(numbers, output.shape), projected=True))


def _moves(known: Followed, operation: Operation, output: Any) -> None:
    trail = next((trail for _, trail in known.tracked(operation)), None)
    if trail is None:
        return
    after = origins.moved(operation, known.trails, "origin") if trail.origin is not None else None
    keys = origins.moved(operation, known.trails, "keys") if trail.keys is not None else None
    several = isinstance(output, tuple | list)
    for place, each in enumerate(output if several else (output,)):
        if isinstance(each, Tensor):
            origin, key = ((of[place] if several else of) if of is not None else None for of in (after, keys))
            known.put(each, replace(trail, origin=origin, keys=key))


def _pairs(known: Followed, operation: Operation, output: Tensor) -> None:
    """Two real numbers as one complex, and back: both belong to one token."""
    trail = known.of(operation.argument(0, "input"))
    if trail is not None:
        origin = trail.origin
        if origin is not None:
            origin = origin[..., 0] if output.is_complex() else origin.unsqueeze(-1).expand(output.shape)
        known.put(output, replace(trail, origin=origin, keys=None))


def _reduces(known: Followed, operation: Operation, output: Tensor) -> None:
    """A sum over heads or groups belongs to the tokens that it is summed for; one over tokens belongs to none."""
    given = operation.argument(0, "input")
    trail, axes = known.of(given), operation.argument(1, "dim")
    axes = (axes,) if isinstance(axes, int) else axes
    if trail is None or trail.origin is None or trail.role != "plain" or not isinstance(axes, tuple | list):
        return
    if all(origins.constant(trail.origin, axis) for axis in axes):
        keep = bool(operation.argument(2, "keepdim", False))
        known.put(output, replace(trail, origin=trail.origin.mean(dim=tuple(axes), keepdim=keep)))


def _drops(known: Followed, operation: Operation, output: Tensor) -> None:
    rate, acts = operation.argument(1, "p", 0.5), operation.argument(2, "training", True)
    if rate and acts:
        known.dropouts.append((float(rate), known.place()))
    if (trail := inherited(known, operation, output)) is not None:
        known.put(output, replace(trail, pure=trail.pure and not (rate and acts)))

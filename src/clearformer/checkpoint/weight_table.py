"""Reading a weight file through a family's table into our names, and writing ours back through the same table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import torch
from torch import Tensor

from clearformer.checkpoint.gguf_file import GGUFFile
from clearformer.checkpoint.renames import Fallback, Ignored, Numbers, Permuted, Row, Same, Table, Tied, Unchanged
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

_NAMES_SHOWN = 4
_WHOLE_ROWS = (Same, Fallback, Permuted, Unchanged)
_WEIGHTS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Claim:
    """A row with its numbers filled in: these of theirs are these of ours."""

    row: Row
    theirs: tuple[str, ...]
    ours: tuple[str, ...]


def load(
    table: Table,
    tensors: TensorFile,
    wanted: Mapping[str, tuple[int, ...]],
    dtype: torch.dtype | None = None,
) -> dict[str, Tensor]:
    """The wanted tensors (our name → shape), read from a file through a family's table, cast to `dtype` if given.

    Where two rows give the same tensor, the one whose foreign tensors are present is taken, and a `Fallback` only if
    none before it is. Raises CheckpointError for tensors missing, unexpected, of another shape, not floating-point, or
    given twice.
    """
    loaded: dict[str, Tensor] = {}
    for claim in _matched(table, tensors, wanted):
        for name, stored in _read(claim, tensors).items():
            loaded[name] = stored.tensor.to(dtype or stored.tensor.dtype).contiguous()
    return {name: loaded[name] for name in wanted}


@dataclass(frozen=True)
class Stored:
    """A weight as the file has it. With `blocks`, GGML's name of a quantised type, `tensor` holds its rows' bytes;
    with `decoded` the numbers that such a type's bytes stand for."""

    tensor: Tensor
    blocks: str | None = None
    decoded: str | None = None


class Reading:
    """The wanted tensors one by one, each read when it is taken; `blocks` names the quantised types to be left as they
    are. Raises CheckpointError as `load` does, before anything is read."""

    def __init__(
        self,
        table: Table,
        tensors: TensorFile,
        wanted: Mapping[str, tuple[int, ...]],
        *,
        blocks: Collection[str] = (),
    ) -> None:
        self._tensors, self._blocks = tensors, blocks
        self._claims = {name: claim for claim in _matched(table, tensors, wanted) for name in claim.ours}
        self._read: dict[str, Stored] = {}

    def take(self, name: str) -> Stored:
        """The weight of our name, once: what is taken is not kept."""
        if name not in self._read:
            self._read |= _read(self._claims[name], self._tensors, self._blocks)
        return self._read.pop(name)


def dump(table: Table, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our tensors under their foreign names: the inverse of `load`. Of two rows for a tensor the first is taken.

    Raises CheckpointError for a tensor that no row names.
    """
    require_rules(table, ours)
    return dict(pairs(table, ours))


def pairs(table: Table, ours: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """The same one by one, each made when it is asked for; what no row names is left out."""
    done: set[str] = set()
    for claim in claims_of(table, ours):
        if done.isdisjoint(claim.ours):
            done.update(claim.ours)
            tensors = claim.row.to_theirs(tuple(ours[name] for name in claim.ours))
            yield from zip(claim.theirs, (tensor.contiguous() for tensor in tensors), strict=True)


def require_rules(table: Table, names: Collection[str]) -> None:
    """Raises CheckpointError for a tensor that no row names."""
    named = {name for claim in claims_of(table, names) for name in claim.ours}
    if left := [name for name in names if name not in named]:
        raise CheckpointError(say.NO_RULE, name=left[0])


def claims_of(table: Table, our_names: Collection[str]) -> list[Claim]:
    """Every row with every set of numbers that gives some of the names and nothing else, in the table's order."""
    rows = [row for row in table if isinstance(row, Row)]
    found: list[dict[tuple[tuple[str, str], ...], Numbers]] = [{} for _ in rows]
    for name in our_names:
        for row, numbered in zip(rows, found, strict=True):
            if (numbers := row.match(name)) is not None:
                # Hundreds of experts share one row's numbers; its names are made once.
                numbered[tuple(sorted(numbers.items()))] = numbers
    claims = [
        Claim(row, row.their_names(numbers), row.our_names(numbers))
        for row, numbered in zip(rows, found, strict=True)
        for numbers in numbered.values()
    ]
    return [claim for claim in claims if all(name in our_names for name in claim.ours)]


def _matched(table: Table, tensors: TensorFile, wanted: Mapping[str, tuple[int, ...]]) -> list[Claim]:
    """The claims that give every wanted tensor, with all checks that need no content."""
    present = set(tensors.names())
    chosen = _choose(claims_of(table, wanted), present, wanted, tensors.path)
    used = {name for claim in chosen for name in claim.theirs}
    _check_rest(table, present - used, tensors)
    for claim in chosen:
        _check_shapes(claim, tensors, wanted)
    return chosen


def _read(claim: Claim, tensors: TensorFile, blocks: Collection[str] = ()) -> dict[str, Stored]:
    """What a claim gives. Blocks stay blocks where its row moves whole rows and nothing else."""
    if isinstance(tensors, GGUFFile) and type(claim.row) in _WHOLE_ROWS and len(claim.theirs) == 1:
        (name,) = claim.theirs
        if (kind := tensors.kind(name)) in blocks and len(tensors.shape(name)) == 2:
            (ours,) = claim.row.to_ours((torch.from_numpy(tensors.raw(name)[0]),))
            return {claim.ours[0]: Stored(ours, kind)}
    foreign = tuple(_floating(name, tensors) for name in claim.theirs)
    decoded = _quantised(claim.theirs, tensors) if isinstance(tensors, GGUFFile) else None
    numbers = zip(claim.ours, claim.row.to_ours(foreign), strict=True)
    return {name: Stored(tensor, decoded=decoded) for name, tensor in numbers}


def _quantised(names: tuple[str, ...], tensors: GGUFFile) -> str | None:
    """The first quantised type among the tensors'."""
    return next((tensors.kind(name) for name in names if not tensors.plain(name)), None)


def _choose(
    claims: list[Claim], present: Collection[str], wanted: Mapping[str, tuple[int, ...]], path: Path
) -> list[Claim]:
    """For each wanted name the one claim that the file can fill."""
    giver: dict[str, Claim] = {}
    first_claim: dict[str, Claim] = {}
    for claim in claims:
        filled = all(name in present for name in claim.theirs)
        for name in claim.ours:
            first_claim.setdefault(name, claim)
            if isinstance(claim.row, Fallback) and name in giver:
                continue
            if filled and (other := giver.setdefault(name, claim)) is not claim:
                first, second = other.theirs[0], claim.theirs[0]
                raise CheckpointError(say.GIVEN_TWICE, path=path, name=name, first=first, second=second)
    lacking: dict[str, None] = {}
    for name in wanted:
        if name not in first_claim:
            raise CheckpointError(say.NO_RULE, name=name)
        if name not in giver:
            lacking |= {theirs: None for theirs in first_claim[name].theirs if theirs not in present}
    if lacking:
        raise CheckpointError(say.LACKS_TENSORS, path=path, count=len(lacking), names=_listed(lacking))
    return list(dict.fromkeys(giver[name] for name in wanted))


def _check_rest(table: Table, rest: set[str], tensors: TensorFile) -> None:
    """What no row took is tied and equal, or ignored by name, or an error."""
    present = set(tensors.names())
    for row in table:
        if isinstance(row, Tied) and row.theirs in rest and row.to in present:
            rest.remove(row.theirs)
            if not torch.equal(tensors.tensor(row.theirs), tensors.tensor(row.to)):
                raise CheckpointError(say.NOT_TIED, path=tensors.path, name=row.theirs, other=row.to)
        elif isinstance(row, Ignored):
            rest = {name for name in rest if not fnmatchcase(name, row.pattern)}
    if rest:
        names = _listed(name for name in tensors.names() if name in rest)
        raise CheckpointError(say.UNEXPECTED_TENSORS, path=tensors.path, count=len(rest), names=names)


def _check_shapes(claim: Claim, tensors: TensorFile, wanted: Mapping[str, tuple[int, ...]]) -> None:
    """The table run backwards over shapes alone tells what the file should hold, in the file's own names."""
    ours = tuple(torch.empty(wanted[name], device="meta") for name in claim.ours)
    for name, expected in zip(claim.theirs, claim.row.to_theirs(ours), strict=True):
        if tensors.shape(name) != tuple(expected.shape):
            raise CheckpointError(
                say.SHAPE_DIFFERS,
                path=tensors.path,
                name=name,
                expected=list(expected.shape),
                found=list(tensors.shape(name)),
            )


def _floating(name: str, tensors: TensorFile) -> Tensor:
    if (found := tensors.dtype(name)) not in _WEIGHTS:
        raise CheckpointError(say.NOT_FLOAT, path=tensors.path, name=name, found=found)
    return tensors.tensor(name)


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:_NAMES_SHOWN]) + (", …" if len(shown) > _NAMES_SHOWN else "")

"""K29: the files of a checkpoint are whole, hold what the config calls for, and numbers that were trained."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checkpoint_files import Understood, config_of, fault, understood, weights_of
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.errors import CheckpointError, SpecError
from clearformer.messages import Failure, verbatim
from clearformer.messages import checkpoint as failures
from clearformer.messages import doctor_files as say

_MOST_NUMBERS = 3_000_000_000
_MANY = 1000
"""Numbers that it takes to speak of a distribution."""
_DAMAGE = {
    id(failures.SHARD_ABSENT): "shard missing",
    id(failures.SHARD_LACKS): "shard missing",
    id(failures.DATA_LENGTH): "file truncated",
    id(failures.TOO_SHORT): "file truncated",
    id(failures.HEADER_LENGTH): "file truncated",
}


def _probe(examination: Examination) -> Iterator[Breach]:
    folder = examination.parts.folder
    assert folder is not None
    config_of(folder)
    try:
        tensors = weights_of(folder)
    except CheckpointError as error:
        yield _breach(_damage(error.failure), _cause(error))
        return
    known = _known(folder)
    if known is not None:
        yield from _names(known, tensors)
    yield from _contents(tensors, _spread_at_first(folder))


def _names(known: Understood, tensors: TensorFile) -> Iterator[Breach]:
    """What is lacking or too much; where one side holds the other, the config is of another size and no name is."""
    found = fault(known, tensors)
    if found is None:
        return
    if found.failure is failures.NOT_TIED:
        yield _breach("tied weights separate", _cause(found))
    elif found.failure in (failures.LACKS_TENSORS, failures.UNEXPECTED_TENSORS):
        expected, present = known.expected(), set(tensors.names())
        suspects = ("keys unmatched", "config contradicts weights")
        suspects = suspects[::-1] if present <= expected or expected <= present else suspects
        yield Breach("K29", "ERROR", (_cause(found), *_matched(known, tensors)), suspects)


def _known(folder: Path) -> Understood | None:
    """None where K30 has to speak, or nobody can."""
    try:
        return understood(folder)
    except (NotApplicable, CheckpointError, SpecError):
        return None


def _matched(known: Understood, tensors: TensorFile) -> Iterator[Said]:
    """How many of the expected names are there, and the prefix without or with which more would be."""
    expected, present = known.expected(), set(tensors.names())
    yield Said(say.KEYS, {"found": len(expected & present), "expected": len(expected), "present": len(present)})
    shifts: Counter[tuple[str, str]] = Counter()
    by_end = {name.split(".", 1)[-1]: name for name in expected}
    for name in present - expected:
        parts = name.split(".")
        for at in range(1, min(len(parts), 5)):
            rest = ".".join(parts[at:])
            if rest in expected:
                shifts[".".join(parts[:at]) + ".", ""] += 1
            elif rest in by_end:
                shifts[".".join(parts[:at]) + ".", by_end[rest].split(".", 1)[0] + "."] += 1
        if name in by_end and by_end[name] != name:
            shifts["", by_end[name].split(".", 1)[0] + "."] += 1
    if shifts:
        (theirs, ours), count = shifts.most_common(1)[0]
        yield Said(say.PREFIX, {"theirs": theirs or "''", "ours": ours or "''", "count": count})


def _contents(tensors: TensorFile, first: float) -> Iterator[Breach]:
    """Numbers that are none, matrices of zeros, and a head that nobody trained beside matrices that were."""
    lost, empty, drawn, trained, read = [], [], [], 0, 0
    for name in tensors.names():
        size = math.prod(tensors.shape(name))
        if not tensors.dtype(name).is_floating_point or size == 0 or read + size > _MOST_NUMBERS:
            continue
        read += size
        tensor = tensors.tensor(name)
        if not bool(torch.isfinite(tensor.float()).all()):
            lost.append(name)
        elif tensor.ndim >= 2 and size >= _MANY:
            if not bool(tensor.any()):
                empty.append(name)
            elif as_drawn(tensor, first):
                drawn.append(name)
            else:
                trained += 1
    if lost:
        yield _breach("weights not finite", Said(say.NOT_FINITE, {"count": len(lost), "first": lost[0]}))
    if empty:
        said = Said(say.ALL_ZERO, {"count": len(empty), "first": empty[0]})
        yield Breach("K29", "WARN", (said,), ("tensors never trained", "shard missing"))
    values = {"count": len(drawn), "first": drawn[0] if drawn else "", "spread": first}
    heads = [name for name in drawn if _is_end(name)]
    if drawn and not trained:
        yield Breach("K29", "INFO", (Said(say.ALL_DRAWN, values),), ("weights still as drawn",))
    elif heads and trained >= 2 * len(drawn):
        said = Said(say.DRAWN, {**values, "first": heads[0], "trained": trained})
        yield Breach("K29", "WARN", (said,), ("head overwritten", "tensors never trained"))


def as_drawn(tensor: Tensor, first: float) -> bool:
    """Whether a matrix is as a normal distribution of the spread `first` gives it: mean, spread and tails together."""
    numbers = tensor.detach().flatten()[:2_000_000].double()
    count = len(numbers)
    spread = float(numbers.std())
    if spread == 0 or abs(spread - first) > 4 * first / math.sqrt(2 * count) + 0.002 * first:
        return False
    normed = (numbers - numbers.mean()) / spread
    tails = float(normed.pow(4).mean()) - 3
    return abs(float(numbers.mean())) < 5 * first / math.sqrt(count) and abs(tails) < 5 * math.sqrt(24 / count) + 0.02


def _is_end(name: str) -> bool:
    """Whether a tensor is an output head or a table of embeddings, by the names that they go by."""
    ends = ("lm_head", "embed_out", "output.weight", "head.weight", "score.weight", "classifier", "wte", "embed_tokens")
    return any(each in name for each in ends)


def _spread_at_first(folder: Path) -> float:
    found = config_of(folder).get("initializer_range", 0.02)
    return float(found) if isinstance(found, int | float) and 0 < found < 10 else 0.02


def _damage(failure: Failure) -> str:
    return _DAMAGE.get(id(failure), "file unreadable")


def _cause(error: CheckpointError) -> Said:
    return Said(verbatim(error.cause("en").rstrip("."), error.cause("zh").rstrip("。")))


def _breach(cause: str, *evidence: Said) -> Breach:
    return Breach("K29", "ERROR", evidence, (cause,))


CHECKPOINT_INTEGRITY = Check(
    "K29", "checkpoint integrity", say.INTEGRITY, say.INTEGRITY_RISK, _probe, needs=("folder",)
)  # fmt: skip

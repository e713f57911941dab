"""K35: an epoch reads every sample once, over all ranks; training changes the order, evaluation leaves nothing out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.loaders import RANKS, Epoch, loader_form
from clearformer.messages import doctor_data as say

Found = tuple[Severity, Said, str]


def _probe(examination: Examination) -> Iterator[Breach]:
    loader = examination.parts.loader
    assert loader is not None
    form = loader_form(loader)
    ranks = range(RANKS if form.ranked else 1)
    epochs = [[form.epoch(epoch, rank) for rank in ranks] for epoch in (0, 1)]
    where = source_of(loader) if callable(loader) else None
    if not form.told and all(each.order == epochs[0][0].order and _sorted(each) for each in epochs[0]):
        epochs = [epoch[:1] for epoch in epochs]  # evaluated as a whole by every rank
    shared = list(_ranks(epochs[0]))
    for severity, said, cause in (*shared, *_order(epochs), *([] if shared else _whole(epochs))):
        yield Breach("K35", severity, (said,), (cause,), where)


def _ranks(epoch: list[Epoch]) -> Iterator[Found]:
    """A sampler may fill up the last round with samples of another rank, no more."""
    if len(epoch) < 2:
        return
    first, second = (set(each.order) for each in epoch)
    both, most = len(first & second), max(len(epoch), 1)
    if both > most:
        values = {"both": both, "of": min(len(first), len(second))}
        yield "ERROR", Said(say.SAME_SAMPLES, values), "ranks read the same samples"


def _order(epochs: list[list[Epoch]]) -> Iterator[Found]:
    """Two epochs in one order that is not the samples' own."""
    for before, after in zip(*epochs, strict=True):
        if before.order == after.order and not _sorted(before) and len(before.order) > 3:
            yield "ERROR", Said(say.SAME_ORDER, {"count": len(before.order)}), "same order every epoch"
            return


def _sorted(epoch: Epoch) -> bool:
    """In the order in which the samples are numbered; those without numbers count as read in their order."""
    order = epoch.order
    if not all(isinstance(key, int) for key in order):
        return True
    return all(a < b for a, b in pairwise(order))  # type: ignore[operator]


def _whole(epochs: list[list[Epoch]]) -> Iterator[Found]:
    first = epochs[0]
    read = {key for epoch in first for key in epoch.order}
    everything = read | {key for epoch in epochs[1] for key in epoch.order}
    total = max(first[0].total or 0, len(everything))
    values: dict[str, object] = {"left": total - len(read), "total": total}
    if total > len(read):
        still = all(_sorted(epoch) for epoch in first) and first[0].order == epochs[1][0].order
        if still:
            cause = "drop_last in evaluation" if _drops(first) else "samples left out"
            yield "ERROR", Said(say.LEFT_OUT, values), cause
        else:
            yield "INFO" if first[0].drops else "WARN", Said(say.LEFT_OUT, values), "samples left out"
    repeated = sum(len(epoch.order) - len(set(epoch.order)) for epoch in first)
    if repeated > len(first):
        yield "WARN", Said(say.REPEATED, {"count": repeated, "of": total}), "samples repeated"


def _drops(epochs: list[Epoch]) -> bool:
    sizes = {len(batch) for epoch in epochs for batch in epoch.batches}
    return epochs[0].drops or len(sizes) == 1


COVERAGE = Check("K35", "sampler coverage", say.COVERAGE, say.COVERAGE_RISK, _probe, needs=("loader",))

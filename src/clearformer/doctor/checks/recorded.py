"""K18: inside a forward pass every attention is what the paper says: its axis, its scale, its mask, its heads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import torch

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.operations import origins
from clearformer.doctor.operations.looks import Look, hides_the_source, look, looking_back_at_the_source
from clearformer.doctor.operations.recording import ROWS, SOURCE, Recording, record
from clearformer.doctor.operations.trail import Site
from clearformer.messages import Message
from clearformer.messages import doctor_operations as say

LOOKS: dict[Look, tuple[Message, str]] = {
    "everything": (say.SEES_EVERYTHING, "no causal mask"),
    "inverted": (say.SEES_ONLY_AHEAD, "mask inverted"),
    "one ahead": (say.SEES_ONE_AHEAD, "mask off by one"),
    "some ahead": (say.SEES_SOME_AHEAD, "no causal mask"),
    "not itself": (say.SEES_NOT_ITSELF, "mask off by one"),
}


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    recording = record(subject, examination.generator())
    padded = record(subject, examination.generator(), padded=True) if subject.call.padding is not None else recording
    if not recording.sites and not recording.scramblings:
        raise NotApplicable(say.NO_ATTENTION)
    yield from _drops(recording)
    yield from _rows(examination, recording)
    yield from _heads(recording)
    yield from _axes(recording)
    if examination.parts.kind in {"decoder", "encoder-decoder"}:
        yield from _looks(examination, recording)
        yield from _hints(examination, recording)
    yield from _masks(examination, padded)
    yield from _sources(examination, recording)
    yield from _scales(examination, recording)


def _breach(
    severity: Severity,
    message: Message,
    causes: tuple[str, ...],
    sites: list[str | None],
    law: str = "",
    **values: object,
) -> Breach:
    """One breach for all attentions that share it: the first is shown, the others counted."""
    said = Said(message, {"count": len(sites)} | values)
    signs = {"recorded": 1} | values
    return Breach("K18", severity, (said,), causes, where=sites[0], signs=signs, law=law or causes[0])


def _drops(recording: Recording) -> Iterator[Breach]:
    drops = [*recording.dropouts, *((site.dropout, site.place) for site in recording.sites if site.dropout)]
    if drops:
        yield _breach(
            "ERROR", say.DROPS, ("dropout in evaluation",), [place for _, place in drops], rate=drops[0][0]
        )  # fmt: skip


def _rows(examination: Examination, recording: Recording) -> Iterator[Breach]:
    across = [site.place for site in _whole(recording) if look(site) == "across rows"]
    if across and _rows_matter(examination):
        yield _breach("ERROR", say.READS_ROWS, ("batch first missing",), across)


def _rows_matter(examination: Examination) -> bool:
    """Whether a row reacts to those around it: patches and variates are put where rows stand, and mix none."""
    subject, generator = examination.asked, examination.generator()
    inputs = subject.inputs(ROWS, subject.length(12), generator)
    others = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
    others[1] = False
    before, after = subject.answer(inputs), subject.answer(subject.replaced(inputs, others, generator))
    return examination.noise.differs(before[1], after[1])


def _whole(recording: Recording) -> list[Site]:
    return [site for site in recording.sites if site.queries is not None and site.visible is not None]


def _heads(recording: Recording) -> Iterator[Breach]:
    split = [
        site.place for site in _whole(recording)
        if site.keys is not None and origins.repeated(site.keys, site.key_axis) and site.axis == site.key_axis
        and look(site) != "across rows"
    ]  # fmt: skip
    split += [each.place for each in recording.scramblings if each.stage == "split"]
    if split:
        yield _breach(
            "ERROR", say.SPLIT, ("heads split without transpose", "heads merged without transpose"), split, law="heads"
        )
        return
    merged = [each for each in recording.scramblings if each.stage == "merge"]
    if merged:
        yield _breach(
            "ERROR", say.MERGED, ("heads merged without transpose", "heads split without transpose"),
            [each.place for each in merged], law="heads", shape=merged[0].shape,
        )  # fmt: skip


def _axes(recording: Recording) -> Iterator[Breach]:
    wrong = [site for site in recording.sites if site.summing_to_one is False and site.axis != site.key_axis]
    if wrong:
        yield _breach(
            "ERROR", say.WRONG_AXIS, ("softmax over the wrong axis",), [site.place for site in wrong],
            axis=wrong[0].axis, right=wrong[0].key_axis,
        )  # fmt: skip


def _looks(examination: Examination, recording: Recording) -> Iterator[Breach]:
    """Only where the black box leaks too, or answers nothing: what is seen may be thrown away later."""
    # Where the softmax or the heads are wrong, what is seen says nothing about the mask.
    if any(site.summing_to_one is False for site in recording.sites) or recording.scramblings:
        return
    found: dict[Look, list[str | None]] = defaultdict(list)
    causal = 0
    for site in recording.own():
        if origins.repeated(site.keys, site.key_axis) if site.keys is not None else False:
            return
        seen = look(site)
        causal += seen == "causal"
        found[seen].append(site.place)
    leaks = any(each.check == "K01" for each in examination.breaches)
    broken = leaks or not _finite(examination)
    for seen, (message, cause) in LOOKS.items():
        if seen not in found or not (broken or seen == "not itself"):
            continue
        if any(hiding.zeros_and_ones or hiding.written in {"multiplied", "after softmax"}
               for site in recording.own() for hiding in site.hidings):  # fmt: skip
            return
        suspects: tuple[str, ...] = (cause,)
        if seen == "everything" and causal and all(_reads_memory(place) for place in found[seen]):
            suspects = ("memory is the target", "no causal mask")
        if seen == "everything" and _reads_no_source(examination):
            suspects = ("memory is the target", "no causal mask")
        if seen == "everything" and recording.ignored_hints:
            suspects = ("is_causal hint disagrees", "no causal mask")
        yield _breach("ERROR" if broken else "WARN", message, suspects, found[seen], law="sight")


def _reads_no_source(examination: Examination) -> bool:
    """Whether another source changes nothing: then what is read as memory comes from elsewhere."""
    subject, generator = examination.asked, examination.generator()
    if subject.call.source is None:
        return False
    inputs, source = subject.inputs(2, subject.length(8), generator), subject.sources(2, subject.length(8), generator)
    other = subject.replaced(source, slice(None), generator)
    return examination.noise.still(subject.answer(inputs, source=source), subject.answer(inputs, source=other))


def _finite(examination: Examination) -> bool:
    """Asked without the recorder: a softmax over nothing is NaN on one path and nought on another."""
    subject = examination.asked
    return bool(subject.answer(subject.inputs(2, subject.length(12), examination.generator())).isfinite().all())


def _reads_memory(place: str | None) -> bool:
    return place is not None and any(
        word in place.lower() for word in ("multihead_attn", "cross", "memory", "encoder_attn")
    )


def _hints(examination: Examination, recording: Recording) -> Iterator[Breach]:
    if recording.ignored_hints:
        leaks = any(each.check == "K01" for each in examination.breaches)
        yield _breach(
            "ERROR" if leaks else "WARN", say.HINT, ("is_causal hint disagrees",), list(recording.ignored_hints)
        )  # fmt: skip


def _masks(examination: Examination, recording: Recording) -> Iterator[Breach]:
    """Ways of writing a mask that hide nothing."""
    leaks = any(each.check == "K01" for each in examination.breaches)
    ways: dict[str, list[str | None]] = defaultdict(list)
    for site in recording.sites:
        written = {hiding.written for hiding in site.hidings if not hiding.zeros_and_ones}
        if any(hiding.zeros_and_ones for hiding in site.hidings):
            ways["added"].append(site.place)
        if written == {"multiplied"}:
            ways["multiplied"].append(site.place)
        if "after softmax" in written and not written & {"filled", "added", "fused"}:
            ways["after"].append(site.place)
    if ways["added"]:
        yield _breach("ERROR", say.ADDED, ("mask added as 0 and 1",), ways["added"])
    if ways["multiplied"]:
        yield _breach("ERROR" if leaks else "WARN", say.MULTIPLIED, ("mask multiplied",), ways["multiplied"])
    if ways["after"] and leaks:
        yield _breach("ERROR", say.AFTERWARDS, ("mask after softmax",), ways["after"])


def _sources(examination: Examination, recording: Recording) -> Iterator[Breach]:
    subject = examination.asked
    if subject.call.source is not None:
        hiding = hides_the_source(recording, subject.length(SOURCE))
        if hiding:
            yield _breach(
                "ERROR", say.SOURCE_HIDDEN, ("source hidden by causal mask",), [each.place for each in hiding]
            )
        behind = looking_back_at_the_source(recording, subject.length(SOURCE))
        if behind:
            yield _breach("WARN", say.SOURCE_CAUSAL, ("encoder is causal",), [each.place for each in behind])


def _scales(examination: Examination, recording: Recording) -> Iterator[Breach]:
    """A published family has the scale of its weights; a norm or a bias between query and key makes it a choice."""
    config = getattr(examination.asked.module, "config", None)
    if config is not None and hasattr(config, "model_type"):
        return
    found: dict[tuple[str, Severity], list[Site]] = defaultdict(list)
    for site in recording.sites:
        if site.scale is None or site.normed or site.width < 2:
            continue
        judged = _judged(site)
        if judged is not None:
            found[judged].append(site)
    for (cause, severity), sites in found.items():
        message = say.UNSCALED if cause == "scale missing" else say.SCALED
        first = sites[0]
        yield _breach(
            severity, message, (cause,), [site.place for site in sites],
            scale=first.scale, right=first.width**-0.5, width=first.width,
        )  # fmt: skip


def _judged(site: Site) -> tuple[str, Severity] | None:
    assert site.scale is not None
    whole = site.width * _heads_of(site)
    for wrong in (whole**-0.5, site.width**0.5, whole**0.5):
        if site.width != whole and abs(site.scale / wrong - 1) < 1e-3:
            return "scale wrong", "WARN"
    if abs(site.scale * site.width**0.5 - 1) < 0.02:
        return None
    if abs(site.scale - 1) < 1e-6:
        return None if site.biased or site.explicit_scale else ("scale missing", "WARN")
    return "scale wrong", "INFO"


def _heads_of(site: Site) -> int:
    if site.queries is None or site.visible is None:
        return 1
    return max(round(site.queries.numel() / (ROWS * site.query_length * site.key_length)), 1)


RECORDED = Check("K18", "operations", say.OPERATIONS, say.OPERATIONS_RISK, _probe)

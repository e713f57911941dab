"""K33: a training loop does each thing once, in its order, and its gradient does not depend on how a batch is cut."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.forms.loop_trace import Event, MicroBatch, Trace
from clearformer.doctor.forms.training import planned_warm_up, run
from clearformer.messages import doctor_loop as say

Found = tuple[Severity, Said, str]


def _probe(examination: Examination) -> Iterator[Breach]:
    trace, before = run(examination)
    assert examination.parts.train is not None
    where, planned = source_of(examination.parts.train), planned_warm_up(examination.parts.train)
    moved = any(not torch.equal(old, new) for old, new in zip(before, trace.model.parameters(), strict=True))
    for severity, said, cause in (*_gradients(trace), *_clips(trace), *_rates(trace), *_weights(trace, moved=moved),
                                  *_anew(trace), *_schedulers(trace), *_warm_up(trace, planned),
                                  *_accumulation(trace), *_mode(trace)):  # fmt: skip
        yield Breach("K33", severity, (said,), (cause,), where)


def _gradients(trace: Trace) -> Iterator[Found]:
    stale = sum(event.stale for event in trace.events)
    if stale:
        yield "ERROR", Said(say.STALE, {"count": stale, "of": trace.count("step")}), "gradients not zeroed"
    dropped = sum(window[-1].empty and _has(window, "backward") for window in trace.windows() if _has(window, "step"))
    if dropped and not trace.reached:
        yield "ERROR", Said(say.NOT_REACHED, {"count": trace.count("backward")}), "weights do not move"
    elif dropped:
        yield "ERROR", Said(say.DROPPED, {"count": dropped}), "gradients zeroed before the step"


def _has(window: list[Event], kind: str) -> bool:
    return any(event.kind == kind for event in window)


def _clips(trace: Trace) -> Iterator[Found]:
    kinds = [[event.kind for event in window] for window in trace.windows()]
    clipped = [window for window in kinds if "clip" in window]
    scaled = [w for w in clipped if "scale" in w and "unscale" not in w[: w.index("clip")] and "step" in w]
    late = [w for w in clipped if "backward" not in w[: w.index("clip")]]
    inside = [w for w in clipped if "backward" in w[: w.index("clip")] and "backward" in w[w.index("clip") :]]
    if late:
        yield "ERROR", Said(say.CLIP_LATE, {"count": len(late)}), "clip after the step"
    elif scaled:
        yield "ERROR", Said(say.CLIP_SCALED, {"scale": trace.scale, "count": len(scaled)}), "clip before unscale"
    elif inside:
        yield "WARN", Said(say.CLIP_INSIDE, {"count": len(inside)}), "clip inside accumulation"
    if trace.count("scale") and not trace.count("update"):
        yield "WARN", Said(say.NO_UPDATE), "scaler never updated"


def _rates(trace: Trace) -> Iterator[Found]:
    rates = [event.rate for event in trace.events if event.kind == "step"]
    if not any(rates):
        yield "ERROR", Said(say.RATE_ZERO, {"count": len(rates)}), "learning rate zero"
    elif rates[0] == 0:
        said = Said(say.RATE_ZERO_FIRST, {"count": sum(1 for rate in rates if rate == 0), "next": max(rates[:3])})
        yield "WARN", said, "learning rate zero at first"


def _weights(trace: Trace, *, moved: bool) -> Iterator[Found]:
    rates = any(event.rate for event in trace.events if event.kind == "step")
    empty = all(event.empty for event in trace.events if event.kind == "step")
    if not moved and rates and not (empty and trace.count("backward")):
        yield "ERROR", Said(say.NOT_MOVED, {"steps": trace.count("step")}), "weights do not move"
        return
    lacking = [name for name, p in trace.model.named_parameters() if id(p) in trace.graded - trace.held]
    if lacking and moved:
        of = len(trace.graded)
        yield (
            "WARN",
            Said(say.LACKING, {"count": len(lacking), "of": of, "first": lacking[0]}),
            "optimizer lacks parameters",
        )


def _schedulers(trace: Trace) -> Iterator[Found]:
    for scheduler, owner in trace.owners.items():
        turns, steps = trace.count("scheduler", scheduler), trace.count("step", owner)
        if not steps:
            continue
        if turns >= 1.5 * steps:
            values = {"turns": turns, "steps": steps, "times": turns / steps}
            yield "ERROR", Said(say.TOO_MANY_TURNS, values), "scheduler stepped N times"
        elif not turns and steps > 1:
            yield "WARN", Said(say.NO_TURN, {"steps": steps}), "scheduler never stepped"
        elif turns > 1 and _ahead(trace, scheduler, owner):
            yield "WARN", Said(say.TURN_FIRST), "scheduler before optimizer"


def _anew(trace: Trace) -> Iterator[Found]:
    """An optimizer that keeps moments finds none at any step."""
    steps = [event for event in trace.events if event.kind == "step"]
    if trace.remembers and len(steps) > 2 and all(event.fresh for event in steps):
        yield "ERROR", Said(say.ANEW, {"steps": len(steps)}), "optimizer made anew"


def _warm_up(trace: Trace, planned: int | None) -> Iterator[Found]:
    """Where the loop says for how many updates the rate rises, it rises for as many."""
    rates = [event.rate for event in trace.events if event.kind == "step"]
    if planned is None or planned < 2 or len(rates) < planned + 3 or max(rates) == 0:
        return
    reached = next(at for at, rate in enumerate(rates) if rate >= 0.99 * max(rates))
    # Counted from nought or from one, with a first rate of zero or without.
    if abs(reached - planned) > 1 + planned // 8 and abs(reached + 1 - planned) > 1 + planned // 8:
        yield "WARN", Said(say.OFF_PLAN, {"planned": planned, "reached": reached}), "warm-up off its plan"


def _ahead(trace: Trace, scheduler: int, owner: int) -> bool:
    order = [
        event.kind for event in trace.events if event.of in (scheduler, owner) and event.kind in ("scheduler", "step")
    ]
    return order.index("scheduler") < order.index("step")


def _accumulation(trace: Trace) -> Iterator[Found]:
    """Every target of an update must weigh the same, whichever micro-batch it came in."""
    groups = [group for group in trace.micro if len(group) > 1 and all(_one_weight(each) for each in group)]
    if any(event.stale for event in trace.events):
        return
    for group in groups:
        counts = torch.tensor([float((each.weights > 0).sum()) for each in group])
        weights = torch.stack([each.weights.max() for each in group])
        if counts.unique().numel() < 2 or float(weights.max() / weights.min()) < 1.02:
            continue
        shares = weights * counts
        if float(shares.max() / shares.min()) > 1.02:
            continue  # some other weighting, perhaps a meant one
        values = {"micro": len(group), "ratio": float(weights.max() / weights.min()), "total": float(shares.sum())}
        if abs(values["total"] - len(group)) < 0.02 * len(group):
            yield "WARN", Said(say.NOT_DIVIDED, values), "accumulation not divided"
        else:
            yield "WARN", Said(say.MEAN_OF_MEANS, values), "accumulation by mean of means"
        return


def _one_weight(micro: MicroBatch) -> bool:
    counted = micro.weights[micro.weights > 0]
    return counted.numel() > 0 and float(counted.max() / counted.min()) < 1.02


def _mode(trace: Trace) -> Iterator[Found]:
    evaluating = sum(event.kind == "forward" and not event.training for event in trace.events)
    matters = any(_differs_by_mode(module) for module in trace.model.modules())
    if evaluating and trace.count("backward"):
        values = {"count": evaluating, "of": trace.count("forward")}
        yield "WARN" if matters else "INFO", Said(say.EVALUATING, values), "training in evaluation mode"


def _differs_by_mode(module: nn.Module) -> bool:
    if isinstance(module, (nn.modules.dropout._DropoutNd, nn.modules.batchnorm._BatchNorm)):
        return not isinstance(module, nn.modules.dropout._DropoutNd) or module.p > 0
    # Dropout as a function: a rate is kept as a number.
    return any("drop" in name and isinstance(rate, float) and rate > 0 for name, rate in vars(module).items())


LOOP = Check("K33", "loop trace", say.LOOP, say.LOOP_RISK, _probe, needs=("train",), quick=True)

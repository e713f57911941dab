"""K04: a window of w shows the query itself and w - 1 before it, each layer once more."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from clearformer.doctor.calling.signature import innermost
from clearformer.doctor.calling.subject import LONGEST
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_sight as say


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    window = declared_window(examination)
    if window is None:
        raise NotApplicable(say.NO_WINDOW)
    if not subject.per_position:
        raise NotApplicable(say.NO_POSITIONS)
    layers = _layers(subject.module)
    reach = layers * (window - 1)
    length = subject.length(reach + layers + 3)
    if length < reach + layers + 2:
        raise NotApplicable(say.WINDOW_TOO_WIDE, window=window, longest=min(LONGEST, subject.context or LONGEST))
    inputs = subject.inputs(2, length, generator)
    before, last = subject.answer(inputs), length - 1
    seen = -1
    for back in range(reach + layers + 1, 0, -1):
        after = subject.answer(subject.replaced(inputs, last - back, generator))
        if not examination.noise.still(before[:, last], after[:, last]):
            seen = back
            break
    if seen > reach + layers:
        raise NotApplicable(say.NOT_ALL_WINDOWED)
    if seen == reach:
        return
    stated = examination.parts.window is not None
    values = {"window": window, "layers": layers, "reach": reach, "seen": max(seen, 0)}
    severity = "ERROR" if stated else "WARN"
    yield Breach("K04", severity, (Said(say.WINDOW_EDGE, values),), ("window off by one",), signs={"reach": seen})  # type: ignore[arg-type]


def declared_window(examination: Examination) -> int | None:
    """What the user declares, else what a config does and uses."""
    if examination.parts.window is not None or examination.subject is None:
        return examination.parts.window
    config = getattr(innermost(examination.subject.module), "config", None)
    window = getattr(config, "sliding_window", None)
    return window if isinstance(window, int) and getattr(config, "use_sliding_window", True) else None


def _layers(module: nn.Module) -> int:
    """Blocks of the longest list in the module: of an encoder-decoder's two, either."""
    lists = [len(each) for each in innermost(module).modules() if isinstance(each, nn.ModuleList | nn.Sequential)]
    return max(lists, default=1)


WINDOW = Check("K04", "window edge", say.WINDOW, say.WINDOW_RISK, _probe, kinds=("decoder",))

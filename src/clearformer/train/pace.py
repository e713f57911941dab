"""How fast a run goes: units a second, share of the machine's peak, memory, and the time that is left."""

from __future__ import annotations

import sys
import time
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

from clearformer.machine import Speed
from clearformer.speed.training import Choices, apply
from clearformer.train.apart import trial_pass
from clearformer.train.task import Task

_KEEP = 0.9


class Pace:
    """A stopwatch over updates and evaluations; `before` are the seconds of earlier sittings."""

    def __init__(self, before: float = 0.0) -> None:
        self.updates = 0
        self.units_per_s = 0.0
        self.flops_per_unit: float | None = None
        self.peak: float | None = None
        self._update_s = self._evaluation_s = 0.0
        self._before = before
        self._began = self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since the run began, earlier sittings included."""
        return self._before + time.perf_counter() - self._began

    @property
    def mfu(self) -> float | None:
        """Model FLOPs utilisation (PaLM, arXiv 2204.02311 §4.1)."""
        if self.flops_per_unit is None or self.peak is None:
            return None
        return self.flops_per_unit * self.units_per_s / self.peak

    def start(self) -> None:
        """Of an update or an evaluation; what lies between two is nobody's time."""
        self._started = time.perf_counter()

    def updated(self, units: int) -> None:
        taken = time.perf_counter() - self._started
        self.updates += 1
        self._update_s = _blend(self._update_s, taken)
        self.units_per_s = _blend(self.units_per_s, units / max(taken, 1e-9))

    def evaluated(self) -> None:
        self._evaluation_s = _blend(self._evaluation_s, time.perf_counter() - self._started)

    def left(self, updates: int, evaluations: int) -> float:
        """Seconds that so many more would take."""
        return updates * self._update_s + evaluations * self._evaluation_s


def _blend(mean: float, value: float) -> float:
    return _KEEP * mean + (1 - _KEEP) * value if mean else value


def flops_a_unit(task: Task[Any], model: Any, batch: Any) -> float:
    """Floating-point operations of one forward and backward pass, counted on a batch, over its units."""
    # The counter knows no fused kernel, and what is recomputed is no part of the model's own operations.
    plain = Choices(kernel="plain", device=str(next(model.parameters()).device))
    with apply(model, plain), FlopCounterMode(display=False) as counter:
        trial_pass(model, lambda: task.loss(model, batch).total)
    return counter.get_total_flops() / max(task.units(batch), 1)


def peak_flops(speed: Speed, dtype: str) -> float | None:
    """The machine's measured matrix peak in this type, in operations a second."""
    gflops = speed.bfloat16_gflops if dtype == "bfloat16" else speed.float32_gflops
    return None if gflops is None else gflops * 1e9


def peak_memory() -> int:
    """The most bytes that this process has held at once."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024

"""The learning rate as a function of the step, counted from 1: what the optimizer's rate is multiplied by."""

from __future__ import annotations

import math
from typing import assert_never

from clearformer import spec as specs
from clearformer.train.recipe import WSD, Constant, Cosine, Linear, Noam, Schedule


def rate(schedule: Schedule, step: int, steps: int, width: int) -> float:
    """The factor at `step` of 1 … `steps`; `width` is the model's D, which only Noam reads."""
    if isinstance(schedule, Noam):
        return width**-0.5 * min(step**-0.5, step * schedule.warmup**-1.5)
    if step < schedule.warmup:
        return step / schedule.warmup
    done = (step - schedule.warmup) / max(steps - schedule.warmup, 1)
    match schedule:
        case Constant():
            return 1.0
        case Linear(floor=floor):
            return _between(floor, 1 - done)
        case Cosine(floor=floor):
            return _between(floor, (1 + math.cos(math.pi * done)) / 2)
        case WSD(floor=floor, decay=decay):
            left = (steps - step) / max(decay * steps, 1)
            return _between(floor, min(1.0, left))
        case _:
            assert_never(schedule)


def model_width(spec: specs.Spec) -> int:
    """D of the stack that the model writes with."""
    match spec:
        case specs.EncoderDecoder():
            return spec.decoder.width
        case specs.TwoTowers():
            return specs.main_stack(spec.text).width
        case _:
            return specs.main_stack(spec).width


def _between(floor: float, share: float) -> float:
    return floor + (1 - floor) * min(max(share, 0.0), 1.0)

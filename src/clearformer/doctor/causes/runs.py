"""Causes that show in the course of a training."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_runs as say

RUNS = (
    Cause("loss stuck at ln V", say.STUCK, say.STUCK_FIX),
    Cause("loss does not fall", say.FLAT, say.FLAT_FIX),
    Cause("loss spike", say.SPIKE, say.SPIKE_FIX),
    Cause("training diverged", say.PARTED, say.PARTED_FIX),
    Cause("loss not finite", say.INFINITE, say.INFINITE_FIX),
    Cause("learning rate zero", say.NO_RATE, say.NO_RATE_FIX),
    Cause("overfitting", say.OVERFIT, say.OVERFIT_FIX),
    Cause("loss too good", say.UNTRUE, say.UNTRUE_FIX),
    Cause("gradient vanished", say.VANISHED, say.VANISHED_FIX),
    Cause("gradient explodes", say.EXPLODES, say.EXPLODES_FIX),
)

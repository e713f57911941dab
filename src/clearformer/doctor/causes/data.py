"""Causes in resuming, loaders and forecasts, and between training and speaking."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_data as say

DATA = (
    Cause("resume starts over", say.STARTS_OVER, say.STARTS_OVER_FIX),
    Cause("weights lost on resume", say.WEIGHTS, say.WEIGHTS_FIX),
    Cause("optimizer state lost on resume", say.OPTIMIZER, say.OPTIMIZER_FIX),
    Cause("scheduler state lost on resume", say.SCHEDULER, say.SCHEDULER_FIX),
    Cause("generator state lost on resume", say.GENERATOR, say.GENERATOR_FIX),
    Cause("order after resume", say.ORDER, say.ORDER_FIX),
    Cause("same order every epoch", say.SAME_ORDER, say.SAME_ORDER_FIX),
    Cause("ranks read the same samples", say.SAME_SAMPLES, say.SAME_SAMPLES_FIX),
    Cause("samples left out", say.LEFT_OUT, say.LEFT_OUT_FIX),
    Cause("drop_last in evaluation", say.DROPS, say.DROPS_FIX),
    Cause("samples repeated", say.REPEATED, say.REPEATED_FIX),
    Cause("scaler fitted on the future", say.SCALER, say.SCALER_FIX),
    Cause("future target in the inputs", say.TARGET, say.TARGET_FIX),
    Cause("window reaches past the cutoff", say.WINDOW, say.WINDOW_FIX),
    Cause("cutoff off by one", say.OFF_BY_ONE, say.OFF_BY_ONE_FIX),
    Cause("teacher and free run apart", say.TEACHER, say.TEACHER_FIX),
)

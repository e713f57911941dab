"""Causes about the numbers that come out."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_output as say

OUTPUT = (
    Cause("initial scale", say.INITIAL_SCALE, say.INITIAL_SCALE_FIX),
    Cause("probabilities as logits", say.PROBABILITIES_AS_LOGITS, say.PROBABILITIES_AS_LOGITS_FIX),
    Cause("answers not finite", say.ANSWERS_NOT_FINITE, say.ANSWERS_NOT_FINITE_FIX),
)

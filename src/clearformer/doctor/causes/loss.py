"""Causes in the loss, its labels and the collator that makes them."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_causes_loss as say

LOSS = (
    Cause("labels shifted twice", say.SHIFTED_TWICE, say.SHIFTED_TWICE_FIX),
    Cause("labels not shifted", say.NOT_SHIFTED, say.NOT_SHIFTED_FIX),
    Cause("labels are the previous token", say.PREVIOUS, say.PREVIOUS_FIX),
    Cause("loss ignores the logits", say.IGNORES_LOGITS, say.IGNORES_LOGITS_FIX),
    Cause("softmax before the loss", say.SOFTMAX_BEFORE, say.SOFTMAX_BEFORE_FIX),
)

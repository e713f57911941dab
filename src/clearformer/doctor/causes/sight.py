"""Causes about who sees whom: the causal mask, its polarity and its edge; dropout that is left on."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations import locating, mends
from clearformer.messages import doctor_causes as say

SIGHT = (
    Cause("no causal mask", say.NO_CAUSAL_MASK, say.NO_CAUSAL_MASK_FIX, mends.by(mends.hide_future), general=True),
    Cause("mask inverted", say.MASK_INVERTED, say.MASK_INVERTED_FIX, mends.by(mends.turn_mask)),
    Cause("mask off by one", say.MASK_OFF_BY_ONE, say.MASK_OFF_BY_ONE_FIX, mends.by(mends.shift_mask)),
    Cause(
        "dropout in evaluation",
        say.DROPOUT_IN_EVALUATION,
        say.DROPOUT_IN_EVALUATION_FIX,
        mends.by(mends.no_dropout),
        locate=locating.dropout,
    ),
    Cause("dropout without effect", say.DROPOUT_IDLE, say.DROPOUT_IDLE_FIX),
    Cause("state between calls", say.STATE_BETWEEN_CALLS, say.STATE_BETWEEN_CALLS_FIX),
)

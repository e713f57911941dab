"""Causes about what a position sees of its own sequence, of other rows, of a source and of other documents."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations import mends
from clearformer.messages import doctor_causes_visibility as say

VISIBILITY = (
    Cause(
        "causal mask only with another mask",
        say.CAUSAL_MASK_ONLY_WITH_ANOTHER_MASK,
        say.CAUSAL_MASK_ONLY_WITH_ANOTHER_MASK_FIX,
        mends.by(mends.hide_future),
    ),
    Cause("past unread", say.PAST_UNREAD, say.PAST_UNREAD_FIX),
    Cause("encoder is causal", say.ENCODER_IS_CAUSAL, say.ENCODER_IS_CAUSAL_FIX),
    Cause("depends on the length", say.DEPENDS_ON_THE_LENGTH, say.DEPENDS_ON_THE_LENGTH_FIX),
    Cause("rows depend on each other", say.ROWS_DEPEND_ON_EACH_OTHER, say.ROWS_DEPEND_ON_EACH_OTHER_FIX),
    Cause("window off by one", say.WINDOW_OFF_BY_ONE, say.WINDOW_OFF_BY_ONE_FIX),
    Cause("documents mixed", say.DOCUMENTS_MIXED, say.DOCUMENTS_MIXED_FIX),
    Cause("positions not reset", say.POSITIONS_NOT_RESET, say.POSITIONS_NOT_RESET_FIX),
    Cause("source unread", say.SOURCE_UNREAD, say.SOURCE_UNREAD_FIX),
    Cause("paths differ", say.PATHS_DIFFER, say.PATHS_DIFFER_FIX),
)

"""Causes about where a token stands."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations import beside
from clearformer.messages import doctor_causes_positions as say

POSITIONS = (
    Cause("positions on the batch axis", say.POSITIONS_ON_THE_BATCH_AXIS, say.POSITIONS_ON_THE_BATCH_AXIS_FIX),
    Cause("positions unused", say.POSITIONS_UNUSED, say.POSITIONS_UNUSED_FIX),
    Cause("order unseen", say.ORDER_UNSEEN, say.ORDER_UNSEEN_FIX),
    Cause("rotary angles in low precision", say.ROTARY_ANGLES_IN_LOW_PRECISION, say.ROTARY_ANGLES_IN_LOW_PRECISION_FIX),
    Cause("rotary layout", say.ROTARY_LAYOUT, say.ROTARY_LAYOUT_FIX, beside.other_layout),
    Cause("rotary on one side", say.ROTARY_ON_ONE_SIDE, say.ROTARY_ON_ONE_SIDE_FIX),
    Cause("rotary on values", say.ROTARY_ON_VALUES, say.ROTARY_ON_VALUES_FIX),
    Cause("rotary angles disagree", say.ROTARY_ANGLES_DISAGREE, say.ROTARY_ANGLES_DISAGREE_FIX),
    Cause(
        "positions restart with the cache",
        say.POSITIONS_RESTART_WITH_THE_CACHE,
        say.POSITIONS_RESTART_WITH_THE_CACHE_FIX,
    ),
)

"""Causes that lie in an operation of the forward pass; each mend puts that operation right while it runs."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations import locating, mends, over_positions
from clearformer.messages import doctor_causes_operations as say

OPERATIONS = (
    Cause("softmax over the wrong axis", say.WRONG_AXIS, say.WRONG_AXIS_FIX, mends.by(mends.softmax_over_keys)),
    Cause("heads split without transpose", say.SPLIT, say.SPLIT_FIX, mends.by(mends.split_and_merge_heads)),
    Cause("heads merged without transpose", say.MERGED, say.MERGED_FIX, mends.by(mends.merge_heads)),
    Cause("batch first missing", say.BATCH_FIRST, say.BATCH_FIRST_FIX, mends.batch_first),
    Cause("mask added as 0 and 1", say.ADDED, say.ADDED_FIX, mends.by(mends.fill_instead)),
    Cause("mask multiplied", say.MULTIPLIED, say.MULTIPLIED_FIX, mends.by(mends.fill_instead)),
    Cause("mask after softmax", say.AFTERWARDS, say.AFTERWARDS_FIX, mends.by(mends.renormalise)),
    # Hiding the future mends these and a missing mask alike: only who saw one of them in particular may call it that.
    Cause(
        "is_causal hint disagrees", say.HINT, say.HINT_FIX, mends.by(mends.hide_future),
        fits=lambda breaches: any(breach.suspects[0] == "is_causal hint disagrees" for breach in breaches),
    ),
    Cause(
        "memory is the target", say.MEMORY, say.MEMORY_FIX, mends.by(mends.hide_future),
        fits=lambda breaches: any(breach.suspects[0] == "memory is the target" for breach in breaches),
    ),
    Cause("source hidden by causal mask", say.SOURCE_HIDDEN, say.SOURCE_HIDDEN_FIX, mends.by(mends.show_source)),
    Cause("finite fill reachable", say.FILL, say.FILL_FIX, mends.by(mends.lowest_fill)),
    Cause(
        "normalised over positions", say.OVER_POSITIONS, say.OVER_POSITIONS_FIX, mends.by(over_positions.per_position),
        locate=locating.edited_by(over_positions.per_position),
    ),
    Cause(
        "convolution reads ahead", say.AROUND, say.AROUND_FIX, mends.by(over_positions.before_position),
        locate=locating.edited_by(over_positions.before_position),
    ),
    Cause("scale missing", say.SCALE_MISSING, say.SCALE_WRONG_FIX, mends.by(mends.scale_by_head_width)),
    Cause("scale wrong", say.SCALE_WRONG, say.SCALE_WRONG_FIX, mends.by(mends.scale_by_head_width)),
)  # fmt: skip

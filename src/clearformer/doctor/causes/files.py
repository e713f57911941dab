"""Causes that lie in the files of a checkpoint."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_files as say

FILES = (
    Cause("shard missing", say.SHARD_MISSING, say.SHARD_MISSING_FIX),
    Cause("file truncated", say.TRUNCATED, say.TRUNCATED_FIX),
    Cause("file unreadable", say.UNREADABLE, say.UNREADABLE_FIX),
    Cause("keys unmatched", say.UNMATCHED, say.UNMATCHED_FIX),
    Cause("tied weights separate", say.UNTIED, say.UNTIED_FIX),
    Cause("weights not finite", say.LOST, say.LOST_FIX),
    Cause("tensors never trained", say.UNTRAINED, say.UNTRAINED_FIX),
    Cause("head overwritten", say.OVERWRITTEN, say.OVERWRITTEN_FIX),
    Cause("weights still as drawn", say.AS_DRAWN, say.AS_DRAWN_FIX),
    Cause("vocabulary differs", say.OTHER_VOCABULARY, say.OTHER_VOCABULARY_FIX),
    Cause("config contradicts weights", say.DISAGREES, say.DISAGREES_FIX),
    Cause("quantised without scales", say.BARE, say.BARE_FIX),
    Cause("scale left to its default", say.SCALE_UNSAID, say.SCALE_UNSAID_FIX),
    Cause("config impossible", say.IMPOSSIBLE, say.IMPOSSIBLE_FIX),
)

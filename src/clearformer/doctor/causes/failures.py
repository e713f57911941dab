"""Causes of errors that a module raises."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.messages import doctor_failures as say

FAILURES = (
    Cause("view of non-contiguous", say.VIEW, say.VIEW_FIX),
    Cause("shapes disagree", say.SHAPES, say.SHAPES_FIX),
    Cause("in-place change breaks the gradient", say.IN_PLACE, say.IN_PLACE_FIX),
    Cause("devices disagree", say.DEVICES, say.DEVICES_FIX),
    Cause("number types disagree", say.TYPES, say.TYPES_FIX),
    Cause("index beyond the table", say.BEYOND, say.BEYOND_FIX),
    Cause("lengths of its own", say.OWN_LENGTHS, say.OWN_LENGTHS_FIX),
    Cause("forward raises", say.OTHER, say.OTHER_FIX),
)

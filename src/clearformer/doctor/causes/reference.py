"""Causes that show beside a reference: layouts and groupings of the same weights."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations import beside, mends
from clearformer.messages import doctor_reference as say

REFERENCE = (
    Cause("query groups tiled", say.TILED, say.TILED_FIX, mends.by(beside.regroup)),
    Cause("query groups reduced", say.REDUCED, say.REDUCED_FIX),
    Cause("differs from the reference", say.DIFFERS, say.DIFFERS_FIX),
)

"""Causes that lie in a module's parameters and blocks."""

from __future__ import annotations

from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.operations.finite import finite_again
from clearformer.messages import doctor_causes_parameters as say

PARAMETERS = (
    Cause("layers unregistered", say.UNREGISTERED, say.UNREGISTERED_FIX),
    Cause("layers cloned", say.CLONED, say.CLONED_FIX),
    Cause("layers shared", say.SHARED, say.SHARED_FIX),
    Cause("parameter unused", say.UNUSED, say.UNUSED_FIX),
    Cause("gradient cut", say.CUT, say.CUT_FIX),
    Cause("parameters not finite", say.NOT_FINITE, say.NOT_FINITE_FIX, finite_again),
    Cause("no gradient", say.NO_GRADIENT, say.NO_GRADIENT_FIX),
    Cause("all parameters frozen", say.FROZEN, say.FROZEN_FIX),
    Cause("residual carries norm", say.CARRIES_NORM, say.CARRIES_NORM_FIX),
    Cause("residual missing", say.NO_RESIDUAL, say.NO_RESIDUAL_FIX),
)

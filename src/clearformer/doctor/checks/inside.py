"""The checks that look inside a module: its operations, its parameters, its blocks."""

from __future__ import annotations

from clearformer.doctor.check import Check
from clearformer.doctor.checks.amplified import AMPLIFIED
from clearformer.doctor.checks.parameters import PARAMETERS
from clearformer.doctor.checks.raised import RAISED
from clearformer.doctor.checks.recorded import RECORDED
from clearformer.doctor.checks.reference import REFERENCE
from clearformer.doctor.checks.residual import RESIDUAL

INSIDE: tuple[Check, ...] = (AMPLIFIED, RECORDED, PARAMETERS, RESIDUAL, RAISED, REFERENCE)
"""In the order in which they are made."""

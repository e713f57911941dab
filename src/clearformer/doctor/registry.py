"""Every check, in the order in which they are made: the gate, then what is cheap and tells most."""

from __future__ import annotations

from clearformer.doctor.check import Check
from clearformer.doctor.checks.causality import CAUSALITY
from clearformer.doctor.checks.determinism import DETERMINISM
from clearformer.doctor.checks.shift import SHIFT

CHECKS: tuple[Check, ...] = (DETERMINISM, CAUSALITY, SHIFT)

BY_ID: dict[str, Check] = {check.id: check for check in CHECKS}

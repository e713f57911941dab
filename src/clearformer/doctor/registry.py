"""Every check, in the order in which they are made: the gate, then what is cheap and tells most."""

from __future__ import annotations

from clearformer.doctor.check import Check
from clearformer.doctor.checks.beside import BESIDE
from clearformer.doctor.checks.causality import CAUSALITY
from clearformer.doctor.checks.checkpoint_integrity import CHECKPOINT_INTEGRITY
from clearformer.doctor.checks.config_consistency import CONFIG_CONSISTENCY
from clearformer.doctor.checks.determinism import DETERMINISM
from clearformer.doctor.checks.free_running import FREE_RUNNING
from clearformer.doctor.checks.inside import INSIDE
from clearformer.doctor.checks.outside import OUTSIDE
from clearformer.doctor.checks.run_gradients import RUN_GRADIENTS
from clearformer.doctor.checks.run_held_out import RUN_HELD_OUT
from clearformer.doctor.checks.run_loss import RUN_LOSS
from clearformer.doctor.checks.run_rate import RUN_RATE
from clearformer.doctor.checks.run_spikes import RUN_SPIKES

FILES = (CHECKPOINT_INTEGRITY, CONFIG_CONSISTENCY)
RUNS = (RUN_RATE, RUN_LOSS, RUN_SPIKES, RUN_HELD_OUT, RUN_GRADIENTS)
"""Laws of a training's course; the rate first, which explains a loss that stands."""

CHECKS: tuple[Check, ...] = (
    DETERMINISM,
    CAUSALITY,
    *INSIDE,
    *OUTSIDE,
    *BESIDE,
    *FILES,
    *RUNS,
    FREE_RUNNING,
)  # fmt: skip

BY_ID: dict[str, Check] = {check.id: check for check in CHECKS}

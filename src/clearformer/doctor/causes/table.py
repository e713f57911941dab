"""Every cause by its name. A cause stands in the file of its subject; here they come together."""

from __future__ import annotations

from clearformer.doctor.causes.beside import BESIDE
from clearformer.doctor.causes.cache import CACHE
from clearformer.doctor.causes.cause import Cause
from clearformer.doctor.causes.failures import FAILURES
from clearformer.doctor.causes.files import FILES
from clearformer.doctor.causes.operations import OPERATIONS
from clearformer.doctor.causes.output import OUTPUT
from clearformer.doctor.causes.padding import PADDING
from clearformer.doctor.causes.parameters import PARAMETERS
from clearformer.doctor.causes.positions import POSITIONS
from clearformer.doctor.causes.reference import REFERENCE
from clearformer.doctor.causes.runs import RUNS
from clearformer.doctor.causes.sight import SIGHT
from clearformer.doctor.causes.visibility import VISIBILITY

GROUPS: tuple[tuple[Cause, ...], ...] = (
    SIGHT,
    VISIBILITY,
    POSITIONS,
    PADDING,
    OUTPUT,
    CACHE,
    OPERATIONS,
    PARAMETERS,
    FAILURES,
    REFERENCE,
    BESIDE,
    FILES,
    RUNS,
)  # fmt: skip

CAUSES: dict[str, Cause] = {cause.name: cause for group in GROUPS for cause in group}

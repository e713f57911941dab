"""K14: where positions are relative, all of them moved on by the same number changes nothing, however far."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clearformer.doctor.calling.signature import innermost
from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.turns import turns
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.messages import doctor_positions as say

NEAR, FAR = 1, (1000, 4000)
RELATIVE = 0.02
"""Of the answers' spread: a shift by one that moves them more shows positions that are absolute."""
COARSE = 0.02
"""Of the same: float32 angles stay a hundred times below at these distances."""
_BY_LENGTH = ("dynamic", "longrope")


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    inside = turns(examination)
    if inside:
        yield inside[0]
        return
    if subject.call.positions is None:
        if inside is None:
            raise NotApplicable(say.NO_POSITIONS_ARGUMENT)
        return
    config = getattr(innermost(subject.module), "config", None)
    scaling = getattr(config, "rope_scaling", None) or getattr(config, "rope_parameters", None) or {}
    if isinstance(scaling, dict) and scaling.get("rope_type", scaling.get("type")) in _BY_LENGTH:
        raise NotApplicable(say.SCALED_BY_LENGTH)
    inputs = subject.inputs(2, subject.length(16), examination.generator())
    places = torch.arange(inputs.shape[1], device=inputs.device).expand(*inputs.shape[:2])
    here = subject.answer(inputs, positions=places)
    spread = examination.noise.scale
    order = subject.answer(inputs, positions=places.flip(1))
    if not examination.noise.differs(here, order):
        yield Breach("K14", "INFO", (Said(say.POSITIONS_IGNORED),), ("positions unused",), law="ignored")
        return
    try:
        near = _apart(here, subject.answer(inputs, positions=places + NEAR)) / spread
        if near > RELATIVE:
            if not _alone_alike(examination):
                raise NotApplicable(say.ABSOLUTE)
            said = Said(say.NOT_BY_DISTANCE, {"near": near})
            yield Breach("K14", "WARN", (said,), ("rotary layout",), law="layout")
            return
        far = {shift: _apart(here, subject.answer(inputs, positions=places + shift)) / spread for shift in FAR}
    except (IndexError, RuntimeError):
        raise NotApplicable(say.TABLE_ENDS) from None
    worst = max(far, key=lambda shift: far[shift])
    if far[worst] > max(COARSE, 10 * near):
        values = {"shift": worst, "apart": far[worst], "near": near}
        yield Breach("K14", "ERROR", (Said(say.SHIFT_MOVES, values),), ("rotary angles in low precision",))


def _alone_alike(examination: Examination) -> bool:
    """Whether one token alone is answered alike wherever it stands: positions then act between tokens only.

    A turn by one angle of query and key alike leaves their product alone; one that mixes two angles does not.
    """
    subject = examination.asked
    token = subject.inputs(2, 1, examination.generator())
    first = torch.zeros(2, 1, dtype=torch.long, device=token.device)
    return not examination.noise.differs(
        subject.answer(token, positions=first), subject.answer(token, positions=first + 5)
    )


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).double().abs().max())


OFFSET = Check("K14", "offset invariance", say.OFFSET, say.OFFSET_RISK, _probe, kinds=("decoder", "encoder"))

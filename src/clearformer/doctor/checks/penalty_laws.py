"""Laws of a repetition penalty (a part of K27)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from clearformer.doctor.checks.sampling_laws import Found
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Said
from clearformer.doctor.forms.samplers import penalty_form
from clearformer.messages import doctor_decoding as say

PENALTY = 1.5


def laws(examination: Examination) -> Iterator[Found]:
    """What was seen in this row becomes less likely, whatever the sign of its logit; nothing else changes."""
    assert examination.parts.penalise is not None
    logits = torch.tensor([[2.0, -1.0, 0.5, -3.0, 1.0, -0.5, 3.0, -2.0], [-1.0, 2.0, -2.5, 1.5, -0.5, 0.8, -3.0, 1.2]])
    ids = torch.tensor([[0, 1, 3, 1], [2, 4, 5, 5]])
    ask = penalty_form(examination.parts.penalise, logits, ids)
    change = (ask(logits, ids, PENALTY) - logits).nan_to_num(neginf=-1e9)
    seen = torch.zeros(logits.shape, dtype=torch.bool).scatter(-1, ids, value=True)
    # Log-probabilities that were normalised again move together by one number.
    shift = torch.stack([row[~mask].median() for row, mask in zip(change, seen, strict=True)])[:, None]
    even = torch.where(seen, torch.zeros(()), change - shift).abs().amax() <= 1e-4 and shift.abs().amax() > 1e-4
    if even:
        change = change - shift
    alone = torch.cat([ask(logits[row : row + 1], ids[row : row + 1], PENALTY) for row in range(2)])
    if not torch.allclose(alone, ask(logits, ids, PENALTY), atol=1e-4):
        yield "ERROR", Said(say.PENALTY_ROWS), ("rows mixed in sampling",)
    elif bool((change[seen] > 1e-5).any()):
        worst = int(change.masked_fill(~seen, 0).flatten().argmax())
        values = {"before": float(logits.flatten()[worst]), "after": float((logits + change).flatten()[worst])}
        yield "ERROR", Said(say.PENALTY_RAISES, values | {"penalty": PENALTY}), ("penalty raises seen tokens",)
    elif bool((change[~seen].abs() > 1e-5).any()):
        count = int((change[~seen].abs() > 1e-5).sum())
        values = {"count": count, "of": int((~seen).sum()), "penalty": PENALTY}
        yield "ERROR", Said(say.PENALTY_TOUCHES, values), ("penalty touches unseen tokens",)
    elif not bool((change[seen] < -1e-5).any()):
        yield "ERROR", Said(say.PENALTY_IDLE, {"penalty": PENALTY}), ("penalty without effect",)

"""Rotary positions, seen inside (a part of K14): query and key are turned alike, and nothing else is turned."""

from __future__ import annotations

import torch
from torch import Tensor

from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.operations.turning import Turned, by_distance, keeps_length, moves, turned
from clearformer.messages import doctor_positions as say

SLACK = 200.0
"""Times the number type's precision."""


def turns(examination: Examination) -> list[Breach] | None:
    """At most one breach; None where no attention turns anything, so that there is nothing to judge."""
    subject = examination.asked
    if not subject.per_position or subject.only_length is not None or subject.call.takes != "ids":
        return None
    slack = max(SLACK * torch.finfo(subject.dtype).eps, 1e-4)
    seen = False
    for each in turned(subject):
        if each.value is None or each.query.shape[0] != each.key.shape[0]:
            continue
        told, goes_on = _judged(each, slack)
        if told is not None:
            said, cause = told
            return [Breach("K14", "WARN", (said,), (cause,), where=each.place, signs={"recorded": 1}, law=cause)]
        if not goes_on:
            break
        seen = seen or moves(each.query, slack) or moves(each.key, slack)
    return [] if seen else None


def _judged(each: Turned, slack: float) -> tuple[tuple[Said, str] | None, bool]:
    """What is wrong with an attention, and whether the next layer still gets one vector everywhere."""
    query, key, value = each.query, each.key, each.value
    assert value is not None
    sides = {"query": moves(query, slack), "key": moves(key, slack)}
    if moves(value, slack):
        # Absolute positions change a value's length, a turn does not.
        if any(sides.values()) and _is_turned(value, slack):
            return (Said(say.VALUES_TURNED), "rotary on values"), False
        return None, False
    if sides["query"] != sides["key"]:
        which = "query" if sides["query"] else "key"
        if _is_turned(query if sides["query"] else key, slack):
            return (Said(say.ONE_TURNED, {"side": say.SIDES[which]}), "rotary on one side"), False
        return None, False
    if not any(sides.values()) or query.shape != key.shape or by_distance(query, key, 10 * slack):
        return None, True
    if _is_turned(query, slack) and _is_turned(key, slack):
        return (Said(say.TURNED_APART), "rotary angles disagree"), False
    return (Said(say.TURNED_UNEVENLY), "rotary layout"), False


def _is_turned(vectors: Tensor, slack: float) -> bool:
    return moves(vectors, slack) and keeps_length(vectors, slack)

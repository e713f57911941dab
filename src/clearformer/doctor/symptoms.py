"""The symptom door: from what a person sees, or believes, to the checks that explain it."""

from __future__ import annotations

from collections.abc import Iterator

from clearformer.doctor.known_symptoms import SYMPTOMS
from clearformer.doctor.misconceptions import MISCONCEPTIONS
from clearformer.doctor.symptom import Symptom
from clearformer.errors import UsageError
from clearformer.messages import Language, verbatim
from clearformer.messages import doctor_symptoms as say

DOOR: tuple[Symptom, ...] = (*SYMPTOMS, *MISCONCEPTIONS)


def symptom(text: str) -> Symptom:
    """The one that a number or a description names. Raises UsageError, listing them all, where none fits."""
    asked = " ".join(text.lower().split())
    for each in DOOR:
        if asked in (each.number, each.name.en.lower(), each.name.zh.lower()):
            return each
    # Of equals the first stands: symptoms come before misconceptions.
    best = max(DOOR, key=lambda each: each.score(asked))
    if best.score(asked) < 2:
        raise UsageError(say.UNKNOWN, found=text, known=verbatim("; ".join(listed("en")), "; ".join(listed("zh"))))
    return best


def listed(language: Language) -> Iterator[str]:
    for each in DOOR:
        yield f"{each.number}: {each.name.text(language)}"

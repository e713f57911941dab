"""Forms of a callable, tried one after another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

from clearformer.doctor.check import NotApplicable
from clearformer.doctor.forms.arguments import UnboundError
from clearformer.messages import doctor_forms as say

Found = TypeVar("Found")


class UnfitError(Exception):
    """A form that was carried out but whose answer has not the shape of one."""


def first_that_works(part: str, attempts: Iterable[tuple[str, Callable[[], Found]]]) -> Found:
    """The answer of the first form that gives one. Raises NotApplicable with what was tried and what was seen."""
    seen: list[str] = []
    for form, attempt in attempts:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return attempt()
        except UnboundError as error:
            seen.append(f"{form}: no value for {error}")
        except Exception as error:
            seen.append(f"{form}: {type(error).__name__}: {str(error).splitlines()[0][:90] if str(error) else ''}")
    raise NotApplicable(say.NOT_UNDERSTOOD, part=part, tried="; ".join(dict.fromkeys(seen)))

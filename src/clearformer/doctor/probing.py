"""One check, run: its breaches, with the module's mode and every generator's state as they were."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from clearformer.doctor.calling.subject import evaluating
from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach


def breaches_of(check: Check, examination: Examination) -> tuple[Breach, ...]:
    """Raises NotApplicable, and whatever the user's code raises. What it warns of is not the doctor's matter."""
    with untouched(examination), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(check.probe(examination))


@contextmanager
def untouched(examination: Examination) -> Iterator[None]:
    """Global generators start from the seed and end where they stood; the module is in evaluation mode meanwhile."""
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
    random.seed(examination.seed)
    np.random.seed(examination.seed)
    torch.manual_seed(examination.seed)
    try:
        if examination.subject is None:
            yield
        else:
            with evaluating(examination.subject.module):
                yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        torch.set_rng_state(kept[2])

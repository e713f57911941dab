"""One examination under way: the parts, the module as it answers, its noise floor, and what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.check import NotApplicable
from clearformer.doctor.course import Course, read_course
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.noise import Noise
from clearformer.doctor.parts import Parts
from clearformer.errors import UsageError
from clearformer.messages.doctor_runs import NO_METRICS


@dataclass
class Examination:
    """What a probe may read. It leaves the module as it found it: weights, mode, hooks, generator states."""

    parts: Parts
    subject: Subject | None
    """The module with the way it is called; None where no module was handed in."""
    noise: Noise
    seed: int = 0
    breaches: list[Breach] = field(default_factory=list)
    called: Said | None = None
    """How the module is called, in words."""
    uncalled: UsageError | None = None
    """Why no way of calling the module was found, where a module was handed in and `subject` is None."""
    beside: Subject | None = None
    """The reference with the module's weights, once a check has asked for it."""
    closed_by: str | None = None
    """The gate that found an error."""

    def course(self) -> Course:
        """How the training in the folder went. Raises NotApplicable where there was none."""
        assert self.parts.folder is not None
        found = read_course(self.parts.folder)
        if found is None:
            raise NotApplicable(NO_METRICS)
        found.choices = self.parts.vocab_size or found.choices
        return found

    @property
    def raised(self) -> bool:
        """A call was found that fits the module, and the module itself raises under it."""
        return self.subject is not None and self.subject.raised is not None

    @property
    def floor(self) -> float | None:
        """The measured noise floor; a module that was not called or only raises has none."""
        return None if self.subject is None or self.raised else self.noise.floor

    def generator(self) -> torch.Generator:
        """A fresh one, the same each time: no check's draws depend on which checks ran before."""
        return torch.Generator().manual_seed(self.seed)

    @property
    def asked(self) -> Subject:
        """The subject, where the check's `needs` have made sure that there is one."""
        assert self.subject is not None
        return self.subject

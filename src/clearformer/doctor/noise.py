"""The noise floor: how far two computations of the same thing lie apart in this module's own number type.

Measured, not assumed: the same input alone, doubled in a batch, and with more positions behind it takes other kernels
and other orders of summation. A law counts as broken beyond `ALLOWED` times the floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from clearformer.doctor.calling.subject import Subject

ALLOWED = 30.0
"""Times the floor. Planted faults move the output by 10³ to 10⁶ floors; a healthy module stays under 5."""


STILL = 0.01
"""Times the floor: below, an answer did not react."""


@dataclass(frozen=True)
class Noise:
    """`floor` in units of the output, `scale` the output's own standard deviation."""

    floor: float
    scale: float

    def moved(self, one: torch.Tensor, other: torch.Tensor) -> float:
        """The largest difference in units of the floor; infinite where one side is not finite and the other is."""
        if one.numel() == 0:
            return 0.0
        one, other = one.detach().double(), other.detach().double()
        if not torch.equal(one.isfinite(), other.isfinite()):
            return float("inf")
        difference = (one - other).abs().nan_to_num(0.0, posinf=0.0, neginf=0.0)
        return float(difference.max()) / self.floor

    def differs(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        return self.broken(self.moved(one, other))

    def still(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether nothing moved at all: what has no influence gives the same bits, in the same shape and kernel.

        `differs` asks for more than rounding; in few bits a true influence may well be smaller than that.
        """
        return self.moved(one, other) < STILL

    def broken(self, floors: float) -> bool:
        """Whether a law is, when an answer moves by so many floors."""
        return floors > ALLOWED


NO_NOISE = Noise(floor=1e-12, scale=1.0)
"""For an examination without a module."""


def measure(subject: Subject, generator: torch.Generator) -> Noise:
    """The floor from one input computed twice: as a row of one and as a row of three alike.

    It is never below what rounding alone must do: a few units of the number type's precision at the output's scale.
    """
    inputs = subject.inputs(1, subject.length(16), generator)
    alone = subject.answer(inputs)
    tripled = subject.answer(inputs.expand(3, *inputs.shape[1:]).contiguous())
    numbers = alone.detach().double()
    numbers = numbers[numbers.isfinite()]
    scale = max(float(numbers.std()) if numbers.numel() > 1 else 0.0, 1e-6)
    largest = float(numbers.abs().max()) if numbers.numel() else 0.0
    rounding = 4 * torch.finfo(subject.dtype).eps * max(scale, largest)
    apart = float((alone.double() - tripled[:1].double()).abs().nan_to_num(0.0).max())
    # A module whose rows truly depend on each other must not raise its own floor: rounding grows by thousands at most.
    return Noise(floor=max(rounding, min(apart, 100 * rounding)), scale=scale)

"""How a number that a model's answer leads to changes with its activations, by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.capture import run
from clearformer.inspect.points import chosen
from clearformer.inspect.subject import Input, evaluating, subject_of
from clearformer.inspect.surprise import surprise
from clearformer.inspect.trace import reading_of
from clearformer.load import Loaded
from clearformer.messages import capture as messages
from clearformer.model import Model
from clearformer.taps import Listening

Number = Callable[[Tensor], Tensor]
"""From a model's answer to one number."""


def gradients(
    looked_at: Loaded | Model,
    given: Input,
    *patterns: str,
    of: Number | None = None,
    target: Sequence[int] | None = None,
) -> dict[str, Tensor]:
    """The derivative of one number by every activation that matches a pattern, by full names, each of its shape.

    The number is `of(answer)`; where it is left out, how surprised the model is by the text's own tokens (mean nats).
    Scores and weights are reached through the plain kernel. No gradient is left on the model's parameters.
    Raises UsageError for a pattern that matches nothing, an answer that is no number, and an activation that the
    number does not depend on.
    """
    subject = subject_of(looked_at, given, target)
    chosen(subject.model.spec, reading_of(subject), patterns or ("**",))
    reached: dict[str, Tensor] = {}

    def listen(name: str, value: Tensor) -> Tensor:
        # Another tensor than was given: attention then goes on from what is listened to, and a leaf begins a graph.
        reached[name] = value.view_as(value) if value.requires_grad else value.detach().clone().requires_grad_()
        return reached[name]

    with evaluating(subject.model), torch.enable_grad():
        answer = run(subject, Listening(listen, patterns=tuple(patterns)))
        number = surprise(subject, answer) if of is None else of(answer)
        if number is None or number.numel() != 1 or not number.requires_grad:
            raise UsageError(messages.NOT_A_NUMBER, shape=tuple(answer.shape))
        found = torch.autograd.grad(number.reshape(()), list(reached.values()), allow_unused=True)
    derivatives = dict(zip(reached, found, strict=True))
    for name, derivative in derivatives.items():
        if derivative is None:
            raise UsageError(messages.NOT_REACHED, name=name)
    return {name: derivative for name, derivative in derivatives.items() if derivative is not None}

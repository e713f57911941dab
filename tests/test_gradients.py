"""Autograd against central differences of the NumPy twin, for every weight of every architecture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.model import Model
from clearformer.reference import initial
from clearformer.reference import model as twin
from clearformer.reference.loss import cross_entropy
from drawing.built import built
from drawing.kernels import everywhere
from drawing.small import SPECS, Arrays, V, inputs

STEP = 1e-5
IGNORED = -100
Weights = dict[str, np.ndarray]


def twin_answer(spec: s.Spec, weights: Weights, data: Arrays) -> np.ndarray:
    match spec:
        case s.EncoderDecoder():
            return twin.translate_logits(spec, weights, *data)
        case s.TwoTowers():
            return twin.compare(spec, weights, *data)
        case _:
            return twin.run(spec, weights, *data)


def losses(spec: s.Spec, data: Arrays, rng: np.random.Generator) -> tuple[Callable[[np.ndarray], float], Callable]:
    """A scalar of the answer in NumPy and in torch: cross-entropy of tokens, else a weighted sum."""
    head = getattr(spec, "head", None)
    if isinstance(head, s.Language):
        targets = rng.integers(0, V, data[-1].shape)
        targets[0, 0] = IGNORED
        flat = torch.from_numpy(targets).flatten()
        return (
            lambda answer: cross_entropy(answer, targets, ignore=IGNORED),
            lambda answer: torch.nn.functional.cross_entropy(answer.flatten(0, 1), flat, ignore_index=IGNORED),
        )
    pull = rng.standard_normal(1000)
    return (
        lambda answer: float((answer.ravel() * pull[: answer.size]).sum()),
        lambda answer: (answer.flatten() * torch.from_numpy(pull[: answer.numel()])).sum(),
    )


def autograd(model: Model, data: Arrays, loss: Callable) -> Weights:
    loss(model(*[torch.from_numpy(each) for each in data])).backward()
    return {
        name: (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).numpy()
        for name, parameter in model.named_parameters()
    }


def central_difference(value: Callable[[Weights], float], weights: Weights, name: str, at: tuple[int, ...]) -> float:
    moved = []
    for sign in (1, -1):
        changed = weights[name].copy()
        changed[at] += sign * STEP
        moved.append(value({**weights, name: changed}))
    return (moved[0] - moved[1]) / (2 * STEP)


def worst_error(spec: s.Spec, seed: int) -> dict[str, float]:
    """By weight, the greatest error at its steepest and at a random entry, as a share of its gradient's size."""
    rng = np.random.default_rng(seed)
    weights, data = initial.draw(spec, rng), inputs(spec, rng)
    in_numpy, in_torch = losses(spec, data, rng)
    found = autograd(built(spec, weights), data, in_torch)
    errors = {}
    for name, gradient in found.items():
        entries = {int(np.abs(gradient).argmax()), int(rng.integers(gradient.size))}
        places = [tuple(map(int, np.unravel_index(entry, gradient.shape))) for entry in entries]
        extent = max(float(np.abs(gradient).max()), 1e-3)
        errors[name] = max(
            abs(central_difference(lambda w: in_numpy(twin_answer(spec, w, data)), weights, name, at) - gradient[at])
            / extent
            for at in places
        )
    return errors


@pytest.mark.parametrize("name", SPECS)
def test_autograd_equals_central_differences_of_the_twin(name: str) -> None:
    errors = worst_error(SPECS[name], seed=3)
    wrong = {weight: error for weight, error in errors.items() if not error <= 1e-6}
    assert not wrong


@pytest.mark.parametrize("name", SPECS)
def test_so_do_the_gradients_by_tiles(name: str) -> None:
    with everywhere("tiled"):
        errors = worst_error(SPECS[name], seed=3)
    assert all(error <= 1e-6 for error in errors.values())


def test_a_detached_branch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value without its gradient looks right forward and is wrong backward."""
    from clearformer.layers.feedforward import Gated

    forward = Gated.forward
    monkeypatch.setattr(Gated, "forward", lambda self, *given: forward(self, *given).detach())
    assert max(worst_error(SPECS["decoder"], seed=3).values()) > 1e-2

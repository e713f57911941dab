"""The loss against the twin's, torch's, and its own laws: sums add up, ignored targets count for nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from clearformer.loss import IGNORE, chunked_cross_entropy, cross_entropy, shift
from clearformer.reference import loss as twin

F64 = torch.float64
SETTINGS = ({}, {"smoothing": 0.1}, {"z": 1e-2}, {"smoothing": 0.2, "z": 1e-3})


def drawn(*shape: int, V: int = 11, ignored: float = 0.3, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(*shape, V, generator=generator, dtype=F64)
    targets = torch.randint(0, V, shape, generator=generator)
    targets[torch.rand(shape, generator=generator) < ignored] = IGNORE
    return logits.requires_grad_(), targets


def by_sums(logits: Tensor, targets: Tensor, smoothing: float = 0.0, z: float = 0.0) -> float:
    """The definition, one position and one class at a time."""
    total = 0.0
    for row, target in zip(logits.detach().flatten(0, -2).numpy(), targets.flatten().tolist(), strict=True):
        if target == IGNORE:
            continue
        normaliser = np.log(np.exp(row).sum())
        weights = np.full(len(row), smoothing / len(row))
        weights[target] += 1 - smoothing
        total += -(weights * (row - normaliser)).sum() + z * normaliser**2
    return float(total)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_the_loss_is_its_definition(how: dict[str, float]) -> None:
    logits, targets = drawn(3, 5)
    found = cross_entropy(logits, targets, **how)
    assert found.units == int((targets != IGNORE).sum())
    assert found.total.item() == pytest.approx(by_sums(logits, targets, **how), rel=1e-13)


def test_the_loss_is_the_twins_and_torchs() -> None:
    logits, targets = drawn(4, 7, seed=1)
    found = cross_entropy(logits, targets)
    assert found.total.item() / found.units == pytest.approx(
        twin.cross_entropy(logits.detach().numpy(), targets.numpy(), ignore=IGNORE), rel=1e-13
    )
    smoothed = cross_entropy(logits, targets, smoothing=0.1)
    expected = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=0.1)
    assert smoothed.total.item() / smoothed.units == pytest.approx(expected.item(), rel=1e-13)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
def test_appended_padding_changes_nothing(how: dict[str, float]) -> None:
    logits, targets = drawn(3, 5, seed=2)
    padding = torch.full((3, 4, 11), 77.0, dtype=F64)
    plain = cross_entropy(logits, targets, **how)
    padded_targets = torch.cat((targets, torch.full((3, 4), IGNORE)), 1)
    padded = cross_entropy(torch.cat((logits, padding), 1), padded_targets, **how)
    assert padded.units == plain.units
    assert padded.total.item() == pytest.approx(plain.total.item(), rel=1e-14)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_without_any_target_the_loss_is_an_exact_flat_zero(how: dict[str, float], dtype: torch.dtype) -> None:
    hidden = torch.randn(2, 3, 4, dtype=dtype).requires_grad_()
    weight = torch.randn(11, 4, dtype=dtype).requires_grad_()
    targets = torch.full((2, 3), IGNORE)
    whole = cross_entropy(functional.linear(hidden, weight), targets, **how)
    chunked = chunked_cross_entropy(hidden, lambda x: functional.linear(x, weight), targets, chunk=2, **how)
    for found in (whole, chunked):
        assert found.units == 0
        assert found.total.item() == 0
        for gradient in torch.autograd.grad(found.total, (hidden, weight)):
            assert not gradient.any()


def test_half_precision_logits_are_summed_in_float32() -> None:
    """300 equal classes of bfloat16: a sum in bfloat16 stops at 256."""
    logits = torch.zeros(1, 300, dtype=torch.bfloat16)
    found = cross_entropy(logits, torch.tensor([5]))
    assert found.total.dtype == torch.float32
    assert found.total.item() == pytest.approx(np.log(300), rel=1e-6)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@pytest.mark.parametrize("chunk", [1, 4, 1000, None])
def test_chunked_is_whole(how: dict[str, float], chunk: int | None) -> None:
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(4, 6, 8, generator=generator, dtype=F64).requires_grad_()
    weight = torch.randn(11, 8, generator=generator, dtype=F64).requires_grad_()
    _, targets = drawn(4, 6, seed=3)
    whole = cross_entropy(functional.linear(hidden, weight), targets, **how)
    found = chunked_cross_entropy(hidden, lambda x: functional.linear(x, weight), targets, chunk=chunk, **how)
    assert found.units == whole.units
    torch.testing.assert_close(found.total, whole.total, rtol=1e-13, atol=0)
    expected = torch.autograd.grad(whole.total, (hidden, weight))
    for gradient, right in zip(torch.autograd.grad(found.total, (hidden, weight)), expected, strict=True):
        torch.testing.assert_close(gradient, right, rtol=0, atol=1e-12)


class Largest(TorchDispatchMode):
    """Notes the largest tensor that any operation makes."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for each in made if isinstance(made, tuple | list) else (made,):
            if isinstance(each, Tensor):
                self.numbers = max(self.numbers, each.numel())
        return made


@pytest.mark.parametrize("seen", [True, False])
def test_chunks_never_hold_all_logits(seen: bool) -> None:
    """Forward and backward, no tensor is larger than a chunk's logits; the whole loss holds them all."""
    positions, D, V, chunk = 64, 4, 50, 8
    hidden = torch.randn(positions, D).requires_grad_()
    weight = torch.randn(V, D).requires_grad_()
    targets = torch.randint(0, V, (positions,))
    with Largest() as largest:
        found = chunked_cross_entropy(hidden, lambda x: x @ weight.T, targets, chunk=chunk if seen else None)
        found.total.backward()
    assert largest.numbers == (chunk * V if seen else positions * V)


def test_a_large_vocabulary_is_cut_without_being_asked() -> None:
    """More logits than a quarter of a gigabyte: `chunk` None cuts, and only positions with a target are projected."""
    rows: list[int] = []

    def logits_of(x: Tensor) -> Tensor:
        rows.append(len(x))
        return x.expand(-1, 2**16)

    targets = torch.zeros(3000, dtype=torch.long)
    targets[::2] = IGNORE
    chunked_cross_entropy(torch.zeros(3000, 1), logits_of, targets)
    assert sum(rows) == 1500
    assert max(rows) * 2**16 * 4 <= 64 * 2**20


@settings(max_examples=30)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from(SETTINGS), st.integers(0, 1000))
def test_any_split_into_micro_batches_gives_the_gradient_of_the_whole(
    sizes: list[int], how: dict[str, float], seed: int
) -> None:
    logits, targets = drawn(sum(sizes), 3, seed=seed, ignored=0.5)
    whole = cross_entropy(logits, targets, **how)
    units = max(whole.units, 1)
    expected = torch.autograd.grad(whole.total / units, logits)[0]
    parts = zip(logits.split(sizes), targets.split(sizes), strict=True)
    losses = [cross_entropy(*part, **how) for part in parts]
    assert sum(loss.units for loss in losses) == whole.units
    found = sum(torch.autograd.grad(loss.total / units, logits, retain_graph=True)[0] for loss in losses)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


def test_shift_drops_pads_and_the_step_across_documents() -> None:
    ids = torch.tensor([[5, 6, 7, 8, 9], [1, 2, 3, 0, 0]])
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    documents = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]])
    inputs, targets = shift(ids, real=real, documents=documents)
    assert inputs.tolist() == [[5, 6, 7, 8], [1, 2, 3, 0]]
    assert targets.tolist() == [[6, IGNORE, 8, 9], [2, 3, IGNORE, IGNORE]]
    assert ids[0, 2] == 7
    assert shift(ids)[1].tolist() == [[6, 7, 8, 9], [2, 3, 0, 0]]


def test_shift_asks_nothing_of_a_pad_on_the_left() -> None:
    real = torch.tensor([[False, True, True]])
    assert shift(torch.tensor([[0, 4, 5]]), real=real)[1].tolist() == [[IGNORE, 5]]

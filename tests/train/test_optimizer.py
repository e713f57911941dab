"""Which weights decay, Muon against the SVD and by its laws, and a state that goes out and comes back."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from clearformer import spec as s
from clearformer.build import build
from clearformer.layers.norm import LayerNorm, RMSNorm
from clearformer.layers.positions.learned import Learned
from clearformer.spec.presets import tiny_gpt
from clearformer.train.muon import MuonOptimizer, orthogonalised
from clearformer.train.optimizer import Mover, matrices
from clearformer.train.recipe import Adam, AdamW, Muon
from drawing.small import SPECS

SHAPES = [(8, 8), (4, 12), (12, 4), (1, 6), (3, 5, 7)]
CHOICES = [AdamW(lr=0.01), Adam(lr=0.01), Muon(lr=0.02)]


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def gpt() -> nn.Module:
    return build(
        tiny_gpt(width=8, heads=2, layers=2, vocabulary=11, context=8), generator=torch.Generator().manual_seed(1)
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_newton_schulz_keeps_the_svds_directions_and_makes_its_values_one(shape: tuple[int, ...]) -> None:
    matrix = drawn(*shape)
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    middle = left.mT @ orthogonalised(matrix, 8) @ right.mT
    values = middle.diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(middle, torch.diag_embed(values), atol=1e-9, rtol=0)
    assert values.min() > 0.65
    assert values.max() < 1.25


def test_newton_schulz_turns_with_its_matrix_and_forgets_its_size() -> None:
    matrix, turn = drawn(6, 9), torch.linalg.qr(drawn(6, 6)).Q
    torch.testing.assert_close(orthogonalised(turn @ matrix, 5), turn @ orthogonalised(matrix, 5), atol=1e-8, rtol=0)
    torch.testing.assert_close(orthogonalised(matrix.mT, 5), orthogonalised(matrix, 5).mT)
    torch.testing.assert_close(orthogonalised(1e3 * matrix, 5), orthogonalised(matrix, 5), atol=1e-6, rtol=0)


def test_a_stack_of_matrices_is_each_matrix() -> None:
    stack = drawn(3, 5, 7)
    torch.testing.assert_close(orthogonalised(stack, 5), torch.stack([orthogonalised(one, 5) for one in stack]))


@pytest.mark.parametrize(("rows", "columns"), [(12, 3), (3, 12)])
def test_muons_first_step_is_orthogonal_and_scaled_by_its_shape(rows: int, columns: int) -> None:
    weight = nn.Parameter(torch.zeros(rows, columns, dtype=torch.float64))
    weight.grad = drawn(rows, columns)
    MuonOptimizer([weight], Muon(lr=0.5)).step()
    # From rest, Nesterov's look ahead points along the gradient itself.
    expected = -0.5 * math.sqrt(max(1, rows / columns)) * orthogonalised(weight.grad, 5)
    torch.testing.assert_close(weight.detach(), expected, atol=1e-6, rtol=0)


def test_muons_momentum_and_decay_by_hand() -> None:
    choice = Muon(lr=0.1, momentum=0.5, weight_decay=0.2)
    weight = nn.Parameter(drawn(4, 4))
    before, first, second = weight.detach().clone(), drawn(4, 4) * 2, drawn(4, 4).T.contiguous()
    optimizer = MuonOptimizer([weight], choice)
    for gradient in (first, second):
        weight.grad = gradient
        optimizer.step()
    average = 0.5 * first
    expected = before * (1 - 0.1 * 0.2) - 0.1 * orthogonalised(0.5 * first + 0.5 * average, 5)
    average = 0.5 * average + 0.5 * second
    expected = expected * (1 - 0.1 * 0.2) - 0.1 * orthogonalised(0.5 * second + 0.5 * average, 5)
    torch.testing.assert_close(weight.detach(), expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", SPECS)
def test_no_table_norm_or_bias_decays(name: str) -> None:
    model = build(SPECS[name])
    decayed = dict(matrices(model))
    assert decayed
    for owner_name, owner in model.named_modules():
        for part, weight in owner.named_parameters(owner_name, recurse=False):
            table = isinstance(owner, nn.Embedding | Learned | LayerNorm | RMSNorm)
            if table or weight.ndim == 1 or part.endswith(("bias", "class_token")):
                assert part not in decayed
            if isinstance(owner, nn.Linear) and part.endswith("weight"):
                assert part in decayed


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: type(choice).__name__)
def test_every_weight_is_moved_once(choice: object) -> None:
    model = gpt()
    mover = Mover(model, choice)  # type: ignore[arg-type]
    moved = [weight for each in mover.optimizers for group in each.param_groups for weight in group["params"]]
    assert len(moved) == len(set(moved)) == len(list(model.parameters()))


def test_adamw_decays_matrices_alone_and_is_torchs_plain_one() -> None:
    ours, theirs = gpt(), gpt()
    mover = Mover(ours, AdamW(lr=0.1, weight_decay=0.5))
    decayed = {name for name, _ in matrices(theirs)}
    named = dict(theirs.named_parameters())
    groups = [
        {"params": [named[name] for name in sorted(decayed)], "weight_decay": 0.5},
        {"params": [weight for name, weight in named.items() if name not in decayed], "weight_decay": 0.0},
    ]
    plain = torch.optim.AdamW(groups, lr=0.05, betas=(0.9, 0.99), eps=1e-8, fused=False, foreach=False)
    for step in range(3):
        for model in (ours, theirs):
            generator = torch.Generator().manual_seed(step)
            for weight in model.parameters():
                weight.grad = torch.randn(weight.shape, generator=generator)
        mover.step(0.5)
        plain.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_muon_moves_the_blocks_matrices() -> None:
    mover = Mover(gpt(), Muon())
    muon = mover.optimizers[0]
    assert isinstance(muon, MuonOptimizer)
    names = {mover.names[weight] for group in muon.param_groups for weight in group["params"]}
    assert "decoder.blocks.0.attention.query.weight" in names
    assert all(name.startswith("decoder.blocks.") and name.endswith("weight") for name in names)
    assert mover.rate == Muon().lr


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: type(choice).__name__)
def test_a_state_put_into_a_new_optimizer_goes_on_as_the_old_one(choice: object) -> None:
    def move(mover: Mover, model: nn.Module, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for weight in model.parameters():
            weight.grad = torch.randn(weight.shape, generator=generator)
        mover.step(1.0)

    old, new = gpt(), gpt()
    first, second = Mover(old, choice), Mover(new, choice)  # type: ignore[arg-type]
    move(first, old, 0)
    new.load_state_dict(old.state_dict())
    second.restore({name: tensor.clone() for name, tensor in first.tensors().items()})
    for mover, model in ((first, old), (second, new)):
        move(mover, model, 1)
    assert all(torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters(), strict=True))
    second.forget()
    assert not second.tensors()


def test_a_model_of_every_architecture_has_blocks_for_muon() -> None:
    for spec in (*SPECS.values(), s.DecoderOnly):
        if not isinstance(spec, type):
            assert Mover(build(spec), Muon()).optimizers

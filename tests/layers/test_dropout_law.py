"""Dropout by its law: independent, the right share, the mean kept, the gradient that of the same mask."""

from __future__ import annotations

import pytest
import torch

from clearformer.layers.dropout import Dropout, dropout


@pytest.mark.parametrize("share", [0.1, 0.3, 0.999])
@pytest.mark.parametrize("shape", [(999, 1001), (1, 3, 333_333)])
def test_the_share_is_lost_and_the_mean_stays(share: float, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    found = dropout(torch.ones(shape), share)
    count, lost = found.numel(), (found == 0).float().mean().item()
    margin = 5 * (share * (1 - share) / count) ** 0.5
    assert lost == pytest.approx(share, abs=margin + 2**-17)
    assert found.mean().item() == pytest.approx(1, abs=(margin + 2**-17) / (1 - share))
    kept = found[found != 0]
    assert kept.min() == kept.max() == pytest.approx(1 / (1 - share), rel=2**-16 / (1 - share))


def test_no_number_tells_of_another() -> None:
    """Four share a draw: none of the next eight goes along with one, nor the one above."""
    torch.manual_seed(1)
    kept = (dropout(torch.ones(1000, 1000), 0.5) != 0).double().flatten()
    for step in (*range(1, 9), 1000):
        together = torch.corrcoef(torch.stack((kept[:-step], kept[step:])))[0, 1].item()
        assert abs(together) < 5 / 1000
    phases = kept.view(-1, 4).mean(0)
    assert (phases - 0.5).abs().max() < 5 * 0.5 / 500


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_gradient_goes_where_the_numbers_went(dtype: torch.dtype) -> None:
    x = torch.randn(5, 7, 3, dtype=dtype).transpose(0, 1).requires_grad_()
    found = dropout(x, 0.4)
    found.sum().backward()
    assert found.dtype == dtype
    assert x.grad is not None
    assert torch.equal(x.grad != 0, found != 0)
    torch.testing.assert_close(x.grad * x, found)


def test_the_ends_and_an_empty_tensor() -> None:
    x = torch.randn(64)
    assert torch.equal(dropout(x, 0.0), x)
    assert dropout(x, 1.0).count_nonzero() == 0
    assert dropout(torch.empty(0, 3), 0.5).shape == (0, 3)
    assert dropout(torch.tensor(1.0), 0.5).shape == ()


def test_it_follows_the_seed_and_rests_outside_training() -> None:
    layer, x = Dropout(0.5), torch.randn(10, 10)
    torch.manual_seed(7)
    first = layer(x)
    torch.manual_seed(7)
    assert torch.equal(layer(x), first)
    assert not torch.equal(layer(x), first)
    assert layer.eval()(x) is x
    assert Dropout(0.0)(x) is x

"""The switch is turned only where products stay float32's and get faster."""

from __future__ import annotations

import pytest
import torch

from clearformer.speed import switch

setting = torch.backends.mkldnn.matmul


def test_what_was_set_before_is_restored_even_after_an_error() -> None:
    before, seen = setting.fp32_precision, []
    with pytest.raises(IndexError), switch.switched(True):
        seen[len(seen.append(setting.fp32_precision) or seen)]
    assert seen == ["bf16"]
    assert setting.fp32_precision == before
    with switch.switched(False):
        assert setting.fp32_precision == before


def rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor whose switched products round their inputs to bfloat16."""
    linear = torch.nn.functional.linear

    def rounded(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if setting.fp32_precision == "bf16":
            x, weight = x.bfloat16().float(), weight.bfloat16().float()
        return linear(x, weight)

    monkeypatch.setattr(switch.functional, "linear", rounded)


def test_the_probe_tells_float32_from_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    by_default = switch.relative(torch.ones(3) * (1 + 1e-7), torch.ones(3).double())
    assert by_default < switch.LARGEST_ERROR
    rounding(monkeypatch)
    assert switch.probe([(64, 32, 16)])["error"] > 100 * switch.LARGEST_ERROR


def test_the_probe_measures_the_backward_pass_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients that are rounded alone are found."""
    grad = torch.autograd.grad

    def rounded(*given: object) -> tuple[torch.Tensor, ...]:
        return tuple(each.bfloat16().float() for each in grad(*given))

    monkeypatch.setattr(switch.torch.autograd, "grad", rounded)
    assert switch.probe([])["error"] > 100 * switch.LARGEST_ERROR


def test_gain_times_both_ways() -> None:
    seconds = switch.gain([((64, 32, 16), 2)])
    assert set(seconds) == {"default", "switched"}
    assert all(value > 0 for value in seconds.values())

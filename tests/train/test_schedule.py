"""Learning rates against the formulas of their papers, worked by hand and by torch's own schedulers."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from clearformer.spec.presets import paper, tiny_gpt
from clearformer.train.recipe import WSD, Constant, Cosine, Linear, Noam, Schedule
from clearformer.train.schedule import model_width, rate


def torch_rates(steps: int, make: object) -> list[float]:
    """What a scheduler of torch gives at each step; its step 0 is our step 1."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)  # type: ignore[operator]
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def test_noam_is_the_papers_formula_and_its_first_step_divides_by_no_zero() -> None:
    width = model_width(paper())
    assert width == 512
    for step in (1, 100, 3999, 4000, 4001, 100_000):
        expected = 1 / math.sqrt(512) * min(1 / math.sqrt(step), step / 4000**1.5)
        assert rate(Noam(4000), step, 100_000, width) == pytest.approx(expected, rel=1e-12)
    assert max(range(1, 9000), key=lambda step: rate(Noam(4000), step, 9000, 512)) == 4000


def test_cosine_is_torchs_after_its_warm_up() -> None:
    steps, warmup = 50, 10
    found = [rate(Cosine(warmup, floor=0.1), step, steps, 1) for step in range(1, steps + 1)]
    annealing = torch_rates(
        41, lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40, eta_min=0.1)
    )
    assert found[: warmup - 1] == pytest.approx([step / warmup for step in range(1, warmup)])
    assert found[warmup - 1 :] == pytest.approx(annealing)


def test_linear_is_torchs() -> None:
    found = [rate(Linear(floor=0.2), step, 20, 1) for step in range(21)]
    make = torch.optim.lr_scheduler.LinearLR
    expected = torch_rates(21, lambda optimizer: make(optimizer, start_factor=1.0, end_factor=0.2, total_iters=20))
    assert found == pytest.approx(expected)


def test_wsd_holds_its_plateau_and_decays_over_its_last_share() -> None:
    rates = [rate(WSD(10, decay=0.2, floor=0.0), step, 100, 1) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([step / 10 for step in range(1, 11)])
    assert set(rates[10:80]) == {1.0}
    assert rates[80:] == pytest.approx([left / 20 for left in range(19, -1, -1)])


@given(
    some.sampled_from([Constant, Linear, Cosine, WSD, Noam]), some.integers(1, 50), some.integers(2, 200), some.data()
)
def test_every_rate_is_between_nothing_and_all(
    kind: type[Schedule], warmup: int, steps: int, data: some.DataObject
) -> None:
    steps += warmup
    step = data.draw(some.integers(1, steps))
    found = rate(kind(warmup=warmup), step, steps, 16)
    assert 0 <= found <= 1
    if step > 1 and step <= warmup:
        assert found > rate(kind(warmup=warmup), step - 1, steps, 16)


def test_a_run_ends_at_the_floor() -> None:
    for schedule in (Linear(2, floor=0.25), Cosine(2, floor=0.25), WSD(2, floor=0.25)):
        assert rate(schedule, 30, 30, 1) == pytest.approx(0.25)


def test_the_width_is_that_of_the_stack_that_writes() -> None:
    assert model_width(tiny_gpt(width=24, heads=2)) == 24

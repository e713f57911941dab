"""What a run would take: reckoned from a trial that leaves no trace, kept, and right about what it counts."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from clearformer.build import build
from clearformer.machine import Speed
from clearformer.spec.presets import tiny_gpt
from clearformer.speed.training import Choices
from clearformer.train import calibration
from clearformer.train.calibration import Timing, calibrate
from clearformer.train.estimate import estimate
from clearformer.train.optimizer import Mover
from clearformer.train.pace import Pace, flops_a_unit, peak_flops
from clearformer.train.progress import Plan
from clearformer.train.recipe import Muon, Watch
from learning.tiny import CountingTask, small_recipe


class Slow(CountingTask):
    """Whose losses take 20 ms, and whose evaluation takes 1 s in ten parts."""

    def loss(self, model, batch):  # type: ignore[no-untyped-def]
        time.sleep(0.02)
        return super().loss(model, batch)

    def evaluate(self, model, split="validation", *, progress=None):  # type: ignore[no-untyped-def]
        for part in range(10):
            time.sleep(0.1)
            if progress is not None:
                progress(part + 1, 10)
        return {"loss": 0.0}


def test_a_trial_times_the_parts_and_leaves_no_trace() -> None:
    task, recipe = Slow(), small_recipe(accumulate=2, optimizer=Muon())
    model = build(task.spec, generator=torch.Generator().manual_seed(0))
    before, drawn, mover = deepcopy(model.state_dict()), torch.get_rng_state(), Mover(model, recipe.optimizer)
    timing = calibrate(task, recipe, model, mover, Choices(), seconds=1.0)
    assert 0.04 <= timing.update_s < 0.4
    assert 0.9 <= timing.evaluation_s < 4, "reckoned from the first parts"
    assert timing.memory > 2**20
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), drawn)
    assert not mover.tensors()
    assert model.training


def test_an_estimate_is_kept_and_its_parts_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = small_recipe(steps=1000, watch=Watch(evaluate=100))
    monkeypatch.setattr("clearformer.train.estimate.SECONDS", 0.3)
    first = estimate(CountingTask(), recipe, tmp_path)
    assert first.parameters == sum(weight.numel() for weight in build(CountingTask().spec).parameters())
    assert (first.steps, first.evaluations, first.sizes) == (1000, 10, {"training rows": 15})
    timing = first.timing
    expected = timing.start_s + 1000 * timing.update_s + 10 * timing.evaluation_s + first.samples * timing.sample_s
    assert first.facts()["seconds"] == pytest.approx(expected)
    assert estimate(CountingTask(), replace(recipe, steps=2000, seed=9), tmp_path).timing == timing
    assert len(list((tmp_path / "calibrations").iterdir())) == 1
    estimate(CountingTask(), replace(recipe, accumulate=3), tmp_path)
    assert len(list((tmp_path / "calibrations").iterdir())) == 2
    for language in ("en", "zh"):
        assert all(message.text(language, **values) for message, values in first.lines())


def test_steps_that_fit_a_budget() -> None:
    timing = Timing(start_s=0.0, update_s=0.5, evaluation_s=1.5, sample_s=0.5, memory=0)
    assert timing.steps_in(1400, Watch()) == (1400 - 20 * 2) / 0.5
    assert timing.steps_in(140, Watch(evaluate=4, sample=4)) == 140
    assert timing.steps_in(1, Watch()) == 1


@pytest.mark.parametrize("budget", [3.0, 15.0, 60.0, 600.0, 7200.0])
@pytest.mark.parametrize("watching", [0.01, 2.0, 5.5, 40.0])
def test_watching_takes_a_fifth_of_a_budget_at_most_but_happens_once(budget: float, watching: float) -> None:
    """15 s and evaluations of 5.5 s: not twenty of them and one step between, but one, and learning in the rest."""
    timing = Timing(start_s=0.0, update_s=0.1, evaluation_s=watching, sample_s=0.0, memory=0)
    steps, periods = timing.steps_in(budget, Watch()), timing.periods_in(budget)
    plan = Plan.of(Watch(), steps, periods)
    assert 1 <= plan.evaluations_after(0) <= periods <= 20
    assert plan.evaluations_after(0) == 1 or periods * watching <= 0.2 * budget
    if watching < budget:
        assert steps * 0.1 + periods * watching == pytest.approx(budget, abs=0.11)


@pytest.mark.parametrize("steps", [1, 2, 9, 10, 30, 50, 199, 200, 201, 1000])
def test_a_run_of_some_dozen_steps_is_watched_every_ten(steps: int) -> None:
    plan = Plan.of(Watch(), steps)
    assert plan.evaluations_after(0) == min(20, -(-steps // 10)) or plan.evaluate == -(-steps // 20)
    assert plan.evaluate >= min(10, steps)


@pytest.mark.parametrize("seconds", [0.1, 0.5, 9.0])
def test_work_before_the_first_count_is_not_multiplied(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """An evaluation of 3 s before it counts ten parts of 0.1 s takes 4 s, however early the trial breaks off."""
    clock = [0.0]
    monkeypatch.setattr(calibration, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    class Prefaced(CountingTask):
        def evaluate(self, model, split="validation", *, progress=None):  # type: ignore[no-untyped-def]
            clock[0] += 3.0
            for part in range(10):
                clock[0] += 0.1
                progress(part + 1, 10)
            return {"loss": 0.0}

    twin = build(CountingTask().spec)
    found = calibration._time_evaluation(Prefaced(), twin, dict(twin.state_dict()), Choices(), seconds)
    assert found == pytest.approx(4.0)


@pytest.mark.parametrize("every", [1, 3, 4, 7, 12, 13, 50])
def test_a_plan_counts_what_falls_due(every: int) -> None:
    plan = Plan.of(Watch(evaluate=every), 12)
    done, count = 0, []
    for step in range(13):
        if plan.due(plan.evaluate, step, done):
            done = step
            count.append(step)
    assert count[-1] == 12
    for step in range(13):
        assert plan.evaluations_after(step) == sum(each > step for each in count)


def test_the_operations_of_a_unit_by_hand() -> None:
    """Two operations a weight and product forward, four backward: 6·N, and attention's 12·T·D a layer."""
    T, D, V, layers = 8, 8, 7, 1
    task = CountingTask()
    batch = task.training().batch(0, 0)
    model = build(tiny_gpt(width=D, heads=2, layers=layers, vocabulary=V, context=T)).eval()
    weights = layers * (4 * D * D + 2 * D * 4 * D) + V * D
    tokens = batch.ids.numel()
    expected = tokens * (6 * weights + 12 * layers * T * D) / task.units(batch)
    assert flops_a_unit(task, model, batch) == pytest.approx(expected)
    assert all(weight.grad is None for weight in model.parameters())


def test_the_share_of_the_peak() -> None:
    pace = Pace(before=5.0)
    assert pace.mfu is None
    pace.flops_per_unit, pace.units_per_s = 4e6, 250.0
    pace.peak = peak_flops(Speed("", 1, float32_gflops=2.0, bfloat16_gflops=None, read_gb_per_s=1.0), "float32")
    assert pace.mfu == pytest.approx(0.5)
    assert pace.seconds >= 5.0
    pace.start()
    pace.updated(10)
    assert pace.left(100, 0) > 0

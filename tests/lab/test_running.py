"""An experiment planned, run, cut off and gone on with; what it refuses. The arms compute nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clearformer.errors import CheckpointError, RunError, UsageError
from clearformer.lab.budget import AIM
from clearformer.lab.experiment import Experiment
from clearformer.lab.notebook import PLAN, Notebook
from clearformer.lab.report import Report
from clearformer.lab.running import Settings, run
from lab.lab_trials import Constant, Here, experiment

A, B = Constant("a", (1.0, 1.1, 0.9)), Constant("b", (5.0, 5.1, 4.9))


def ran(folder: Path, chosen: Experiment, crew: Here | None = None, **settings: Any) -> Report:
    notebook, crew = Notebook(folder), crew or Here(chosen)
    told: dict[str, Any] = {"seeds": 3, "workers": 1, **settings}
    with notebook.lock():
        return run(chosen, notebook, Settings(**told), crew.hired, lambda *_, **__: None, lambda *_: None)


def test_every_arm_has_the_same_seeds_and_steps(tmp_path: Path) -> None:
    chosen = experiment(A, B)
    crew = Here(chosen)
    report = ran(tmp_path, chosen, crew, budget=60.0)
    trials = [(each["arm"], each["seed"]) for each in crew.orders if each["seconds"] is None]
    assert trials == [(arm, seed) for seed in range(3) for arm in "ab"]
    steps = {outcome.figures["steps"] for arm in report.arms for outcome in arm.outcomes}
    assert steps == {float(report.plan.steps)}
    assert 6 * report.plan.steps * 0.01 <= 60.0 * AIM
    assert 6 * (report.plan.steps + 200) * 0.01 > 60.0 * (AIM - 0.05)
    assert [arm.intervals["loss"].mean for arm in report.arms] == pytest.approx([1.0, 5.0])


def test_what_was_cut_off_goes_on_and_nothing_is_run_twice(tmp_path: Path) -> None:
    chosen = experiment(A, B)
    with pytest.raises(KeyboardInterrupt):
        ran(tmp_path / "cut", chosen, Here(chosen, most=4), budget=60.0)
    planned = json.loads((tmp_path / "cut" / PLAN).read_text())
    crew = Here(chosen)
    report = ran(tmp_path / "cut", chosen, crew)
    assert [(each["arm"], each["seed"]) for each in crew.orders] == [("a", 2), ("b", 2)]
    assert {each["steps"] for each in crew.orders} == {planned["steps"]} == {report.plan.steps}
    whole = ran(tmp_path / "whole", chosen, budget=60.0)
    assert [arm.intervals for arm in report.arms] == [arm.intervals for arm in whole.arms]
    again = Here(chosen)
    assert ran(tmp_path / "cut", chosen, again).arms == report.arms
    assert not again.orders


def test_more_seeds_are_added_at_the_same_steps(tmp_path: Path) -> None:
    chosen = experiment(A, B)
    first = ran(tmp_path, chosen, seeds=2)
    crew = Here(chosen)
    second = ran(tmp_path, chosen, crew, seeds=3)
    assert [(each["seed"], each["steps"]) for each in crew.orders] == [(2, first.plan.steps)] * 2
    assert [arm.intervals["loss"].seeds for arm in second.arms] == [3, 3]


def test_fixed_steps_need_no_timing(tmp_path: Path) -> None:
    chosen = experiment(A, B, steps=12)
    crew = Here(chosen)
    assert ran(tmp_path / "fixed", chosen, crew).plan.steps == 12
    assert all(order["seconds"] is None for order in crew.orders)
    chosen = experiment(A, B, steps=12)
    assert ran(tmp_path / "budget", chosen, budget=60.0).plan.steps > 12


def test_arms_that_promise_equality_and_differ_are_refused_with_both_figures(tmp_path: Path) -> None:
    chosen = experiment(A, Constant("b", (1.0,), known={"parameters": 9000}), equal=("parameters",))
    crew = Here(chosen)
    with pytest.raises(UsageError) as caught:
        ran(tmp_path, chosen, crew)
    assert "a has 7, b has 9,000" in caught.value.cause()
    assert not crew.orders


def test_a_budget_that_holds_no_trial_says_what_would(tmp_path: Path) -> None:
    slow = experiment(A, B)
    with pytest.raises(UsageError) as caught:
        ran(tmp_path / "short", slow, budget=0.01)
    least = float(caught.value.remedy().split("--budget ")[1].split("s")[0])
    assert ran(tmp_path / "longer", slow, budget=least).plan.steps >= 1
    assert not (tmp_path / "short" / PLAN).exists()


def test_a_figure_that_no_arm_measures_is_refused_at_the_first_timing(tmp_path: Path) -> None:
    from dataclasses import replace

    chosen = experiment(A, B)
    chosen = replace(chosen, figure=replace(chosen.figure, name="lose"))
    crew = Here(chosen)
    with pytest.raises(UsageError, match=r"measures no lose\. Did you mean loss"):
        ran(tmp_path, chosen, crew)
    assert len(crew.orders) == 1


@pytest.mark.parametrize("settings", [{"seeds": 0}, {"seeds": 101}, {"workers": 0}])
def test_settings_out_of_range(tmp_path: Path, settings: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        ran(tmp_path, experiment(A, B), **settings)


def test_a_budget_for_what_trains_nothing_is_refused(tmp_path: Path) -> None:
    from clearformer.lab.experiments import find

    with pytest.raises(UsageError, match="no steps that a budget could hold"):
        ran(tmp_path, find("pronoun"), budget=60.0)
    with pytest.raises(UsageError, match="1 to 8 seeds, found 9"):
        ran(tmp_path, find("pronoun"), seeds=9)


def test_what_is_timed_runs_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one by one"):
        ran(tmp_path, experiment(A, B, alone=True), workers=2)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RunError, match=r"thesis\.txt"):
        ran(tmp_path, experiment(A, B))
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_of_another_experiment_is_refused(tmp_path: Path) -> None:
    ran(tmp_path, experiment(A, B))
    with pytest.raises(RunError, match="would not compare"):
        ran(tmp_path, experiment(A, Constant("b", (6.0, 6.0, 6.0))))
    with pytest.raises(RunError, match="planned for 180 s"):
        ran(tmp_path, experiment(A, B), budget=30.0)


@pytest.mark.parametrize("damage", ["{}", '{"prices": 3}', "[]", "\x00", '{"figures": {"loss": "x"}}', "{" * 5000])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    ran(tmp_path, experiment(A, B))
    for name in (PLAN, "results/a--0.json"):
        kept = (tmp_path / name).read_text()
        (tmp_path / name).write_text(damage)
        with pytest.raises((RunError, CheckpointError), match=name.split("/")[-1]):
            ran(tmp_path, experiment(A, B))
        (tmp_path / name).write_text(kept)


def test_two_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with Notebook(tmp_path).lock(), pytest.raises(RunError):
        ran(tmp_path, experiment(A, B))

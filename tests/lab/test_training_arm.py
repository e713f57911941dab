"""An arm that trains: the seed decides all, a trial that is cut off ends alike, what diverges is a finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clearformer.lab.experiment import Outcome, Trial
from clearformer.lab.gradients import BY_BLOCK, gradients_by_block
from clearformer.lab.own import parse_own
from clearformer.lab.training_arm import LEARNING, TrainingArm
from clearformer.train.recipe import AdamW, Cosine
from lab.lab_trials import OWN


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def arm() -> TrainingArm:
    found = parse_own(OWN, Path("toy.yaml")).arms[0]
    assert isinstance(found, TrainingArm)
    return found


def trial(data: Path, scratch: Path, seed: int = 0, steps: int = 8) -> Trial:
    return Trial(seed, steps, 1, data, scratch)


def test_the_seed_decides_weights_data_and_all_figures(arm: TrainingArm, data: Path, tmp_path: Path) -> None:
    first = arm.measure(trial(data, tmp_path / "1"))
    assert arm.measure(trial(data, tmp_path / "2")) == first
    assert arm.measure(trial(data, tmp_path / "3", seed=1)).figures["loss"] != first.figures["loss"]
    steps, losses = first.curves[LEARNING]
    assert list(steps) == list(range(1, 9))
    assert len(losses) == 8


def test_a_trial_that_was_cut_off_ends_as_if_it_had_not(
    arm: TrainingArm, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = arm.measure(trial(data, tmp_path / "whole"))
    told: list[int] = []

    def die(step: int) -> None:
        told.append(step)
        if step == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("clearformer.lab.training_arm._TOLD_EVERY_S", 0.0)
    with pytest.raises(KeyboardInterrupt):
        arm.measure(replace(trial(data, tmp_path / "cut"), tell=die))
    assert told == [1, 2, 3, 4, 5]
    assert arm.measure(replace(trial(data, tmp_path / "cut"), tell=told.append)) == whole
    assert told[5] == 5, "a fourth of the steps is saved: it goes on from the fourth step"


def test_what_diverges_has_no_figures(arm: TrainingArm, data: Path, tmp_path: Path) -> None:
    wild = replace(arm, recipe=replace(arm.recipe, optimizer=AdamW(lr=1e30), clip=None))
    assert wild.measure(trial(data, tmp_path / "wild")) == Outcome(diverged=True)


def test_the_warm_up_is_a_share_of_the_steps(arm: TrainingArm, data: Path, tmp_path: Path) -> None:
    recipe = replace(arm.recipe, schedule=Cosine(warmup=3))
    share, own = replace(arm, recipe=recipe, warmup=0.25), replace(arm, recipe=recipe, warmup=None)
    settled = [each._settled(trial(data, tmp_path, steps=40)).schedule for each in (share, own)]
    assert settled == [Cosine(warmup=10), Cosine(warmup=3)]


def test_gradients_by_block_are_those_of_the_parameters(arm: TrainingArm, data: Path, tmp_path: Path) -> None:
    seen: dict[str, object] = {}

    def look(task, model):  # type: ignore[no-untyped-def]
        found = gradients_by_block(task, model)
        batch = task.training().batch(0, 0)
        with torch.enable_grad():
            loss = task.loss(model, batch).total / task.units(batch)
        inside = [each for name, each in model.named_parameters() if ".blocks.0." in name]
        gradients = torch.autograd.grad(loss, inside)
        seen["norm"] = float(torch.cat([each.flatten() for each in gradients]).norm())
        assert all(each.grad is None for each in model.parameters())
        return found

    outcome = replace(arm, before=look).measure(trial(data, tmp_path / "g"))
    assert list(outcome.curves[BY_BLOCK.name][1]) == pytest.approx([seen["norm"]], rel=1e-5)


def test_a_look_sees_the_trained_weights_in_evaluation_mode(arm: TrainingArm, data: Path, tmp_path: Path) -> None:
    def look(task, model):  # type: ignore[no-untyped-def]
        assert not model.training
        return Outcome({"again": task.evaluate(model)["loss"]})

    outcome = replace(arm, look=look).measure(trial(data, tmp_path / "look"))
    assert outcome.figures["again"] == outcome.figures["loss"]

"""Every experiment of the list: its names agree, its promises hold, its claims name what is measured, it can be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearformer.errors import UsageError
from clearformer.lab.experiment import Experiment, Trial
from clearformer.lab.experiments import TITLES, find
from clearformer.lab.running import require_equal
from clearformer.lab.worker import measured

NAMES = sorted(TITLES)
READ_BY = {"context": "minilm_folder", "pronoun": "minilm_folder"}
"""The published model that an experiment reads with, as a fixture that has it or skips."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.mark.parametrize("name", NAMES)
def test_names_agree(name: str) -> None:
    found = find(name)
    assert (found.name, found.title) == (name, TITLES[name])
    arms = [arm.name for arm in found.arms]
    assert len(arms) == len(set(arms)) >= 2
    assert len({arm.label.en for arm in found.arms}) == len({arm.label.zh for arm in found.arms}) == len(arms)
    figures = {figure.name for figure in found.figures}
    for claim in found.claims:
        assert {claim.above, claim.below} <= set(arms)
        assert claim.figure in figures
    # Not by where a function lies in memory: another process must find the same.
    assert all("0x" not in arm.described() for arm in found.arms)
    assert len({arm.described() for arm in found.arms}) == len(arms)


@pytest.mark.parametrize("name", NAMES)
def test_promises_of_equality_hold(name: str, data: Path) -> None:
    found = find(name)
    require_equal(found, {arm.name: arm.facts(data) for arm in found.arms})


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_one_step_of_every_arm_measures_all_figures_and_curves(
    name: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found: Experiment = find(name)
    if name in READ_BY:
        request.getfixturevalue(READ_BY[name])
    curves = set()
    for arm in found.arms:
        outcome = measured(found, arm, Trial(0, 1, 1, data, tmp_path / arm.name))
        assert not outcome.diverged
        curves |= outcome.curves.keys()
    assert {curve.name for curve in found.curves} <= curves


def test_an_unknown_name_comes_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean no-scale"):
        find("no-scal")

"""The laws of a training's course: each fires where it is broken, not on a sound run, and says when it cannot."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clearformer.doctor import diagnose
from clearformer.doctor.check import NotApplicable
from clearformer.doctor.checks.run_gradients import norms
from clearformer.doctor.checks.run_held_out import gap
from clearformer.doctor.checks.run_loss import stuck
from clearformer.doctor.checks.run_rate import idle
from clearformer.doctor.checks.run_spikes import leaps
from clearformer.doctor.course import Course, Update, read_course
from clearformer.doctor.finding import Breach
from doctor.checks.asking import causes

STEPS = 400
Law = Callable[[Course], Iterator[Breach]]


def course(
    loss: Callable[[int], float] = lambda step: 2 + 5 * math.exp(-step / 80),
    rate: Callable[[int], float] = lambda step: 3e-4 * min(1, step / 20) * (1 - step / STEPS),
    norm: Callable[[int], float] = lambda step: 1.0,
    held_out: Callable[[int], float] = lambda step: 2.1 + 5 * math.exp(-step / 80),
    choices: int | None = 1000,
) -> Course:
    """A sound run, but for what is said otherwise; losses stray as those of small batches do."""
    drawn = random.Random(3)
    updates = [
        Update(step, loss(step) * (1 + 0.02 * drawn.gauss(0, 1)), rate(step), norm(step) * (1 + 0.3 * drawn.random()))
        for step in range(1, STEPS + 1)
    ]
    return Course(updates, [(step, held_out(step)) for step in range(40, STEPS + 1, 40)], choices)


LN_V = math.log(1000)
LAWS: list[Law] = [stuck, leaps, idle, gap, norms]


@pytest.mark.parametrize("law", LAWS)
def test_a_sound_run_breaks_no_law(law: Law) -> None:
    assert list(law(course())) == []


@pytest.mark.parametrize("law", LAWS)
def test_a_run_that_was_trained_already_gives_no_error(law: Law) -> None:
    found = law(course(loss=lambda step: 2.0, held_out=lambda step: 2.1))
    assert [each for each in found if each.severity == "ERROR"] == []


@pytest.mark.parametrize("law", LAWS)
def test_an_empty_run_is_not_judged(law: Law) -> None:
    with pytest.raises(NotApplicable):
        list(law(Course()))


@pytest.mark.parametrize(
    ("law", "broken", "severity", "cause"),
    [
        (stuck, course(loss=lambda step: LN_V), "ERROR", "loss stuck at ln V"),
        (stuck, course(loss=lambda step: 4.0), "WARN", "loss does not fall"),
        (leaps, course(loss=lambda step: 2 + 5 * math.exp(-step / 80) + 6 * (step == 300)), "WARN", "loss spike"),
        (leaps, course(loss=lambda step: 2 + step / 40), "ERROR", "training diverged"),
        (leaps, course(loss=lambda step: math.nan if step > 350 else 2.0), "ERROR", "loss not finite"),
        (idle, course(rate=lambda step: 0.0), "ERROR", "learning rate zero"),
        (idle, course(rate=lambda step: 3e-4 * max(0, 1 - step / 100)), "WARN", "learning rate zero"),
        (idle, course(rate=lambda step: 3e-4 * (step - 1) / STEPS), "INFO", "learning rate zero"),
        (gap, course(held_out=lambda step: 3 + (step - 120) ** 2 / 4e4), "WARN", "overfitting"),
        (gap, course(held_out=lambda step: 0.01, choices=50_000), "WARN", "loss too good"),
        (norms, course(norm=lambda step: 1e-9), "ERROR", "gradient vanished"),
        (norms, course(norm=lambda step: math.exp(step / 30)), "WARN", "gradient explodes"),
        (norms, course(norm=lambda step: math.inf if step > 300 else 1.0), "ERROR", "gradient explodes"),
    ],
)
def test_a_broken_run_is_named(law: Law, broken: Course, severity: str, cause: str) -> None:
    assert [(each.severity, each.suspects[0]) for each in law(broken)] == [(severity, cause)]


def test_a_rate_that_ends_at_zero_is_no_fault() -> None:
    assert list(idle(course(rate=lambda step: 3e-4 * max(0.0, 1 - step / (STEPS - 2))))) == []


def write(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(content, encoding="utf-8")
    return folder


def lines(records: list[dict[str, object]]) -> str:
    return "\n".join(json.dumps(record) for record in records) + "\n"


def test_each_form_of_metrics_gives_the_same_course(tmp_path: Path) -> None:
    rows = [(step, 5 - step / 100, 1e-3, 0.5) for step in range(1, 31)]
    ours = [{"step": s, "loss": loss, "lr": lr, "grad_norm": norm} for s, loss, lr, norm in rows]
    ours.insert(20, {"step": 20, "evaluation": {"loss": 4.0}, "best": True})
    theirs = [{"step": s, "loss": loss, "learning_rate": lr, "grad_norm": norm} for s, loss, lr, norm in rows]
    theirs.insert(20, {"step": 20, "eval_loss": 4.0})
    table = "step,train_loss,lr,grad_norm,val_loss\n" + "\n".join(f"{s},{a},{b},{c}," for s, a, b, c in rows)
    found = [
        read_course(write(tmp_path / "ours", "metrics.jsonl", lines(ours) + '{"step": 31, "lo')),
        read_course(
            write(tmp_path / "hf/checkpoint-30", "trainer_state.json", json.dumps({"log_history": theirs})).parent
        ),
        read_course(write(tmp_path / "csv", "metrics.csv", table + "\n20,,,,4.0\n")),
    ]
    for each in found:
        assert each is not None
        assert [(u.step, u.loss, u.lr, u.norm) for u in each.updates] == rows
        assert each.held_out == [(20, 4.0)]


def test_a_folder_is_diagnosed_by_its_metrics_and_config(tmp_path: Path) -> None:
    records = [{"step": step, "loss": LN_V, "lr": 1e-3, "grad_norm": 1.0} for step in range(1, 200)]
    folder = write(tmp_path, "metrics.jsonl", lines(records))
    write(folder, "config.json", json.dumps({"vocab_size": 1000}))
    found = diagnose(folder=folder, only=["R01", "R03"])
    assert [finding.cause for finding in found.errors] == ["loss stuck at ln V"]
    assert "R03" in found.passed


def written(run: Course, folder: Path) -> Path:
    """A run's metrics as our loop writes them, with its evaluations in their places."""
    evaluations = dict(run.held_out)
    records: list[dict[str, object]] = []
    for each in run.updates:
        records.append({"step": each.step, "loss": each.loss, "lr": each.lr, "grad_norm": each.norm})
        if each.step in evaluations:
            records.append({"step": each.step, "evaluation": {"loss": evaluations[each.step]}})
    return write(folder, "metrics.jsonl", lines(records))


@pytest.mark.parametrize(
    ("check", "broken", "said"),
    [
        ("R01", course(loss=lambda step: LN_V), "ERROR loss stuck at ln V"),
        ("R02", course(loss=lambda step: 2 + step / 40), "ERROR training diverged"),
        ("R03", course(rate=lambda step: 0.0), "ERROR learning rate zero"),
        ("R04", course(held_out=lambda step: 3 + (step - 120) ** 2 / 4e4), "WARN overfitting"),
        ("R05", course(norm=lambda step: 1e-9), "ERROR gradient vanished"),
    ],
)
def test_a_folder_with_a_broken_run_has_each_law_asked(tmp_path: Path, check: str, broken: Course, said: str) -> None:
    folder = written(broken, tmp_path / "run")
    assert causes(check, folder=folder, vocab_size=1000) == [said]
    assert causes(check, folder=written(course(), tmp_path / "sound"), vocab_size=1000) == []


@pytest.mark.parametrize("content", ["", "[1, 2]\n" * 50, '{"step": 1e400, "loss": "x"}\n' * 50, "\x00\xff" * 999])
def test_a_file_that_holds_no_metrics_breaks_nothing(tmp_path: Path, content: str) -> None:
    found = diagnose(folder=write(tmp_path, "metrics.jsonl", content))
    assert found.healthy
    assert {"R01", "R02", "R03", "R04", "R05"} <= {skipped.check for skipped in found.skipped}

"""What the loop yields, in which order, and what it leaves in the run folder."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clearformer.build import build
from clearformer.errors import RunError, TrainingError, UsageError
from clearformer.load import load
from clearformer.messages import train as say
from clearformer.runs.folder import RunFolder
from clearformer.runs.state import newest_state
from clearformer.train import events as e
from clearformer.train.loop import Trainer
from clearformer.train.metrics import read_metrics
from clearformer.train.recipe import EMA, AdamW, Checkpoints, Constant, Watch
from clearformer.train.recipe_file import write_recipe
from clearformer.train.step import gradient
from clearformer.train.task import Metric
from learning.tiny import Counting, CountingRecipe, CountingTask, small_recipe

Start = Callable[..., tuple[Trainer, list[e.Event]]]


def begin(path: Path, recipe: CountingRecipe, task: CountingTask | None = None, *, resume: bool = False) -> Trainer:
    run = RunFolder.open(path) if path.exists() else RunFolder.create(path, write_recipe(recipe))
    return Trainer(task or CountingTask(), recipe, run, resume=resume)


def steps(events: list[e.Event], kind: type) -> list[int]:
    return [event.step for event in events if isinstance(event, kind)]


def test_the_events_of_a_run(tmp_path: Path) -> None:
    events = list(begin(tmp_path / "run", small_recipe()).run())
    assert steps(events, e.Stepped) == list(range(1, 13))
    assert steps(events, e.Evaluated) == [5, 10, 12]
    assert steps(events, e.Sampled) == [6, 12]
    assert steps(events, e.Saved) == [4, 8, 12]
    assert events[-1] == e.Stopped(12, "done")
    first = next(event for event in events if isinstance(event, e.Stepped))
    assert first.loss == pytest.approx(math.log(7), abs=0.3)
    assert first.memory > 2**20
    assert first.lr == pytest.approx(0.01)


def test_the_metrics_say_the_same_and_hold_no_nan(tmp_path: Path) -> None:
    trainer = begin(tmp_path / "run", small_recipe(), CountingTask(spoiled=frozenset({2})))
    events = list(trainer.run())
    path = tmp_path / "run" / "metrics.jsonl"
    assert "NaN" not in path.read_text()
    records = read_metrics(path)
    losses = {record["step"]: record["loss"] for record in records if "loss" in record}
    assert losses.pop(2) is None
    assert losses == {event.step: event.loss for event in events if isinstance(event, e.Stepped)}
    evaluations = {record["step"]: record["evaluation"] for record in records if "evaluation" in record}
    assert evaluations == {event.step: event.metrics for event in events if isinstance(event, e.Evaluated)}


def test_a_folder_holds_what_a_user_needs(tmp_path: Path) -> None:
    list(begin(tmp_path / "run", small_recipe()).run())
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {
        "recipe.yaml",
        "config.json",
        "model.safetensors",
        "counting.txt",
        "metrics.jsonl",
        "manifest.json",
    } <= names
    plots = {path.name for path in (tmp_path / "run" / "plots").iterdir()}
    assert plots == {"loss.png", "learning-rate.png", "validation-loss.png"}


@pytest.mark.parametrize("average", [None, EMA(0.9), Checkpoints(2)], ids=str)
def test_the_best_weights_are_published_not_the_last(tmp_path: Path, average: object) -> None:
    recipe = small_recipe(average=average, watch=Watch(evaluate=2))
    # Training lowers the loss: by a metric that praises a high one, an early evaluation is the best, and not by chance.
    task = CountingTask(metric=Metric("loss", higher_is_better=True))
    trainer = begin(tmp_path / "run", recipe, task)
    list(trainer.run())
    assert max(task.evaluations) > task.evaluations[-1] + 0.01
    loaded = load(tmp_path / "run")
    loaded.model.eval()
    with torch.no_grad():
        assert task.evaluate(loaded.model)["loss"] == pytest.approx(max(task.evaluations), abs=1e-6)


def test_the_last_weights_are_published_where_the_recipe_says_so(tmp_path: Path) -> None:
    recipe = small_recipe(watch=Watch(evaluate=2, keep="last"), optimizer=replace(small_recipe().optimizer, lr=0.2))
    trainer = begin(tmp_path / "run", recipe)
    list(trainer.run())
    found = dict(load(tmp_path / "run").model.named_parameters())
    assert all(torch.equal(found[name], weight) for name, weight in trainer.now.model.named_parameters())


def test_training_notices_no_evaluation_sample_or_save(tmp_path: Path) -> None:
    often = list(begin(tmp_path / "often", small_recipe(watch=Watch(1, 1, 1))).run())
    seldom = list(begin(tmp_path / "seldom", small_recipe(watch=Watch(12, 12, 12))).run())
    one, other = ([event.loss for event in events if isinstance(event, e.Stepped)] for events in (often, seldom))
    assert one == other


def test_patience(tmp_path: Path) -> None:
    recipe = small_recipe(steps=60, optimizer=replace(small_recipe().optimizer, lr=0.5), watch=Watch(1, patience=2))
    task = CountingTask()
    events = list(begin(tmp_path / "run", recipe, task).run())
    assert isinstance(events[-1], e.Stopped)
    assert events[-1].reason == "patience"
    assert min(task.evaluations) == task.evaluations[-3]


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    state = newest_state(RunFolder.open(path), pytest.fail)
    assert state is not None
    return {name: tensor for name, tensor in state.tensors.items() if name.startswith(("weights/", "optimizer/"))}


def test_an_update_that_is_not_finite_is_not_made(tmp_path: Path) -> None:
    once = small_recipe(steps=4, watch=Watch(4, save=1))
    stops_before, spoiled = CountingTask(dropout=0.0), CountingTask(dropout=0.0, spoiled=frozenset({4}))
    list(begin(tmp_path / "three", replace(once, steps=3), stops_before).run())
    events = list(begin(tmp_path / "four", once, spoiled).run())
    (note,) = [event for event in events if isinstance(event, e.Noted) and event.warning]
    assert note.message is say.SKIPPED
    kept, after = weights_of(tmp_path / "three"), weights_of(tmp_path / "four")
    assert all(torch.equal(kept[name], after[name]) for name in kept)


@pytest.mark.parametrize("lr", [1e10, 1e30])
def test_a_divergence_is_named_before_anything_is_made_of_it(tmp_path: Path, lr: float) -> None:
    """No evaluation, no sample and no state of weights whose loss is no number, and a rate to try."""
    recipe = small_recipe(watch=Watch(1, 1, 1), optimizer=AdamW(lr=lr), schedule=Constant(warmup=0))
    task = CountingTask(dropout=0.0)
    events: list[e.Event] = []
    with pytest.raises(TrainingError) as caught:
        events.extend(begin(tmp_path / "run", recipe, task).run())
    assert caught.value.failure in (say.DIVERGED, say.NOT_FINITE)
    assert all(math.isfinite(loss) for loss in task.evaluations)
    assert "1e-03" in caught.value.remedy("en") or caught.value.failure is say.NOT_FINITE
    assert f"{lr}" in caught.value.cause("zh") + caught.value.remedy("zh")


def test_three_in_a_row_stop_the_run_and_are_never_saved(tmp_path: Path) -> None:
    recipe = small_recipe(watch=Watch(12, save=1))
    trainer = begin(tmp_path / "run", recipe, CountingTask(spoiled=frozenset({3, 5, 6, 7})))
    events = []
    with pytest.raises(TrainingError) as caught:
        events.extend(trainer.run())
    assert caught.value.failure is say.NOT_FINITE
    state = newest_state(RunFolder.open(tmp_path / "run"), pytest.fail)
    assert state is not None
    assert state.step == 6
    assert all(tensor.isfinite().all() for tensor in state.tensors.values() if tensor.is_floating_point())
    assert read_metrics(tmp_path / "run" / "metrics.jsonl")[-1]["step"] == 7


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    trainer = begin(tmp_path / "run", small_recipe(watch=Watch(12, save=2)))

    def spoil() -> None:
        for event in trainer.run():
            if isinstance(event, e.Stepped) and event.step == 1:
                with torch.no_grad():
                    next(trainer.now.model.parameters())[0, 0] = math.inf

    with pytest.raises(TrainingError) as caught:
        spoil()
    assert caught.value.failure is say.WEIGHTS_NOT_FINITE
    assert newest_state(RunFolder.open(tmp_path / "run"), pytest.fail) is None


def test_the_gradient_of_a_batch_is_that_of_any_split(tmp_path: Path) -> None:
    task = CountingTask(dropout=0.0)
    batches = [task.training().batch(0, number) for number in range(3)]
    whole = Counting(*(torch.cat([batch[part] for batch in batches]) for part in (0, 1)), batches[0].number)
    gradients, losses = [], []
    for split in (
        [whole],
        batches,
        [Counting(whole.ids[i : i + 1], whole.targets[i : i + 1], whole.number) for i in range(9)],
    ):
        model = build(task.spec, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        losses.append(gradient(task, model, split, None).loss)
        gradients.append(torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None]))
    for other in (1, 2):
        assert losses[other] == pytest.approx(losses[0], abs=1e-12)
        torch.testing.assert_close(gradients[other], gradients[0], atol=1e-12, rtol=1e-10)


def test_clipping_is_torchs(tmp_path: Path) -> None:
    task, clipped = CountingTask(dropout=0.0), []
    for clip in (None, 0.01, 1e9):
        model = build(task.spec, generator=torch.Generator().manual_seed(0))
        found = gradient(task, model, [task.training().batch(0, 0)], clip)
        clipped.append(torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None]))
        assert found.norm == pytest.approx(clipped[0].norm().item(), rel=1e-5)
    assert clipped[1].norm() == pytest.approx(0.01, rel=1e-5)
    torch.testing.assert_close(clipped[1] * found.norm / 0.01, clipped[0])
    assert torch.equal(clipped[0], clipped[2])


def test_runs_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "run", small_recipe(steps=None))
    assert caught.value.failure is say.NO_STEPS
    list(begin(tmp_path / "run", small_recipe()).run())
    with pytest.raises(RunError) as begun:
        next(begin(tmp_path / "run", small_recipe()).run())
    assert begun.value.failure is say.ALREADY_BEGUN
    assert json.loads((tmp_path / "run" / "config.json").read_text())


def test_a_budget_becomes_steps_and_is_said(tmp_path: Path) -> None:
    events = list(begin(tmp_path / "run", small_recipe(steps=None, budget=1.5)).run())
    (note,) = [event for event in events if isinstance(event, e.Noted) and event.message is say.STEPS_RECKONED]
    assert note.values["steps"] == events[-1].step  # type: ignore[union-attr]
    # The trial left no trace: the first loss is that of a run whose length was given.
    given = list(begin(tmp_path / "given", small_recipe(steps=1)).run())
    losses = [next(event.loss for event in each if isinstance(event, e.Stepped)) for each in (events, given)]
    assert losses[0] == losses[1]

"""What is written down: no NaN, times apart from what the recipe decides, curves, and the programs that are told."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from clearformer.cli.following import followed
from clearformer.errors import UsageError
from clearformer.messages import train as say
from clearformer.runs.folder import RunFolder
from clearformer.train import events as e
from clearformer.train.band import compared, make_band, read_band, write_band
from clearformer.train.metrics import MetricsFile, read_metrics
from clearformer.train.plots import draw_plots, smoothed
from clearformer.train.recipe_file import write_recipe
from clearformer.train.trackers import make_tracker, tracked
from learning.fingerprint import fingerprint
from learning.tiny import CountingRecipe, small_recipe


def stepped(step: int, loss: float, steps: int = 40) -> e.Stepped:
    return e.Stepped(step, steps, loss, 0.1, 1.0, 9, 5.0, None, 1, 0.0)


def written(path: Path, losses: list[float], **times: float) -> Path:
    file = MetricsFile(path)
    for step, loss in enumerate(losses, 1):
        file.write({"step": step, "loss": loss, "lr": 0.1, **times})
    file.write({"step": len(losses), "evaluation": {"loss": losses[-1], "kept": 1.0}, **times})
    file.close()
    return path


def test_numbers_that_json_has_no_word_for_are_null(tmp_path: Path) -> None:
    path = written(tmp_path / "m.jsonl", [1.0, math.nan, math.inf])
    assert [record["loss"] for record in read_metrics(path)[:3]] == [1.0, None, None]
    assert read_metrics(path)[3]["evaluation"] == {"loss": None, "kept": 1.0}

    def refuse(word: str) -> None:
        raise AssertionError(word)

    assert all(json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines())


def test_a_fingerprint_sees_losses_and_no_times(tmp_path: Path) -> None:
    one = written(tmp_path / "a", [1.0, 2.0], seconds=1.0, units_per_s=3.0)
    other = written(tmp_path / "b", [1.0, 2.0], seconds=2.0, units_per_s=4.0)
    third = written(tmp_path / "c", [1.0, math.nextafter(2.0, 3)], seconds=2.0, units_per_s=4.0)
    assert fingerprint(one) == fingerprint(other) != fingerprint(third)


@given(some.integers(0, 200))
def test_going_on_cuts_what_the_state_did_not_know(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    path = written(tmp_path_factory.mktemp("m") / "m", [1.0, 2.0, 3.0])
    before = path.read_bytes()
    file = MetricsFile(path, length)
    file.sync()
    file.close()
    if length <= len(before):
        assert path.read_bytes() == before[:length]
        assert file.lost == 0
    else:
        assert path.read_bytes() == before
        assert file.lost == length - len(before)


def test_plots_are_pictures_of_what_there_is(tmp_path: Path) -> None:
    path = written(tmp_path / "m", [3.0, 2.0, math.nan, 1.0])
    made = draw_plots(path, tmp_path / "plots", "kept")
    assert [plot.name for plot in made] == ["loss.png", "learning-rate.png", "validation-kept.png"]
    assert all(plot.read_bytes().startswith(b"\x89PNG") for plot in made)
    assert [plot.name for plot in draw_plots(path, tmp_path / "plots", "absent")] == ["loss.png", "learning-rate.png"]


def test_smoothing_keeps_a_constant_and_starts_at_the_first_value() -> None:
    assert smoothed([2.0] * 500) == pytest.approx([2.0] * 500)
    values = smoothed([float(x % 2) for x in range(1000)])
    assert values[0] == 0.0
    assert values[-1] == pytest.approx(0.5, abs=0.05)


EVENTS = [
    stepped(1, 2.0),
    e.Evaluated(1, {"accuracy": 0.5}, True),
    e.Sampled(1, ()),
    stepped(2, 1.5),
    e.Stopped(2, "done"),
]


def test_tensorboard_reads_what_it_was_told(tmp_path: Path) -> None:
    assert list(tracked(EVENTS, make_tracker("tensorboard", tmp_path))) == EVENTS
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(point.step, point.value) for point in read.Scalars("training/loss")] == [(1, 2.0), (2, 1.5)]
    assert [(point.step, point.value) for point in read.Scalars("validation/accuracy")] == [(1, 0.5)]


def test_trackio_is_told_the_same_and_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against a recorder with trackio's three calls, as talkative as the package."""
    calls: list[object] = []

    def told(call: object) -> None:
        print("* Trackio")
        calls.append(call)

    recorder = SimpleNamespace(
        init=lambda **names: told(names),
        log=lambda values, step: told((step, values)),
        finish=lambda: told("finished"),
    )
    monkeypatch.setitem(sys.modules, "trackio", recorder)
    list(tracked(EVENTS, make_tracker("trackio", tmp_path / "my-run" / "trackio")))
    assert calls[0] == {"project": "clearformer", "name": "my-run"}
    assert (1, {"validation/accuracy": 0.5}) in calls
    assert calls[-1] == "finished"
    assert capsys.readouterr().out == ""


def test_a_tracker_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    with pytest.raises(UsageError, match=r"pip install trackio"):
        make_tracker("trackio", tmp_path)
    with pytest.raises(UsageError, match="Did you mean trackio"):
        make_tracker("trackoi", tmp_path)


def falling(shift: float = 0.0) -> list[float]:
    return [3.0 - 0.05 * step + shift for step in range(40)]


def test_a_band_by_hand(tmp_path: Path) -> None:
    paths = [written(tmp_path / str(seed), falling(shift)) for seed, shift in enumerate([-0.1, 0.0, 0.1])]
    band = make_band(paths, [0, 1, 2], "the command")
    assert band.points == tuple(range(2, 41, 2))
    assert band.mean[0] == pytest.approx((3.0 + 2.95) / 2)
    assert band.high[0] - band.mean[0] == pytest.approx(0.3)
    write_band(band, tmp_path / "band.json")
    assert read_band(tmp_path / "band.json") == band
    alone = make_band(paths[1:2], [1], "the command")
    assert alone.high[0] == pytest.approx(1.05 * alone.mean[0])


@pytest.mark.parametrize(
    ("shift", "message"), [(0.0, say.BAND_WITHIN), (0.5, say.BAND_ABOVE), (-0.5, say.BAND_BELOW)], ids=str
)
def test_a_run_is_held_against_its_band(tmp_path: Path, shift: float, message: object) -> None:
    paths = [written(tmp_path / str(seed), falling(0.02 * seed)) for seed in range(3)]
    band = make_band(paths, [0, 1, 2], "the command")
    told = list(compared([stepped(step, loss) for step, loss in enumerate(falling(shift), 1)], band))
    notes = [event for event in told if isinstance(event, e.Noted)]
    assert [note.message for note in notes] == [message, message], "once when it shows, once at the end"
    assert notes[0].warning is (message is say.BAND_ABOVE)
    assert notes[0].message.text("zh", **notes[0].values)
    assert len(told) == 42


@pytest.mark.parametrize("made", [3, 6, 7, 20, 37])
def test_a_resumed_run_is_held_against_its_band_from_its_first_whole_stretch(tmp_path: Path, made: int) -> None:
    """It begins behind `made` updates; the mean up to the next point would lack theirs, and says nothing."""
    band = make_band([written(tmp_path / "0", falling())], [0], "the command")
    losses = falling()
    losses[made] = 50.0
    resumed = [stepped(step, loss) for step, loss in enumerate(losses, 1) if step > made]
    notes = [event for event in compared(resumed, band) if isinstance(event, e.Noted)]
    assert {note.message for note in notes} == {say.BAND_WITHIN}
    assert notes[-1].values["step"] == 40


def test_a_band_is_kept_in_the_run_for_those_who_resume_it(tmp_path: Path) -> None:
    recipe, bands = small_recipe(steps=40), tmp_path / "bands"
    config = tmp_path / "mine.yaml"
    config.write_text(write_recipe(recipe), encoding="utf-8")
    bands.mkdir()
    write_band(make_band([written(tmp_path / "0", falling())], [0], "the command"), bands / "mine.json")

    def told(name: str, config: Path | None, recipe: CountingRecipe = recipe) -> set[object]:
        path = tmp_path / name
        run = RunFolder.open(path) if path.exists() else RunFolder.create(path, write_recipe(recipe))
        events = (stepped(step, loss + 0.5) for step, loss in enumerate(falling(), 1))
        found = followed(events, recipe, run, config=config, tracker=None)
        return {event.message for event in found if isinstance(event, e.Noted)}

    assert told("run", config) == told("run", None) == {say.BAND_ABOVE}
    assert told("other", None) == set()
    assert told("changed", config, replace(recipe, clip=0.5)) == set()


def test_a_run_of_another_length_is_not_compared(tmp_path: Path) -> None:
    band = make_band([written(tmp_path / "0", falling())], [0], "the command")
    told = list(compared([stepped(1, 9.0, steps=7), stepped(2, 9.0, steps=7)], band))
    assert [event.message for event in told if isinstance(event, e.Noted)] == [say.BAND_OTHER_LENGTH]
    assert len(told) == 3
    (tmp_path / "bad").write_text("[1]")
    with pytest.raises(UsageError):
        read_band(tmp_path / "bad")

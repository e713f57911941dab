"""`lab`: the list, an experiment of the user's own in both languages, and what is refused before anything is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from clearformer.lab import team
from clearformer.lab.experiments import TITLES, find
from lab.lab_trials import OWN, Here


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An experiment whose trials run in this process."""
    Path("toy.yaml").write_text(OWN)
    monkeypatch.setattr(team, "team_of", lambda source, count: Here(find(source)).hired(count))
    return "toy.yaml"


def test_the_list_names_every_experiment_with_its_question(clearformer) -> None:
    for arguments in ([], ["--list"]):
        lines = clearformer("lab", *arguments).out.splitlines()
        assert [line.split()[0] for line in lines] == list(TITLES)
    listed = clearformer("--lang", "zh", "lab", "--json").json["experiments"]
    assert [each["title"] for each in listed] == [each.zh for each in TITLES.values()]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_experiment_of_ones_own(clearformer, own, language) -> None:
    ended = clearformer("--lang", language, "lab", own, "--seeds", "2", "--out", "here")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[-1] == "here/plot.png"
    table = next(at for at, line in enumerate(lines) if line.startswith(("tied  ", "untied  ")))
    assert len(lines[table].split()) == 7, "name, mean, both ends, parameters, active ones, cache"
    words = ("95 % interval", "lowest loss") if language == "en" else ("95% 区间", "loss最低")
    assert all(word in ended.out for word in words)
    assert "here" in ended.err
    with Image.open("here/plot.png") as picture:
        described = picture.info["Description"]
    assert described.startswith("toy")
    assert lines[-2] in described


def test_json_is_the_report_and_a_finished_folder_is_shown_again(clearformer, own) -> None:
    first = clearformer("lab", own, "--seeds", "2", "--out", "here", "--json").json
    assert [arm["name"] for arm in first["arms"]] == ["tied", "untied"]
    outcomes = [json.loads(Path(f"here/results/tied--{seed}.json").read_text()) for seed in (0, 1)]
    assert first["arms"][0]["mean"] == pytest.approx(sum(each["figures"]["loss"] for each in outcomes) / 2)
    assert first["arms"][0]["low"] < first["arms"][0]["mean"] < first["arms"][0]["high"]
    kept = Path("here/results/tied--0.json").stat().st_mtime_ns
    assert clearformer("lab", own, "--out", "here", "--json").json == first
    assert Path("here/results/tied--0.json").stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-scal"], "Did you mean no-scale"),
        (["absent.yaml"], "absent.yaml"),
        (["no-scale", "--list"], "beside it"),
        (["no-scale", "--budget", "soon"], "found soon"),
        (["no-scale", "--budget", "0s"], "found 0s"),
        (["no-scale", "--budget", "9" * 400 + "h"], "--budget"),
        (["no-scale", "--budget", "180"], "found 180"),
        (["no-scale", "--seeds", "0"], "found 0"),
        (["no-scale", "--workers", "0"], "found 0"),
        (["no-cache", "--workers", "2"], "one by one"),
        (["\x1b[31m"], "\\x1b"),
    ],
)
def test_what_is_refused_at_once(clearformer, arguments, words) -> None:
    ended = clearformer("lab", *arguments, *([] if "--list" in arguments else ["--out", "here"]))
    assert (ended.code, ended.out) != (0, "")
    assert words in ended.err
    assert "\x1b" not in ended.err
    assert ended.err.count("\n") <= 3


def test_arms_that_differ_where_they_promise_not_to(clearformer, own) -> None:
    Path("toy.yaml").write_text(OWN.replace("cache_bytes", "parameters"))
    ended = clearformer("lab", own, "--out", "here")
    assert ended.code == 2
    assert "equal parameters and differ: tied has" in ended.err

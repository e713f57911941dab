"""One name is one model to every verb: what is here goes before a preset; a name that is nothing shows the nearest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clearformer.card import card
from clearformer.cost import cost
from clearformer.errors import UsageError
from clearformer.families.own import OWN
from clearformer.spec.presets import PRESETS, tiny_gpt
from clearformer.store.presets import hides_preset, names_preset, spec_or_model
from clearformer.store.resolve import Located

OTHER = tiny_gpt(width=64, layers=1)


@pytest.fixture(params=["vit", "runs/vit"])
def here(request, tmp_path, monkeypatch) -> Path:
    """A model of ours under a preset's name, as a folder and as a run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / request.param
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(OWN.write(OTHER)))
    return folder


def test_a_model_here_goes_before_the_preset_of_its_name(here):
    found = spec_or_model("vit")
    assert isinstance(found, Located)
    assert found.path.resolve() == here
    assert hides_preset("vit")
    assert not names_preset("vit")
    assert card("vit").rows == card(here / "config.json").rows


def test_a_folder_without_a_model_hides_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vit").mkdir()
    assert spec_or_model("vit") == PRESETS["vit"]()
    assert names_preset("vit")
    assert not hides_preset("vit")


def test_the_verbs_read_the_model_here_and_say_so(here, clearformer):
    for verb in ("cost", "card"):
        ended = clearformer(verb, "vit")
        assert ended.code == 0
        assert "not the preset" in ended.err
    assert clearformer("cost", "vit", "--json").json["parameters"]["total"] == cost(OTHER).parameters.total
    assert "不是预设" in clearformer("cost", "vit", "--lang", "zh").err
    assert "preset" not in clearformer("cost", "tiny-gpt").err


@pytest.mark.parametrize("verb", ["cost", "card", "positions"])
def test_an_unknown_name_shows_the_nearest_and_every_preset(verb, clearformer):
    ended = clearformer(verb, "tiny-gtp")
    assert ended.code == 2
    assert "Nearest: tiny-gpt" in ended.err
    assert all(name in clearformer(verb, "nope").err for name in PRESETS)


def test_near_names_are_those_of_runs_and_built_in_models_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "runs" / "prose-1"
    run.mkdir(parents=True)
    (run / "config.json").write_text("{}")
    for found, expected in {"prose-2": "prose-1", "smolm2-135m": "smollm2-135m"}.items():
        with pytest.raises(UsageError, match=expected):
            spec_or_model(found)

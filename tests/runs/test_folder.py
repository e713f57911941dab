"""A run folder is made once, opened by its recipe, and published into so that a reader sees whole files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from clearformer.build import build
from clearformer.checkpoint.atomic import TEMPORARY
from clearformer.errors import CheckpointError, RunError
from clearformer.families import GenerationDefaults
from clearformer.load import load
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.spec.presets import paper, tiny_gpt

GENERATION = GenerationDefaults(begin_id=1, end_ids=(2,), sample=True, top_k=5, max_new_tokens=9)


def model_of(spec, seed: int = 0) -> Model:
    return build(spec, generator=torch.Generator().manual_seed(seed)).eval()


def publish(run: RunFolder, seed: int = 0) -> Model:
    model = model_of(tiny_gpt(width=16, heads=2, layers=1, vocabulary=11, context=16), seed)
    run.publish(model.spec, dict(model.named_parameters()), {"labels.json": b'["a"]'}, GENERATION)
    return model


def test_create_and_open(tmp_path):
    path = tmp_path / "runs" / "mine"
    with pytest.raises(RunError, match=r"recipe\.yaml"):
        RunFolder.open(path)
    assert RunFolder.create(path, "steps: 3 # 三\n").recipe_text() == "steps: 3 # 三\n"
    with pytest.raises(RunError, match="not empty"):
        RunFolder.create(path, "steps: 4\n")
    assert RunFolder.create(path, "steps: 4\n", exists_ok=True) == RunFolder.open(path)
    assert RunFolder.open(path).recipe_text() == "steps: 3 # 三\n"


def test_a_folder_with_other_files_is_no_place_for_a_run_unless_asked(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="not empty"):
        RunFolder.create(tmp_path, "steps: 3\n")
    RunFolder.create(tmp_path, "steps: 3\n", exists_ok=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_where_no_folder_can_be(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(RunError, match="cannot be made"):
            RunFolder.create(path, "steps: 3\n")
    run = RunFolder.create(tmp_path / "run", "steps: 3\n")
    run.recipe_path.write_bytes(b"steps: \xff\n")
    with pytest.raises(RunError, match="found other bytes at 7"):
        run.recipe_text()


def test_a_published_run_loads_by_name_with_equal_logits(run, monkeypatch):
    model = publish(run)
    (run.path.parent / "runs").mkdir()
    run.path.rename(run.path.parent / "runs" / "mine")
    monkeypatch.chdir(run.path.parent)
    loaded = load("mine")
    ids = torch.arange(11)[None]
    with torch.no_grad():
        assert torch.equal(loaded.model(ids), model(ids))
    assert loaded.generation == GENERATION
    assert loaded.path is not None
    assert (loaded.path / "labels.json").read_bytes() == b'["a"]'


def test_publishing_again_replaces_the_model_and_nothing_else(run):
    run.metrics_path.write_text("{}\n")
    publish(run)
    model = publish(run, seed=1)
    ids = torch.arange(11)[None]
    with torch.no_grad():
        assert torch.equal(load(run.path).model(ids), model(ids))
    assert run.metrics_path.read_text() == "{}\n"
    listed = json.loads((run.path / "manifest.json").read_text())["files"]
    assert set(listed) == {"config.json", "generation_config.json", "labels.json", "model.safetensors", "recipe.yaml"}


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "generation_config.json", "recipe.yaml"])
@pytest.mark.parametrize("damage", ["flip", "cut", "lose"])
def test_a_damaged_run_is_refused_by_name(run, name, damage):
    publish(run)
    path = run.path / name
    content = path.read_bytes()
    if damage == "lose" and name != "recipe.yaml":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else bytes([content[0] ^ 1]) + content[1:])
    if damage == "lose" and name == "config.json":
        return  # then it is no model at all, as `resolve` says
    with pytest.raises(CheckpointError, match=name.replace(".", r"\.")) as caught:
        load(run.path)
    assert str(run.path) in caught.value.cause("zh")


def test_everything_is_on_the_disk_before_the_first_file_is_replaced(run, monkeypatch):
    publish(run)
    done: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.replace

    def noted_fsync(descriptor):
        done.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def noted_rename(source, target, **given):
        done.append(("rename", str(target)))
        rename(source, target, **given)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_rename)
    publish(run, seed=1)
    replaced = [at for at, (action, name) in enumerate(done) if action == "rename" and Path(name).parent == run.path]
    assert len(replaced) == 6
    assert done[replaced[-1]] == ("rename", str(run.path / "manifest.json"))
    synced = {Path(name).name for action, name in done[: replaced[0]] if action == "fsync" and TEMPORARY in name}
    assert {"config.json", "model.safetensors", "manifest.json", "recipe.yaml"} <= synced
    assert done[replaced[-1] + 1] == ("fsync", str(run.path))


def test_a_spec_that_no_published_family_says_keeps_our_own_form(run):
    model = model_of(paper(width=16, heads=2, hidden=32, layers=1, vocabulary=11, context=16))
    run.publish(model.spec, dict(model.named_parameters()), {}, GENERATION)
    loaded = load(run.path)
    assert loaded.spec == model.spec
    source, target = torch.arange(8)[None], torch.arange(5)[None]
    with torch.no_grad():
        assert torch.equal(loaded.model(source, target), model(source, target))

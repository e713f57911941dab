"""llama.cpp beside us: by a stand-in of the child's protocol here, and where its environment is, by itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from clearformer.bench import start
from clearformer.bench.children import Child, command_of
from clearformer.bench.environments import LLAMA_CPP, python_of
from clearformer.bench.llama_cpp import LlamaCpp, gguf_of
from clearformer.bench.ours import Clearformer
from clearformer.bench.start import StartRow, beyond, measure_start, start_once
from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.errors import MachineError
from clearformer.export_gguf import export_gguf
from clearformer.load import load
from clearformer.store import resolve
from drawing.folders import llama_folder


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("peer")
    llama_folder(place / "model")
    return export_gguf(place / "model", place / "model.gguf", "f32").path


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path / "home"))


def silent(done: int, total: int) -> None:
    return None


def test_the_peers_file_is_exported_once_and_anew_for_other_weights(file, tmp_path) -> None:
    first = gguf_of(resolve(str(file)), "int8", silent)
    assert open_gguf(first).kind("blk.0.attn_q.weight") == "Q8_0"
    stamp = first.stat().st_mtime_ns
    assert gguf_of(resolve(str(file)), "int8", silent) == first
    assert first.stat().st_mtime_ns == stamp
    assert gguf_of(resolve(str(file)), "float32", silent) != first
    os.utime(file, ns=(1, 1))
    assert gguf_of(resolve(str(file)), "int8", silent) != first
    # Nothing half-written is left.
    assert len(list(first.parent.iterdir())) == 3


def test_another_environments_python_finds_our_room_behind_its_own(tmp_path) -> None:
    module = "clearformer.bench.attention_child"
    assert command_of(module, None) == [sys.executable, "-m", module]
    settings = {"batch": 1, "heads": 2, "kv_heads": 1, "width": 8, "dtype": "float32", "training": False}
    settings |= {"window": None, "dropout": 0.0, "kernel": "plain", "length": 16, "threads": 1}
    with Child(module, settings, python=Path(sys.executable)) as child:
        assert child.run() is not None, child.last_words


def test_a_peer_that_cannot_start_is_named_with_its_last_words(file, monkeypatch, tmp_path) -> None:
    place = tmp_path / LLAMA_CPP / "bin"
    place.mkdir(parents=True)
    (place / "python").write_text("#!/bin/sh\necho no such library >&2\nexit 3\n")
    (place / "python").chmod(0o755)
    monkeypatch.setenv("CLEARFORMER_BENCH", str(tmp_path))
    with pytest.raises(MachineError, match=r"runs llama.cpp ended early \(no such library\)"):
        LlamaCpp(file, rows=1, capacity=16, threads=1)
    with pytest.raises(MachineError, match="no such library"):
        start_once("llama.cpp", {}, python_of(LLAMA_CPP))


def test_starts_take_turns_and_what_lies_beyond_an_import_is_told(monkeypatch) -> None:
    seconds = {"import torch": 1.0, "clearformer": 2.5, "llama.cpp": 0.5}
    calls: list[str] = []

    def once(name, settings, python):
        calls.append(name)
        return seconds[name], int(seconds[name] * 1e9)

    monkeypatch.setattr(start, "start_once", once)
    rows = measure_start({name: {} for name in seconds}, None, runs=2, advance=silent)
    assert calls == [*seconds] * 3
    assert rows[1] == StartRow("clearformer", 2.5, 2.5, 2.5, 2_500_000_000)
    found = beyond(rows, held=7)
    assert (found.seconds, found.allowed_seconds) == (1.5, 1.5)
    assert (found.bytes, found.allowed_bytes) == (1_500_000_000, 200_000_007)
    assert beyond(rows[:2], held=7).allowed_seconds is None


def test_a_start_is_timed_until_its_first_token(file) -> None:
    ours = ["generate", str(file), "a b", "--max-new-tokens", "1", "--temperature", "0", "--threads", "1"]
    seconds, peak = start_once("clearformer", {"arguments": ours}, None)
    assert seconds > 0
    assert peak > 50e6
    with pytest.raises(MachineError, match="runs clearformer ended early"):
        start_once("clearformer", {"arguments": ["generate", "no/such.gguf", "a"]}, None)


def test_the_peer_itself_writes_what_we_write(file) -> None:
    try:
        python_of(LLAMA_CPP)
    except MachineError:
        pytest.skip("make bench-setup has not run")
    prompts = [[5, 80, 200, 33, 7], [9, 8, 7, 6, 5]]
    ours = Clearformer(load(file)).write(prompts, 12)
    with LlamaCpp(gguf_of(resolve(str(file)), "float32", silent), rows=2, capacity=17, threads=1) as peer:
        theirs = peer.write(prompts, 12)
        again = peer.write(prompts, 12)
    assert theirs.tokens == again.tokens == ours.tokens
    assert theirs.prefill_seconds > 0

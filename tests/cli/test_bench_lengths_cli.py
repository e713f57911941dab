"""`bench attention` and `bench cache`: what they refuse, before anything is measured."""

from __future__ import annotations

from importlib import import_module

import pytest

from clearformer.bench.attention import AttentionRow
from clearformer.cli.bench_lengths import lengths_of
from drawing.folders import bert_folder


def test_lengths_are_read_in_thousands_too() -> None:
    assert lengths_of("4K, 1k,500,4096") == [500, 1024, 4096]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("attention", "--lengths", "1K,many"), "found 'many'"),
        (("attention", "--lengths", "0"), "found '0'"),
        (("attention", "--lengths", "99999999"), "found '99999999'"),
        (("attention", "--lengths", "²"), "found '²'"),
        (("attention", "--heads", "6", "--kv-heads", "4"), "cannot be shared evenly"),
        (("attention", "--heads", "0"), "--heads: expected at least 1"),
        (("attention", "--window", "0"), "--window: expected at least 1"),
        (("attention", "--dropout", "1"), "expected a share"),
        (("attention", "--plot", "time.jpg"), "ends in .png or .svg"),
        (("cache", "--new", "1"), "--new: expected at least 2"),
        (("cache", "--model", "bert"), "keeps no cache"),
        (("cache", "--model", "tiny-gpt", "--lengths", "64K"), "more than"),
    ],
)
def test_what_cannot_be_measured_is_refused(clearformer, tmp_path, monkeypatch, options, complaint) -> None:
    monkeypatch.chdir(tmp_path)
    bert_folder(tmp_path / "bert")
    ended = clearformer("bench", *options, "--busy-ok")
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


def test_a_kernel_that_would_not_fit_is_said_in_its_row(clearformer, monkeypatch) -> None:
    rows = [
        AttentionRow("plain", 65536, "too large", 0, None, None, None, None, 3 * 2**36, None),
        AttentionRow("tiled", 65536, "measured", 2, 1.5, 1.0, 2.0, 2.0, 2**24, 2**25),
        AttentionRow("sdpa", 65536, "failed", 0, None, None, None, None, 2**23, None),
    ]
    monkeypatch.setattr(import_module("clearformer.bench.attention"), "measure_attention", lambda *_, **__: rows)
    ended = clearformer("bench", "attention", "--busy-ok", "--threads", "1")
    assert ended.code == 0
    plain, tiled, sdpa = ended.out.splitlines()[3:6]
    assert "would not fit" in plain
    assert "196,608.0" in plain
    assert tiled.split() == ["tiled", "65,536", "1,500.0", "1,000.0", "2,000.0", "2.00×", "16.0", "32.0"]
    assert "died" in sdpa
    chinese = clearformer("--lang", "zh", "bench", "attention", "--busy-ok", "--threads", "1")
    assert "放不下" in chinese.out

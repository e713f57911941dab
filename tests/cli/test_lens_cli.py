"""`lens`: what each layer says, the ranks, the tuned lens, pictures, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from drawing.folders import bert_folder, llama_folder

TEXT = "the cat 中 sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lens")
    llama_folder(place / "llama")
    bert_folder(place / "bert")
    return place


def test_the_tables_and_the_json_say_the_same(clearformer, folder, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ended = clearformer("lens", str(folder / "llama"), TEXT)
    told = clearformer("lens", str(folder / "llama"), TEXT, "--json").json
    assert told["layers"] == [None, 0, 1]
    assert told["truth"] == [*told["tokens"][1:], None]
    said, ranks = ended.out.split("\n\n")
    last = said.splitlines()[3].split()
    assert last[0] == "1"
    assert [int(rank) for rank in ranks.splitlines()[3].split()[1:-1]] == told["ranks"][-1][:-1]
    for rank, value, top in zip(told["ranks"][-1], told["values"][-1], told["top"][-1], strict=True):
        assert rank is None or (rank == 1) == (value == top[0]["probability"])


def test_a_narrow_screen_shows_the_last_positions_and_says_so(clearformer, folder, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ended = clearformer("--lang", "zh", "lens", str(folder / "llama"), "the cat sat on the mat " * 5)
    tables = [line for line in ended.out.splitlines() if line.startswith(("1 ", "0 ", "嵌入"))]
    assert tables
    assert all(cell_len(line) <= 60 for line in tables)
    assert "个位置中的最后" in ended.err


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_a_picture_is_written_and_named_last(clearformer, folder, suffix) -> None:
    ended = clearformer("lens", str(folder / "llama"), TEXT, "--out", f"lens.{suffix}")
    assert ended.out.splitlines()[-1] == f"lens.{suffix}"
    content = Path(f"lens.{suffix}").read_bytes()
    assert suffix == "png" or "中</text>".encode() in content


def test_a_tuned_lens_says_what_it_gained(clearformer, folder) -> None:
    Path("learn.txt").write_text("the cat sat on the mat because it was tired. " * 12)
    ended = clearformer("lens", str(folder / "llama"), TEXT, "--tune", "learn.txt", "--tune-steps", "3")
    assert ended.code == 0
    assert "Tuned in 3 steps" in ended.err
    assert ended.out.startswith("The likeliest token")


def test_a_lens_is_kept_and_used_again_for_its_own_model_alone(clearformer, folder) -> None:
    Path("learn.txt").write_text("the cat sat on the mat because it was tired. " * 12)
    made = ("--tune", "learn.txt", "--tune-steps", "1", "--save", "cat.safetensors")
    told = clearformer("lens", str(folder / "llama"), TEXT, *made).err
    assert "Tuned in 1 step on" in told
    assert "--tuned cat.safetensors reads it" in told
    first = clearformer("lens", str(folder / "llama"), TEXT, *made, "--json")
    assert (first.json["tuned"], first.json["saved"]) == (True, "cat.safetensors")
    again = clearformer("lens", str(folder / "llama"), TEXT, "--tuned", "cat.safetensors", "--json")
    assert again.json == first.json | {"saved": None}
    assert again.json["values"][-1] == clearformer("lens", str(folder / "llama"), TEXT, "--json").json["values"][-1]
    llama_folder(Path("other"), intermediate_size=64)
    other = clearformer("lens", "other", TEXT, "--tuned", "cat.safetensors")
    assert (other.code, other.out) == (2, "")
    assert "cat.safetensors was tuned for" in other.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("bert", TEXT), "this model has Vector"),
        (("llama", TEXT, "--target", "x"), "--target is what an encoder-decoder should write"),
        (("llama", TEXT, "--tune-steps", "3"), "no --tune names a text"),
        (("llama", TEXT, "--save", "lens.safetensors"), "no --tune names a text"),
        (("llama", TEXT, "--tune", "short.txt", "--tuned", "x"), "found both"),
        (("llama", TEXT, "--tune", "short.txt", "--save", "short.txt"), "writing would lose it"),
        (("llama", TEXT, "--tuned", "short.txt"), "short.txt"),
        (("llama", TEXT, "--tuned", "missing.safetensors"), "missing.safetensors"),
        (("llama", TEXT, "--tune", "short.txt"), "at least 64 tokens"),
        (("llama", TEXT, "--tune", "missing.txt"), "missing.txt"),
        (("llama", TEXT, "--out", "lens.pdf"), "one of .png, .svg, .html; found lens.pdf"),
        (("llama", "the " * 1100), "the model reads 1024"),
    ],
)
def test_what_cannot_be_asked(clearformer, folder, arguments, complaint) -> None:
    Path("short.txt").write_text("the cat")
    name, *rest = arguments
    ended = clearformer("lens", str(folder / name), *rest)
    assert ended.code in (1, 2)
    assert ended.out == ""
    assert complaint in ended.err

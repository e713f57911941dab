"""`trace`: one block open, the others folded, in a table and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from clearformer.messages import inspect as messages
from drawing.folders import llama_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trace") / "tiny"
    llama_folder(place)
    return place


def test_the_table_shows_letters_beside_numbers_and_the_stream_of_every_block(clearformer, folder) -> None:
    ended = clearformer("trace", str(folder), "the cat 中")
    assert ended.code == 0
    count = int(ended.out.split(" tokens:")[0])
    assert "| cat|" in ended.out
    assert "|中|" in ended.out
    lines = [line.split("  ") for line in ended.out.splitlines()]
    cells = {line[0].strip(): [cell.strip() for cell in line if cell.strip()] for line in lines}
    assert f"= 1 4 {count} 8" in cells["decoder.blocks.0.attention.query"]
    assert "B H T K" in cells["decoder.blocks.0.attention.query"]
    assert f"1 {count} 32" in cells["decoder.blocks.0.attention_sum"][1]
    assert "decoder.blocks.1.output" in cells
    assert "decoder.blocks.1.attention.query" not in cells
    assert "G key/value heads" in ended.out
    assert "--layer all" in ended.err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_narrow_terminal_shows_fewer_numbers_and_the_meaning_under_its_row(
    clearformer, folder, monkeypatch, language
) -> None:
    whole = clearformer("--lang", language, "trace", str(folder), "the cat")
    monkeypatch.setenv("COLUMNS", "80")
    narrow = clearformer("--lang", language, "trace", str(folder), "the cat")
    assert max(cell_len(line) for line in whole.out.splitlines()) > 80
    assert all(cell_len(line) <= 80 for line in narrow.out.splitlines()[1:])
    rows = [line.split("  ") for line in whole.out.splitlines()[1:] if "  " in line]
    for row in rows:
        step, meaning = row[0], row[-1].strip()
        assert any(line.startswith(f"{step} ") for line in narrow.out.splitlines())
        assert f"    {meaning}" in narrow.out.splitlines()
    left_out = [each.text(language) for each in (messages.READS, messages.MEAN, messages.ABSMAX)]
    assert messages.TOO_NARROW.text(language, names=" · ".join(left_out)) in narrow.err
    assert not set(left_out) & set(narrow.out.splitlines()[1].split())
    assert "--json" not in whole.err


def test_a_long_text_says_that_it_shows_its_beginning(clearformer, folder) -> None:
    ended = clearformer("trace", str(folder), "the cat sat on the mat " * 8)
    assert ended.out.splitlines()[0].endswith("| …")


def test_layer_opens_one_block_or_all(clearformer, folder) -> None:
    def opened(*layer: str) -> set[str]:
        rows = clearformer("trace", str(folder), "the cat", *layer, "--json").json["rows"]
        return {row["stage"] for row in rows if row["op"] == "attention.query"}

    assert opened() == {"decoder.blocks.0"}
    assert opened("--layer", "1") == {"decoder.blocks.1"}
    assert opened("--layer", "all") == {"decoder.blocks.0", "decoder.blocks.1"}


def test_chinese(clearformer, folder) -> None:
    ended = clearformer("--lang", "zh", "trace", str(folder), "the cat")
    assert "残差流" in ended.out
    assert "查询头" in ended.out
    (row, *_) = clearformer("--lang", "zh", "trace", str(folder), "the cat", "--json").json["rows"]
    assert row["meaning"] == messages.MEANINGS["embed"].zh


@pytest.mark.parametrize(
    ("layer", "code", "complaint"),
    [("2", 2, "no layer 2; the model has 2"), ("first", 2, "a number or all, got first"), ("-1", 2, "got -1")],
)
def test_a_layer_that_there_is_not(clearformer, folder, layer, code, complaint) -> None:
    ended = clearformer("trace", str(folder), "the cat", f"--layer={layer}")
    assert (ended.code, ended.out) == (code, "")
    assert complaint in ended.err


def test_an_attention_is_written_out_in_eight_numbered_steps(clearformer, folder) -> None:
    ended = clearformer("trace", str(folder), "the cat", "--op", "attention", "--layer", "1")
    numbered = [line.split()[:2] for line in ended.out.splitlines() if line[:1].isdigit() and line[1] == " "]
    steps = [(number, name.rstrip(":")) for number, name in numbered if name.startswith("decoder.blocks.1.")]
    names = ("query", "key", "value", "product", "scores", "masked_scores", "weights", "heads")
    assert steps == [(str(n), f"decoder.blocks.1.{name}") for n, name in enumerate(names, 1)]
    assert "softmax over S" in ended.out
    assert ended.err == ""
    rows = clearformer("trace", str(folder), "the cat", "--op", "attention", "--json").json["rows"]
    assert [row["number"] for row in rows if row["number"]] == list(range(1, 9))
    assert all(row["std"] is not None for row in rows)


def test_a_spec_alone_is_traced_from_ids_to_the_loss(clearformer) -> None:
    asked = ("trace", "transformer-base", "--src-len", "12", "--tgt-len", "7", "--batch", "2")
    rows = clearformer(*asked, "--json").json["rows"]
    assert (rows[0]["in_shapes"], rows[0]["out_shape"]) == ([[2, 12]], [2, 12, 512])
    assert (rows[-1]["op"], rows[-1]["out_shape"], rows[-1]["mean"]) == ("cross_entropy", [], None)
    ended = clearformer(*asked)
    assert ended.out.startswith("Shapes of the spec alone, without weights: batch 2, 12 positions read, 7 written.")
    assert "absmax" not in ended.out
    assert "odd" not in ended.out


def test_what_is_odd_is_said_for_folded_blocks_too(clearformer, tmp_path) -> None:
    llama_folder(tmp_path / "loud", initializer_range=0.02)
    ended = clearformer("trace", str(tmp_path / "loud"), "the cat sat on the mat")
    assert "What is odd:" in ended.out or "Nothing is odd" in ended.out
    told = clearformer("trace", str(tmp_path / "loud"), "the cat sat on the mat", "--layer", "all", "--json").json
    sentences = [odd["text"] for row in told["rows"] for odd in row["odd"]]
    assert all(sentence in ended.out for sentence in sentences[:12])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("tiny-gpt", "a text"), "tiny-gpt is a spec without weights"),
        (("tiny-gpt", "--tgt-len", "3"), "--tgt-len is what a decoder beside an encoder reads"),
        (("tiny-gpt", "--src-len", "257"), "the model reads at most 256 tokens, found 257"),
        (("tiny-gpt", "--op", "cross_attention"), "no cross-attention in that layer"),
        (("tiny-gpt", "--op", "attention", "--layer", "all"), "--op attention writes out one block"),
        (("FOLDER", "a text", "--batch", "2"), "--batch sizes a trace from a spec alone"),
    ],
)
def test_a_spec_asked_wrongly(clearformer, folder, arguments, complaint) -> None:
    ended = clearformer("trace", *(str(folder) if each == "FOLDER" else each for each in arguments))
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


def test_an_empty_text(clearformer, folder) -> None:
    ended = clearformer("trace", str(folder), "")
    assert ended.code == 1
    assert "at least one token" in ended.err


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("vit",), "batch 1, 197 positions."),
        (("vit", "--src-len", "197", "--batch", "2"), "batch 2, 197 positions."),
        (("patch-forecaster",), "batch 1, 336 steps in 41 positions."),
        (("tiny-gpt", "--src-len", "1"), "batch 1, 1 position."),
        (("transformer-base",), "batch 1, 12 positions read, 7 written."),
    ],
)
def test_a_spec_alone_says_how_much_it_reads(clearformer, arguments, first) -> None:
    ended = clearformer("trace", *arguments)
    said, shapes = ended.out.split("\n", 1)
    assert said.endswith(first)
    positions = first.split(" position")[0].split()[-1]
    assert f" {positions} " in next(line for line in shapes.splitlines() if "embed" in line).split("=")[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("vit", "--src-len", "12"), "makes 197 positions; found 12"),
        (("patch-forecaster", "--src-len", "99"), "99 steps make 11 positions; the model reads 41"),
        (("patch-forecaster", "--src-len", "344"), "Ask for 336 steps"),
        (("patch-forecaster", "--src-len", "3"), "from 16, found 3"),
        (("tiny-gpt", "--layer", "99"), "no layer 99; the model has 4"),
    ],
)
def test_what_a_spec_does_not_read_or_have(clearformer, arguments, complaint) -> None:
    ended = clearformer("trace", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err

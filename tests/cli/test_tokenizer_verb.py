"""`tokenizer train|encode|decode`, against the `tokenizers` library and against each other."""

from __future__ import annotations

import io
import os
import sys

import pytest
import tokenizers

TEXT = "the cat sat on the mat; the cat ate 中文 and \t tabs\n" * 20


class Stdin:
    """Standard input that holds these bytes."""

    def __init__(self, content: bytes, terminal: bool = False) -> None:
        self.buffer = io.BytesIO(content)
        self.isatty = lambda: terminal


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_train_writes_the_file_that_the_library_reads(clearformer, corpus, tmp_path) -> None:
    out = tmp_path / "new" / "folder"
    ended = clearformer(
        *("tokenizer", "train", str(corpus), "--out", str(out), "--vocab-size", "280"),
        *("--special", "<|a|>", "--special", "<|b|>"),
    )
    path = out / "tokenizer.json"
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == str(path)
    library = tokenizers.Tokenizer.from_file(str(path))
    assert library.get_vocab_size() == 280
    assert [library.id_to_token(i) for i in (0, 1)] == ["<|a|>", "<|b|>"]
    encoded = clearformer("tokenizer", "encode", str(out), TEXT, "--json").json
    assert encoded["ids"] == library.encode(TEXT).ids
    assert sorted(os.listdir(out)) == ["tokenizer.json"]


def test_train_counts_what_it_learnt(clearformer, corpus) -> None:
    ended = clearformer("tokenizer", "train", str(corpus), "--vocab-size", "270", "--json", "--out", "here")
    library = tokenizers.Tokenizer.from_file("here/tokenizer.json")
    assert ended.json["vocabulary"] == ended.json["merges"] + 256 + ended.json["special"] == 270
    assert ended.json["text_bytes"] == len(TEXT.encode())
    assert ended.json["text_tokens"] == len(library.encode(TEXT).ids)


def test_a_failed_train_leaves_the_old_file(clearformer, corpus, tmp_path) -> None:
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer" / "tokenizer.json").write_text("old")
    for arguments in (["--vocab-size", "10"], ["absent.txt"]):
        ended = clearformer("tokenizer", "train", str(corpus), *arguments)
        assert ended.code in (1, 2)
        assert len(ended.err.splitlines()[-2:]) == 2
    assert (tmp_path / "tokenizer" / "tokenizer.json").read_text() == "old"


def test_ids_go_through_a_pipe_and_come_back_as_the_text(clearformer, tokenizer_folder, monkeypatch) -> None:
    text = "the 中文 mat\t[bold]x\x1b[31m"
    ids = clearformer("tokenizer", "encode", "--ids", str(tokenizer_folder), text).out
    monkeypatch.setattr(sys, "stdin", Stdin(ids.encode()))
    assert clearformer("tokenizer", "decode", str(tokenizer_folder)).out == text + "\n"
    assert clearformer("tokenizer", "decode", str(tokenizer_folder), *ids.split()).out == text + "\n"


def test_encode_reads_stdin_where_there_is_no_text(clearformer, tokenizer_folder, monkeypatch) -> None:
    expected = clearformer("tokenizer", "encode", str(tokenizer_folder), "the cat", "--json").json
    monkeypatch.setattr(sys, "stdin", Stdin(b"the cat"))
    assert clearformer("tokenizer", "encode", str(tokenizer_folder), "--json").json == expected
    monkeypatch.setattr(sys, "stdin", Stdin(b"", terminal=True))
    ended = clearformer("tokenizer", "encode", str(tokenizer_folder))
    assert ended.code == 2
    assert "Expected TEXT" in ended.err


def test_the_table_shows_each_token_and_no_control_characters(clearformer, tokenizer_folder) -> None:
    ended = clearformer("tokenizer", "encode", str(tokenizer_folder), "the\x1b[31m 中")
    ids = clearformer("tokenizer", "encode", str(tokenizer_folder), "the\x1b[31m 中", "--json").json["ids"]
    assert [int(line.split()[0]) for line in ended.out.splitlines()] == ids
    assert "\x1b" not in ended.out


def test_special_strings_are_text_and_special_ids_are_hidden(clearformer, tokenizer_folder) -> None:
    ids = clearformer("tokenizer", "encode", str(tokenizer_folder), "<|end|>", "--json").json["ids"]
    assert 0 not in ids
    decode = ("tokenizer", "decode", str(tokenizer_folder), "0", str(ids[0]))
    assert clearformer(*decode).out == "<\n"
    assert clearformer(*decode, "--keep-special").out == "<|end|><\n"


@pytest.mark.parametrize(("ids", "code"), [(b"1 two", 2), (b"1 999999", 1), ("１".encode(), 2)])
def test_ids_that_are_none_are_refused(clearformer, tokenizer_folder, monkeypatch, ids, code) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(ids))
    ended = clearformer("tokenizer", "decode", str(tokenizer_folder))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (code, "", 2)


def test_a_model_that_does_not_exist_gets_a_suggestion(clearformer) -> None:
    ended = clearformer("tokenizer", "encode", "smolm2-135m", "x")
    assert ended.code == 2
    assert "Did you mean smollm2-135m?" in ended.err

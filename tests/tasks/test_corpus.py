"""A text is cut without loss, encoded as its tokenizer says, and refused where there is too little of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import DataError, TokenizerError, UsageError
from clearformer.tasks.corpus import Corpus, TextData, cut
from clearformer.tasks.tokenizing import BytePair, Characters, Frame, FromModel, TokenizerChoice, obtain
from task_runs import TEXT

MARKS = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"}


def corpus(path: Path, folder: Path, choice: TokenizerChoice | None = None, **settings: object) -> Corpus:
    folder.mkdir(exist_ok=True)
    data = TextData(path=str(path), **settings)  # type: ignore[arg-type]
    return Corpus.open(data, choice or Characters(), folder, MARKS, begin="bos_token", end="eos_token")


@given(st.lists(st.text(max_size=9), max_size=5), st.floats(0.05, 0.95))
def test_the_cut_parts_make_the_whole(texts: list[str], share: float) -> None:
    parts = {split: list(part()) for split, part in cut(lambda: texts, share).items()}
    whole = "".join(texts)
    assert "".join(parts["training"]) + "".join(parts["validation"]) == whole
    assert len("".join(parts["training"])) == int(len(whole) * (1 - share))


def test_the_last_tenth_is_kept_and_every_document_is_marked(text_file: Path, tmp_path: Path) -> None:
    found = corpus(text_file, tmp_path / "run", context=32)
    at = int(len(TEXT) * 0.9)
    for split, text in {"training": TEXT[:at], "validation": TEXT[at:]}.items():
        ids = np.asarray(found.part(split).ids).tolist()
        assert ids[0] == ids[-1] == found.tokenizer.eos_id
        assert found.tokenizer.decode(ids[1:-1], skip_special=False) == text


def test_the_run_keeps_its_tokenizer_when_the_text_changes(text_file: Path, tmp_path: Path) -> None:
    first = corpus(text_file, tmp_path / "run", BytePair(300), context=32)
    files = {name: (tmp_path / "run" / name).read_bytes() for name in first.tokenizer_files()}
    assert files == first.tokenizer_files()
    text_file.write_text(TEXT.replace("cat", "dog"), encoding="utf-8")
    again = corpus(text_file, tmp_path / "run", BytePair(300), context=32)
    assert again.tokenizer_files() == files
    ids = np.asarray(again.part("training").ids).tolist()
    assert "dog" in again.tokenizer.decode(ids)


def test_validation_and_test_of_ones_own(text_file: Path, tmp_path: Path) -> None:
    lines = tmp_path / "more.jsonl.gz"
    texts = ["the cat sat", "on the mat"]
    lines.write_bytes(gzip.compress("\n".join(json.dumps({"text": text}) for text in texts).encode()))
    found = corpus(text_file, tmp_path / "run", context=32, validation=str(lines), test=str(text_file))
    assert found.part("validation").ends.tolist() == [13, 25]
    assert len(found.part("training").ids) == len(found.part("test").ids) == len(TEXT) + 2
    assert found.sizes()["validation tokens"] == 25


def test_excerpts_lie_within_documents(text_file: Path, tmp_path: Path) -> None:
    lines = tmp_path / "more.jsonl"
    lines.write_text("\n".join(json.dumps({"text": text}) for text in ["on", "the cat sat", "on the mats"]))
    found = corpus(text_file, tmp_path / "run", context=32, validation=str(lines))
    excerpts = [found.tokenizer.decode(row.tolist()) for row in found.excerpts("validation", 9, 99)]
    assert excerpts == ["the cat sat", "on the mats"]


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("One line only.\n", encoding="utf-8")
    with pytest.raises(DataError, match="has 15 tokens; a context of 16 needs at least 17") as caught:
        corpus(path, tmp_path / "run", context=16)
    assert "at most 14" in caught.value.remedy()
    path.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="holds no text"):
        corpus(path, tmp_path / "empty", context=16)
    with pytest.raises(DataError, match=r"missing\.txt"):
        corpus(tmp_path / "missing.txt", tmp_path / "none")
    with pytest.raises(DataError, match="names no data") as caught:
        Corpus.open(TextData(), Characters(), tmp_path, MARKS, end="eos_token")
    assert "tinyshakespeare, pydoc, cyclic" in caught.value.remedy()


@pytest.mark.parametrize(("name", "value"), [("share", 0.0), ("share", 1.0), ("context", 1), ("batch", 0)])
def test_settings_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"data.{name}"):
        TextData(path="x", **{name: value})  # type: ignore[arg-type]


def test_a_vocabulary_past_the_text_is_refused_only_where_one_was_asked_for(text_file: Path, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match="not 4000") as caught:
        corpus(text_file, tmp_path / "run", BytePair(4000), context=32)
    found = corpus(text_file, tmp_path / "free", BytePair(), context=32)
    assert str(found.tokenizer.vocabulary_size) in caught.value.cause()


def test_a_tokenizer_is_taken_over(minilm_folder: Path, tmp_path: Path) -> None:
    marks = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    taken = obtain(FromModel(str(minilm_folder)), tmp_path, lambda: iter(()), marks)
    first, last = (taken.added_tokens[word] for word in marks.values())
    assert Frame.of(taken) == ((first,), (last,))
    assert taken.encode("the cat") == [101, 1996, 4937, 102]
    with pytest.raises(TokenizerError, match="no bos_token"):
        obtain(FromModel(str(minilm_folder)), tmp_path, lambda: iter(()), MARKS)

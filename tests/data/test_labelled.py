"""Texts with labels, read from tables; and validation that shares no phrase with training."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.data.labelled import Table, read_labelled, whole_sentences
from clearformer.data.named import find
from clearformer.errors import DataError

ROWS = [("good, very good", "1"), ('she said "no"', "0"), ("two\nlines", "1"), ("漢字", "0")]
PLAIN = [(text.replace("\n", " "), label) for text, label in ROWS]


def put(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def read(path: Path) -> list[tuple[str, str]]:
    table = read_labelled(path)
    return list(zip(table.texts, table.labels, strict=True))


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["", ".gz"])
def test_all_kinds_of_table_say_the_same(tmp_path: Path, header: bool, end: str) -> None:
    first = ["sentence\tlabel"] if header else []
    tabs = put(tmp_path / f"a.tsv{end}", "\r\n".join([*first, *("\t".join(row) for row in PLAIN)]))
    assert read(tabs) == PLAIN
    with (tmp_path / "b.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([("Text", "Label")] if header else []), *ROWS])
    commas = put(tmp_path / f"a.csv{end}", (tmp_path / "b.csv").read_bytes().decode().replace("\r\n", "\n"))
    assert read(commas) == ROWS
    records = [json.dumps({"text": text, "label": int(label) if header else label}) for text, label in ROWS]
    assert read(put(tmp_path / f"a.jsonl{end}", "\n\n".join(records))) == ROWS


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    assert read(put(tmp_path / "a.csv", "id,Sentiment,review\n1,pos,fine\n2,neg,dull\n")) == [
        ("fine", "pos"),
        ("dull", "neg"),
    ]
    assert read(put(tmp_path / "a.tsv", "label\tphrase\npos\tfine\n")) == [("fine", "pos")]
    # A first line that names no label is an example.
    assert read(put(tmp_path / "a.tsv", "text\t1\nfine\t0\n")) == [("text", "1"), ("fine", "0")]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.tsv", "", "holds no text"),
        ("a.tsv", "sentence\tlabel\n", "holds no text"),
        ("a.tsv", "fine\t1\ndull\n", "line 2: expected a text and a label, found dull"),
        ("a.tsv", "fine\t1\n\n \t0\n", "line 3: expected"),
        ("a.tsv", "fine\t1\ndull\t\n", "line 2: expected"),
        ("a.csv", 'text,label\n"two\nlines",1\ndull\n', "line 4: expected"),
        ("a.csv", 'text,label\nfine,1\n"no end,0\nmore,1\n', "line 4: expected .* unexpected end"),
        (
            "a.csv",
            "id,phrase,label\n1,fine,0\n",
            r"column of labels but none of texts \(.*sentence.*found id, ",
        ),
        ("a.jsonl", '{"text": "a", "label": "x"}\n\n{"text": "b"}\n', "line 3: expected a text and a label"),
        ("a.jsonl", '{"text": "a", "label": 0.5}\n', "line 1: expected a text and a label"),
        ("a.jsonl", '{"text": " ", "label": "x"}\n', "line 1: expected a text and a label"),
        ("a.jsonl", '{"text": "a", "label": "\\ud800"}\n', "line 1: .* is half a character"),
        ("a.jsonl", '{"label": "x"}\n', 'line 1: expected a JSON object with "text"'),
    ],
)
def test_what_is_no_table_is_named_by_its_line(tmp_path: Path, name: str, content: str, match: str) -> None:
    with pytest.raises(DataError, match=match):
        read_labelled(put(tmp_path / name, content))


def within(phrase: str, text: str) -> bool:
    return f" {' '.join(phrase.split())} " in f" {' '.join(text.split())} "


@given(st.lists(st.text("abc ", min_size=1, max_size=9).filter(str.strip), min_size=1, max_size=25), st.integers(0, 5))
@settings(max_examples=200)
def test_no_training_text_lies_within_a_held_one(texts: list[str], seed: int) -> None:
    """Against the definition, word by word, on random texts."""
    table = Table(tuple(texts), tuple(str(n) for n in range(len(texts))))
    training, validation = whole_sentences(table, 0.3, seed)
    whole = {
        " ".join(text.split())
        for text in texts
        if not any(within(text, other) and text.split() != other.split() for other in texts)
    }
    held = [" ".join(text.split()) for text in validation.texts]
    assert len(held) == len(set(held)) == max(1, round(0.3 * len(whole)))
    assert set(held) <= whole
    expected = [n for n, text in enumerate(texts) if not any(within(text, other) for other in validation.texts)]
    assert [int(label) for label in training.labels] == expected
    assert training.texts == tuple(texts[n] for n in expected)
    assert all(texts[int(n)] == text for n, text in zip(validation.labels, validation.texts, strict=True))


def test_sst2_validation_shares_no_phrase_with_training() -> None:
    try:
        folder = find("sst2")
    except DataError:
        pytest.skip("set CLEARFORMER_DATA to a folder with sst2/")
    table = read_labelled(folder / "train.tsv")
    assert len(table.texts) > 60_000
    assert set(table.labels) == {"0", "1"}
    training, validation = whole_sentences(table, 0.1)
    assert 500 < len(validation.texts) < 1000
    assert len(training.texts) > 0.8 * len(table.texts)
    text = "\n".join(f" {' '.join(sentence.split())} " for sentence in validation.texts)
    assert not [phrase for phrase in training.texts if f" {' '.join(phrase.split())} " in text]
    again = whole_sentences(table, 0.1)
    assert again == (training, validation)

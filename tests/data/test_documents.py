"""Text files as documents and lines; what is no text is named with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from clearformer.data.documents import documents, json_lines, lines
from clearformer.errors import DataError


def put(path: Path, content: str | bytes) -> Path:
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_text_is_one_document_and_a_json_line_is_one_each(tmp_path: Path, end: str) -> None:
    text = "Füße\r\n\n漢字 \x85 \u2028 end"
    assert list(documents(put(tmp_path / f"a.txt{end}", text))) == [text]
    records = "".join(json.dumps({"text": part, "more": 1}) + "\n\n" for part in ("one\ntwo", "", "three"))
    assert list(documents(put(tmp_path / f"a.jsonl{end}", records))) == ["one\ntwo", "", "three"]


def test_a_folder_is_its_text_files_by_name(tmp_path: Path) -> None:
    put(tmp_path / "b.txt", "second")
    put(tmp_path / "a.jsonl", '{"text": "first"}')
    put(tmp_path / "c.txt.gz", "third")
    put(tmp_path / "a.csv", "no text")
    assert list(documents(tmp_path)) == ["first", "second", "third"]


@pytest.mark.parametrize("end", ["", ".gz"])
def test_only_line_feeds_end_a_line(tmp_path: Path, end: str) -> None:
    """Parallel files would otherwise come apart at characters that Python, too, calls line ends."""
    path = put(tmp_path / f"a.de{end}", "\ufeffone\r\n\ntwo \u2028 still\x0b two\x85\nlast")
    assert list(lines(path)) == ["one", "", "two \u2028 still\x0b two\x85", "last"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert list(documents(put(tmp_path / "a.txt", "\ufeffword"))) == ["word"]


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.txt", b"", "holds no text"),
        ("a.jsonl", b'\n\n{"text": ""}\n', "holds no text"),
        ("a.txt", "füße ".encode() + b"\xff!", r"not UTF-8 text \(byte 7\)"),
        ("a.jsonl", b'{"text": "a"}\n\xfe', r"not UTF-8 text \(byte 14\)"),
        ("a.jsonl", b'{"text": "a"}\n\n["text"]\n', r"line 3: expected a JSON object with \"text\""),
        ("a.jsonl", b'{"text": 5}\n', "line 1: expected"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "b \\ud800"}\n', "line 2: .* is half a character"),
        ("a.jsonl", b'{"text": "a"\n', "line 1: expected"),
        ("a.jsonl", b"[" * 100_000, "line 1: expected"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, name: str, content: bytes, match: str) -> None:
    path = put(tmp_path / name, content)
    with pytest.raises(DataError, match=match) as caught:
        list(documents(path))
    assert str(path) in str(caught.value)


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.txt cannot be read: No such file"):
        list(documents(tmp_path / "none.txt"))
    with pytest.raises(DataError, match="holds no text file"):
        list(documents(tmp_path))
    whole = gzip.compress(bytes(range(256)) * 40)
    for content in (whole[:-9], b"plain", whole[:10] + b"\xff" + whole[11:]):
        (tmp_path / "cut.txt.gz").write_bytes(content)
        with pytest.raises(DataError, match="no whole gzip file"):
            list(documents(tmp_path / "cut.txt.gz"))


def test_json_lines_tell_where_they_stood(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '\n{"a": "x"}\n\n{"a": "y", "b": 1}\n')
    assert list(json_lines(path, "a")) == [(2, {"a": "x"}), (4, {"a": "y", "b": 1})]

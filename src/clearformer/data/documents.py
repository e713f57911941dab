"""Text files as documents: .txt (the whole file is one), .jsonl (one a line), plain or .gz, or a folder of them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from clearformer.errors import DataError
from clearformer.messages import data as say

_KINDS = (".txt", ".jsonl", ".txt.gz", ".jsonl.gz")


def documents(path: Path) -> Iterator[str]:
    """The documents of a file, or of all text files of a folder in the order of their names.

    Raises DataError, naming file and line or byte, for what is missing, no UTF-8, no JSON, or empty.
    """
    files = _files(path)
    found = False
    for file in files:
        for document in _of_file(file):
            found = found or bool(document)
            yield document
    if not found:
        raise DataError(say.EMPTY, path=path)


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file, plain or .gz, without their ends. Raises DataError."""
    with _errors(path), _open(path) as file:
        offset = 0
        for line in file:
            yield _text(line, path, offset).rstrip("\r\n")
            offset += len(line)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(_KINDS) and file.is_file())
    if not files:
        raise DataError(say.NO_TEXTS, path=path, known=", ".join(_KINDS))
    return files


def _of_file(path: Path) -> Iterator[str]:
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        yield from (record["text"] for _, record in json_lines(path, "text"))
        return
    with _errors(path), _open(path) as file:
        content = file.read()
    yield _text(content, path, 0)


def json_lines(path: Path, *texts: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, its JSON object), empty lines left out; the named keys must hold strings. Raises DataError."""
    expected = ", ".join(f'"{key}"' for key in texts)
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in texts):
            raise DataError(say.BAD_JSON_LINE, path=path, line=number, expected=expected, found=line[:60])
        for key in texts:
            require_whole(record[key], path, number)
        yield number, record


def require_whole(text: str, path: Path, line: int) -> None:
    """Raises DataError for half a character, which JSON can write as an escape and no text can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(say.HALF_CHARACTER, path=path, line=line, found=text[error.start : error.end]) from error


def _open(path: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb")


def _text(content: bytes, path: Path, offset: int) -> str:
    try:
        return content.decode("utf-8-sig" if offset == 0 else "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(say.NOT_UTF8, path=path, offset=offset + error.start) from error


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """What the system and gzip say becomes DataError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(say.BAD_GZIP, path=path, detail=error) from error
    except OSError as error:
        raise DataError(say.NO_FILE, path=path, detail=error.strerror or error) from error

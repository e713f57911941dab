"""Small text and JSON files of unknown origin, read within bounds."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages

# The largest published tokenizer.json files have about 35 MB.
LARGEST_FILE = 64 * 2**20


def checked_text(text: str) -> str:
    """The text itself, or `TokenizerError` if it is no string or holds half a surrogate pair."""
    if not isinstance(text, str):
        raise TokenizerError(messages.NOT_TEXT, found=type(text).__name__)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TokenizerError(messages.LONE_SURROGATE, position=error.start) from None
    return text


def read_text(path: Path, *, limit: int = LARGEST_FILE) -> str:
    """The whole file as UTF-8. Raises `TokenizerError` if it is missing, no regular file, too large or not UTF-8."""
    if not path.is_file():
        raise TokenizerError(messages.FILE_MISSING, path=path, name=path.name)
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise TokenizerError(messages.FILE_UNREADABLE, path=path, detail=error.strerror) from None
    if len(data) > limit:
        raise TokenizerError(messages.FILE_TOO_LARGE, path=path, limit=limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TokenizerError(messages.FILE_UNREADABLE, path=path, detail=error) from None


def read_json(path: Path, *, limit: int = LARGEST_FILE) -> dict[str, Any]:
    """The JSON object in a file. Raises `TokenizerError` if there is none."""
    text = read_text(path, limit=limit)
    try:
        contents = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(messages.NOT_JSON, path=path, detail=error) from None
    if not isinstance(contents, dict):
        raise TokenizerError(messages.NOT_JSON, path=path, detail=type(contents).__name__)
    return contents


def write_json(path: Path, contents: dict[str, Any]) -> None:
    """Write beside the file, then rename, so that a crash leaves the old file or the new one.

    Raises `TokenizerError` if it cannot be written; then nothing of it is left.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=".partial-", delete=False
        ) as file:
            try:
                json.dump(contents, file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o666 & ~_umask())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise TokenizerError(messages.FILE_UNWRITABLE, path=path, detail=error.strerror or error) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

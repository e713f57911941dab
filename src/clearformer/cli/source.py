"""Text from the outside: an argument, standard input or a file, each UTF-8 or refused by name."""

from __future__ import annotations

import sys
from pathlib import Path

from clearformer.errors import UsageError
from clearformer.messages import cli as say


def text_or_stdin(text: str | None, name: str) -> str:
    """The argument, or standard input where there is none. Raises UsageError if neither gives text."""
    if text is not None:
        return argument(text, name)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(say.NO_INPUT, name=name)
    return decoded(sys.stdin.buffer.read(), "stdin")


def argument(text: str, name: str) -> str:
    """An argument's text. Raises UsageError naming the first byte that is no UTF-8."""
    return decoded(_argument_bytes(text), name)


def text_file(path: Path) -> str:
    """A whole text file. Raises UsageError if it cannot be read or is not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(say.SYSTEM, path=path, detail=error.strerror or error) from None
    return decoded(content, str(path))


def decoded(content: bytes, source: str) -> str:
    """Bytes as UTF-8 text. Raises UsageError naming `source` and the first byte that is none."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{content[error.start]:02x}"
        raise UsageError(say.NOT_UTF8, source=source, byte=byte, position=error.start) from None


def _argument_bytes(text: str) -> bytes:
    """Python passes bytes of an argument that are no UTF-8 on as the lone surrogates U+DC80 to U+DCFF."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")

"""What a Hub model consists of, and which of its files are wanted: weights without code, JSON, tokenizers; no others.

Names and sizes come from a server: both are checked before a byte is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from glob import escape
from pathlib import PurePosixPath

from clearformer.errors import StoreError, UsageError
from clearformer.messages import store as say

_WEIGHTS = ("model.safetensors", "model-?????-of-?????.safetensors")
_PICKLES = ("pytorch_model.bin", "pytorch_model-?????-of-?????.bin")
# Beside the weights: configs, indices, tokenizers, templates.
_TEXTS = ("*.json", "*.jinja", "*.model", "*.spm", "vocab.txt", "merges.txt")
# Folders hold other frameworks' copies; those that sentence-transformers numbers hold what stands behind the model.
_FOLDERS = ("[!0-9]*/*",)
# The largest published tokenizer.json has about 35 MB.
LARGEST_TEXT = 64 << 20
MOST_FILES = 10_000

_NAME = r"[A-Za-z0-9][\w.-]{0,95}"
_MODEL = re.compile(
    rf"(?P<id>{_NAME}/{_NAME})(?:@(?P<revision>[\w.][\w./-]{{0,199}}?))?(?::(?P<tag>[\w.-][\w./-]{{0,199}})|/(?P<file>[\w.-]+\.gguf))?",
    re.ASCII,
)


@dataclass(frozen=True)
class HubName:
    """`org/name`, at a `revision` (branch, tag or commit) or the latest, and of several GGUF files the one meant.

    `file` is a file's name within the model, or as much of its end as tells it from the others: `Q4_K_M`.
    """

    id: str
    file: str | None = None
    revision: str | None = None

    def __str__(self) -> str:
        return self.id + (f"@{self.revision}" if self.revision else "") + (f":{self.file}" if self.file else "")


def hub_name(model: str) -> HubName | None:
    """`org/name`, with `@REVISION`, with `/FILE.gguf` or `:FILE` behind it; None for what cannot be on the Hub."""
    found = _MODEL.fullmatch(model)
    if found is None or ".." in model or "--" in found["id"] or found["id"].endswith((".git", ".ipynb")):
        return None
    return HubName(found["id"], found["tag"] or found["file"], found["revision"])


@dataclass(frozen=True)
class HubFile:
    """One file by its path within the model, and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class Wanted:
    """Which files to fetch, as huggingface_hub's patterns; `pickles` where these are the weights, `file` where one GGUF
    file is all."""

    patterns: tuple[str, ...]
    pickles: bool = False
    file: str | None = None
    ignored: tuple[str, ...] = _FOLDERS


AS_FOLDER = Wanted(_WEIGHTS + _TEXTS)
AS_PICKLES = Wanted(_PICKLES + _TEXTS, pickles=True)


def wanted_of(name: HubName, files: Iterable[str]) -> Wanted:
    """Safetensors if there are any, else a GGUF file, else pickles. Raises UsageError where several GGUF files could be
    meant, StoreError where there is nothing."""
    names = sorted(files)
    if name.file:
        return _one_file(name, [each for each in names if each.endswith(".gguf")])
    if matching(AS_FOLDER, names, _WEIGHTS) and "config.json" in names:
        return AS_FOLDER
    if len(ggufs := [each for each in names if each.endswith(".gguf")]) == 1:
        return _exactly(ggufs[0])
    if ggufs:
        raise UsageError(say.HUB_SEVERAL, name=name.id, files=", ".join(ggufs), first=ggufs[0])
    if matching(AS_PICKLES, names, _PICKLES) and "config.json" in names:
        return AS_PICKLES
    raise StoreError(say.HUB_NO_WEIGHTS, name=name.id)


def matching(wanted: Wanted, names: Iterable[str], patterns: Iterable[str] = ()) -> list[str]:
    """The names that would be fetched, by huggingface_hub's own reading of its patterns."""
    from huggingface_hub.utils import filter_repo_objects

    allowed = list(patterns or wanted.patterns)
    return list(filter_repo_objects(names, allow_patterns=allowed, ignore_patterns=list(wanted.ignored)))


def check(name: HubName, files: Iterable[HubFile]) -> None:
    """Refuse a listing that no honest model has. Raises StoreError."""
    found = list(files)
    if len(found) > MOST_FILES:
        raise StoreError(say.HUB_TOO_MANY, name=name.id, limit=MOST_FILES, found=len(found))
    for file in found:
        parts = PurePosixPath(file.name).parts
        if not file.name.isprintable() or "\\" in file.name or file.name.startswith("/") or ".." in parts:
            raise StoreError(say.HUB_BAD_FILE, name=name.id, file=file.name)
        if not file.name.endswith((".safetensors", ".gguf", ".bin")) and file.size > LARGEST_TEXT:
            raise StoreError(say.HUB_TOO_LARGE, name=name.id, file=file.name, limit=LARGEST_TEXT, found=file.size)


def _one_file(name: HubName, ggufs: list[str]) -> Wanted:
    assert name.file
    meant = name.file.lower()
    found = [each for each in ggufs if each == name.file] or [
        each for each in ggufs if each.lower().removesuffix(".gguf").endswith(meant.removesuffix(".gguf"))
    ]
    if len(found) == 1:
        return _exactly(found[0])
    if found:
        raise UsageError(say.HUB_SEVERAL, name=name.id, files=", ".join(found), first=found[0])
    raise StoreError(say.HUB_NO_FILE, name=name.id, file=name.file, files=", ".join(ggufs) or "–")


def _exactly(file: str) -> Wanted:
    return Wanted((escape(file),), file=file, ignored=())

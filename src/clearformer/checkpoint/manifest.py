"""manifest.json: the size and SHA-256 of each file of a folder, so that a flipped bit or a lost tail is noticed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clearformer.checkpoint.atomic import write_bytes
from clearformer.checkpoint.reading import open_regular, read_json
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

MANIFEST = "manifest.json"
MAX_MANIFEST = 10_000_000


@dataclass(frozen=True)
class Entry:
    """One file's size in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Files by their path within the folder, and where they came from."""

    source: str
    files: Mapping[str, Entry]


def write_manifest(folder: Path, source: str = "") -> Manifest:
    """Hash every file of the folder and write its manifest, atomically. Raises CheckpointError."""
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    files = {path.relative_to(folder).as_posix(): hash_file(path) for path in paths}
    content = {
        "source": source,
        "files": {name: {"bytes": entry.size, "sha256": entry.sha256} for name, entry in files.items()},
    }
    write_bytes(folder / MANIFEST, (json.dumps(content, indent=2) + "\n").encode())
    return Manifest(source, files)


def read_manifest(folder: Path) -> Manifest:
    """The manifest as written; the files are not looked at. Raises CheckpointError."""
    path = folder / MANIFEST
    content = read_json(path, MAX_MANIFEST)
    source, listed = content.get("source"), content.get("files")
    if not isinstance(source, str) or not isinstance(listed, dict):
        raise CheckpointError(say.BAD_MANIFEST, path=path, name="files")
    return Manifest(source, {name: _entry(name, value, path) for name, value in listed.items()})


def check_manifest(folder: Path, *, contents: bool = True) -> Manifest:
    """Compare each listed file with the manifest, sizes alone if not `contents`. Raises CheckpointError, by name."""
    manifest = read_manifest(folder)
    for name, entry in manifest.files.items():
        path = folder / name
        found = hash_file(path) if contents else Entry(_size(path), entry.sha256)
        if found.size != entry.size:
            raise CheckpointError(say.SIZE_DIFFERS, path=path, expected=entry.size, found=found.size)
        if found.sha256 != entry.sha256:
            raise CheckpointError(say.HASH_DIFFERS, path=path, expected=entry.sha256, found=found.sha256)
    return manifest


def hash_file(path: Path) -> Entry:
    """Size and SHA-256 of a regular file. Raises CheckpointError."""
    file, size = open_regular(path)
    with file:
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
        return Entry(size, digest.hexdigest())


def _size(path: Path) -> int:
    file, size = open_regular(path)
    file.close()
    return size


def _entry(name: str, value: object, path: Path) -> Entry:
    parts = PurePosixPath(name).parts
    if isinstance(value, dict) and parts and not name.startswith("/") and ".." not in parts and "\0" not in name:
        size, sha256 = value.get("bytes"), value.get("sha256")
        if type(size) is int and isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256):
            return Entry(size, sha256)
    raise CheckpointError(say.BAD_MANIFEST, path=path, name=name)

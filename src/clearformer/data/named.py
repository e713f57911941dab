"""The named sets: looked for in CLEARFORMER_DATA, then in the cache, then fetched once from their publisher."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from pathlib import Path

from clearformer.checkpoint.atomic import new_file
from clearformer.errors import DataError
from clearformer.messages import data as say
from clearformer.messages import did_you_mean
from clearformer.store.places import Progress, cache_errors, home
from clearformer.store.pull import silent

_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"
_SHAKESPEARE = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/"
_ETT = "https://raw.githubusercontent.com/zhouhaoyi/ETDataset/main/ETT-small/"
_PIECE = 1 << 16
_PATIENCE_S = 30


@dataclass(frozen=True)
class File:
    """One file of a set. Without a `url` its publisher has no such file, and the user brings it."""

    name: str
    url: str | None = None
    size: int = 0
    sha256: str = ""


SETS: dict[str, tuple[File, ...]] = {
    "multi30k": (
        File(
            "train.de.gz",
            _MULTI30K + "train.de.gz",
            637044,
            "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        ),
        File(
            "train.en.gz",
            _MULTI30K + "train.en.gz",
            568929,
            "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        ),
        File(
            "val.de.gz",
            _MULTI30K + "val.de.gz",
            24681,
            "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        ),
        File(
            "val.en.gz",
            _MULTI30K + "val.en.gz",
            21650,
            "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        ),
        File(
            "test_2016_flickr.de.gz",
            _MULTI30K + "test_2016_flickr.de.gz",
            22890,
            "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        ),
        File(
            "test_2016_flickr.en.gz",
            _MULTI30K + "test_2016_flickr.en.gz",
            21077,
            "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
        ),
    ),
    "tinyshakespeare": (
        File(
            "input.txt",
            _SHAKESPEARE + "input.txt",
            1115394,
            "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        ),
    ),
    "ett": (
        File(
            "ETTh1.csv", _ETT + "ETTh1.csv", 2589657, "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066"
        ),
    ),
    "sst2": (
        File("train.tsv"),
        File("dev.tsv"),
        File("test.tsv"),
    ),
}
PYDOC = "pydoc"
NAMES = (*SETS, PYDOC)


def find(name: str, *, progress: Progress = silent) -> Path:
    """The folder of a named set, all its files there. Raises DataError saying which file to put where, if any lacks.

    A file that is looked for in CLEARFORMER_DATA is taken as it is; one that is fetched must have the known SHA-256.
    """
    if name not in NAMES:
        raise DataError(say.UNKNOWN_SET, known=", ".join(NAMES), found=name, hint=did_you_mean(name, NAMES))
    given = os.environ.get("CLEARFORMER_DATA")
    if given and name != PYDOC and all((Path(given, name) / file.name).is_file() for file in SETS[name]):
        return Path(given, name)
    folder = home() / "data" / name
    with cache_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if name == PYDOC:
        return _write_pydoc(folder)
    for file in SETS[name]:
        if not (folder / file.name).is_file():
            _fetch(name, file, folder, progress)
    return folder


def _fetch(name: str, file: File, folder: Path, progress: Progress) -> None:
    """Download beside, compare, rename. No more than the known size is read."""
    if file.url is None:
        raise DataError(say.NO_PUBLISHER, name=name, file=file.name, folder=folder)
    about = {"name": name, "file": file.name, "url": file.url, "folder": folder}
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        raise DataError(say.CANNOT_FETCH, **about, detail="HF_HUB_OFFLINE")
    digest, done = hashlib.sha256(), 0
    with new_file(folder / file.name) as temporary:
        try:
            with urllib.request.urlopen(file.url, timeout=_PATIENCE_S) as answer, temporary.open("wb") as target:
                while done <= file.size and (piece := answer.read(_PIECE)):
                    digest.update(piece)
                    target.write(piece)
                    done += len(piece)
                    progress(done, file.size)
                # A connection that breaks off reads like the end of the file.
                if done <= file.size and (lacking := getattr(answer, "length", None)):
                    raise IncompleteRead(b"", lacking)
        except (OSError, HTTPException) as error:
            raise DataError(say.CANNOT_FETCH, **about, detail=str(error)) from error
        if digest.hexdigest() != file.sha256:
            values = {"expected": file.sha256, "found": digest.hexdigest()}
            raise DataError(say.OTHER_CONTENT, url=file.url, file=file.name, folder=folder, **values)


def _write_pydoc(folder: Path) -> Path:
    """The Python language reference, as `pydoc` has it: a text of half a megabyte that needs no network."""
    path = folder / "topics.txt"
    if not path.is_file():
        from pydoc_data.topics import topics

        with new_file(path) as temporary:
            temporary.write_text("\n".join(topics[name] for name in sorted(topics)), encoding="utf-8")
    return folder

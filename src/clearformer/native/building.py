"""Compiling the kernels into one library. Standard library only: the package's build runs this file before all else.

Every instruction set is a file compiled with its own flags, and chosen when the library runs: what is built here runs
on every processor of this architecture.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).parent / "cpp"
LIBRARY = Path(__file__).parent / "clearformer_native.so"

FLAGS = ("-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-ffp-contract=off", "-pthread")
WARNINGS = ("-Wall", "-Wextra", "-Wno-maybe-uninitialized", "-Wno-uninitialized", "-Wno-ignored-attributes")
_AVX2 = ("-mavx2", "-mfma", "-mf16c")
_AVX512 = ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni")
INSTRUCTIONS = {"path_avx2.cpp": _AVX2, "path_avx512.cpp": (*_AVX2, *_AVX512)}
_X86 = ("x86_64", "AMD64")


class NotBuiltError(Exception):
    """The library could not be built; the words say why."""


def compiler() -> list[str] | None:
    """The C++ compiler's command: what CXX names, else the first of the usual ones; None where there is none."""
    if named := shlex.split(os.environ.get("CXX", "")):
        return named if shutil.which(named[0]) else None
    found = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    return [found] if found else None


def sources() -> list[Path]:
    """The files of this architecture."""
    every = sorted(SOURCES.glob("*.cpp"))
    return [path for path in every if platform.machine() in _X86 or path.name not in INSTRUCTIONS]


def stale(library: Path = LIBRARY) -> bool:
    """Whether a source is newer than the library, or there is none."""
    if not library.exists():
        return True
    built = library.stat().st_mtime
    return any(path.stat().st_mtime > built for path in SOURCES.iterdir())


def build(library: Path = LIBRARY, *, extra: tuple[str, ...] = ()) -> Path:
    """Compile every source and link them; the old library stays until the new one is whole. Raises NotBuiltError."""
    if os.name != "posix":
        raise NotBuiltError(f"the kernels are written for Linux and macOS, not {platform.system()}")
    if (command := compiler()) is None:
        raise NotBuiltError("no C++ compiler was found")
    with tempfile.TemporaryDirectory() as folder:
        objects = [Path(folder) / f"{path.stem}.o" for path in sources()]
        compiles = [
            [*command, *FLAGS, *WARNINGS, *extra, *INSTRUCTIONS.get(path.name, ()), "-c", str(path), "-o", str(made)]
            for path, made in zip(sources(), objects, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(_run, compiles))
        static = ["-static-libstdc++", "-static-libgcc"] if platform.system() == "Linux" else []
        partial = library.with_suffix(f".{os.getpid()}.partial")
        try:
            _run([*command, "-shared", "-pthread", *extra, *static, *map(str, objects), "-o", str(partial)])
            partial.replace(library)
        finally:
            partial.unlink(missing_ok=True)
    return library


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuiltError(f"{command[0]} did not run: {error}") from error
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise NotBuiltError(next((line for line in words if "error" in line), words[0] if words else "it failed"))


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n")
    except NotBuiltError as error:
        sys.exit(f"Not built: {error}.")

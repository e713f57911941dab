"""llama.cpp beside us: the same weights as a GGUF file of our own exporter, read in a process of its environment."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from types import TracebackType

from clearformer.bench.children import Child
from clearformer.bench.contestant import Stopwatch, Written
from clearformer.bench.environments import LLAMA_CPP, python_of
from clearformer.checkpoint.gguf_blocks import Kind
from clearformer.errors import MachineError
from clearformer.export_gguf import export_gguf
from clearformer.messages import bench as messages
from clearformer.store import Located, home
from clearformer.store.places import Progress, cache_errors

KINDS: dict[str, Kind] = {"float32": "f32", "bfloat16": "bf16", "int8": "q8_0", "int4": "q4_0"}
"""The peer's type beside each of ours."""
CHILD = "clearformer.bench.llama_cpp_child"


class LlamaCpp:
    """A contestant in a child of its own. Raises MachineError where its environment is absent or it cannot load."""

    name = "llama.cpp"

    def __init__(self, file: Path, *, rows: int, capacity: int, threads: int) -> None:
        told = {"task": "write", "file": str(file), "rows": rows, "capacity": capacity, "threads": threads}
        self._child = Child(CHILD, told, python=python_of(LLAMA_CPP))
        if not self._child.alive:
            with self._child:
                self._require_alive()
        self.version = str(self._child.about["version"])

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        found = self._child.run(prompts=[list(prompt) for prompt in prompts], new=new)
        self._require_alive()
        assert found is not None
        return Written(tuple(map(tuple, found["tokens"])), Stopwatch(found["started"], found["marks"]))

    def __enter__(self) -> LlamaCpp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.__exit__(kind, error, trace)

    def _require_alive(self) -> None:
        if not self._child.alive:
            raise MachineError(messages.PEER_DIED, name=self.name, detail=self._child.last_words or "–")


def gguf_of(located: Located, dtype: str, progress: Progress) -> Path:
    """The model as a GGUF file of the peer's type, exported once and kept in the cache under `bench`.

    Raises what `export_gguf` raises for a model that llama.cpp has no word for.
    """
    kind = KINDS[dtype]
    folder = home() / "bench"
    file = folder / f"{located.path.stem}-{_identity(located.path)}-{kind}.gguf"
    if not file.exists():
        with cache_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.gguf")
        try:
            export_gguf(located.path, partial, kind, writing=progress)
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
    return file


def _identity(path: Path) -> str:
    """Other weights under the same name, or another exporter, make another file."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    stamps = [(str(each.resolve()), each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    return hashlib.sha256(repr((stamps, metadata.version("clearformer"))).encode()).hexdigest()[:12]

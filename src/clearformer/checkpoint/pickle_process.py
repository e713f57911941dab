"""A legacy pickle of weights becomes safetensors, in a process of its own that may do nothing else.

`pickle_worker` is that process: an empty environment, two inherited descriptors, limits of memory and time above what
torch itself takes. What it writes is checked here as any file from outside is.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, NoReturn

from clearformer.checkpoint.pickle_worker import SWELLING
from clearformer.checkpoint.reading import open_regular
from clearformer.checkpoint.safetensors_file import SafetensorsFile, open_safetensors
from clearformer.errors import CheckpointError
from clearformer.messages import Failure
from clearformer.messages import pickles as say

# Above torch's own footprint: the file once as read, once as written, and some room to work.
MEMORY = 256 << 20
MEMORY_A_BYTE = 2
# Processor time: reading is a copy, at far more than ten megabytes a second.
SECONDS = 10
BYTES_A_SECOND = 10 << 20
# By the clock, a slow disk and the import of torch included.
PATIENCE = 120
_HEADER = 16 << 20
_LONGEST_ANSWER = 4096

_FAILURES: dict[object, Failure] = {
    "compressed": say.COMPRESSED,
    "other": say.NOT_TENSORS,
    "sparse": say.NOT_DENSE,
    "swells": say.SWELLS,
    "memory": say.TOO_HUNGRY,
    "forbidden": say.REACHED_OUT,
    "pickle": say.REFUSED,
    "disk": say.NOT_WRITTEN,
}


def convert_pickle(path: Path, target: Path) -> SafetensorsFile:
    """Write the tensors of the pickle at `path` into a new safetensors file `target`. Raises CheckpointError."""
    source, size = open_regular(path)
    with source, target.open("xb") as out, tempfile.TemporaryFile() as said:
        code = _run(source, size, out, said)
        said.seek(0)
        answer = _answer(said.read(_LONGEST_ANSWER))
    if code or "tensors" not in answer:
        target.unlink()
        _explain(path, size, code, answer)
    return open_safetensors(target)


def _run(source: BinaryIO, size: int, out: BinaryIO, said: BinaryIO) -> int:
    """The worker's exit code; None of what it does outlives this call."""
    limits = (memory_for(size), SECONDS + size // BYTES_A_SECOND, SWELLING * size + _HEADER)
    script = Path(__file__).with_name("pickle_worker.py")
    descriptors = (source.fileno(), out.fileno())
    # -I: neither the user's environment nor the current folder may choose what is imported.
    child = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", str(script), *map(str, descriptors + limits)],
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.DEVNULL,
        env={},
        cwd=script.anchor,
        pass_fds=descriptors,
        start_new_session=True,
    )
    try:
        return child.wait(PATIENCE + 10 * limits[1])
    except subprocess.TimeoutExpired:
        return -signal.SIGXCPU
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def memory_for(size: int) -> int:
    """Bytes that the worker may take beyond torch's own footprint for a file of this size."""
    return MEMORY + MEMORY_A_BYTE * size


def _answer(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _explain(path: Path, size: int, code: int, answer: dict[str, object]) -> NoReturn:
    if code == -signal.SIGXCPU:
        raise CheckpointError(say.TOO_SLOW, path=path, seconds=SECONDS + size // BYTES_A_SECOND)
    if (failure := _FAILURES.get(answer.pop("error", None))) is None:
        raise CheckpointError(say.WORKER_LOST, path=path, code=code)
    answer.setdefault("limit", memory_for(size))
    raise CheckpointError(failure, path=path, **answer)

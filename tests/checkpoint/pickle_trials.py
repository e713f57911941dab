"""Many files through the worker's own functions, each in a forked child under its limits; torch is imported once.

Run as a script: `FOLDER SECONDS` with the files in FOLDER; prints one JSON object, name → [answer, exit code].
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from clearformer.checkpoint import pickle_worker
from clearformer.checkpoint.pickle_process import memory_for


def main(folder: Path, seconds: int) -> None:
    pickle_worker.warm_up()
    print(json.dumps({path.name: trial(path, seconds) for path in sorted(folder.iterdir())}))


def trial(path: Path, seconds: int) -> tuple[object, int]:
    reading, writing = os.pipe()
    out = os.open(f"{path}.out", os.O_WRONLY | os.O_CREAT)
    if not (child := os.fork()):
        with path.open("rb") as source:
            size = path.stat().st_size
            pickle_worker.limit_process(memory_for(size), seconds, 1 << 24)
            os.write(writing, json.dumps(pickle_worker.answer(source, size, out)).encode())
        os._exit(0)
    os.close(writing)
    os.close(out)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read(10_000)
    _, status = os.waitpid(child, 0)
    return json.loads(said or "null"), os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

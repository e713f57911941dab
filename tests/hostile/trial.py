"""Many damaged files of one kind, read in this process under the law; the outcome as one JSON object.

Run as a script: `KIND COUNT SEED FOLDER`. The law: one of the kind's errors or success; two seconds of processor time;
no more memory than twice the file and 256 MB; nothing opened but the file. The file at fault is left in FOLDER.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from hostile.kinds import FileKind, kind_of
from hostile.watch import Watch

SECONDS, MEMORY = 2.0, 256 << 20
# Late imports and first uses are not the file's doing.
_WARM = 150
NAMES = {"safetensors": "model.safetensors", "gguf": "m.gguf", "config": "config.json", "tokenizer": "tokenizer.json"}


def main(name: str, count: int, seed: int, folder: Path) -> None:
    warnings.simplefilter("ignore")
    kind, path, watch = kind_of(name), folder / NAMES[name], Watch()
    for number in range(_WARM):
        path.write_bytes(kind.draw(random.Random(f"warm {number}")))
        outcome(kind, path)
    ends: Counter[str] = Counter()
    slowest = 0.0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    for number in range(count):
        content = kind.draw(random.Random(f"{seed} {number}"))
        path.write_bytes(content)
        resource.setrlimit(resource.RLIMIT_AS, (mapped() + MEMORY + 2 * len(content), hard))
        started = time.process_time()
        with watch.armed(folder):
            end = outcome(kind, path)
        seconds = time.process_time() - started
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        slowest = max(slowest, seconds)
        ends[end] += 1
        if end not in {"read", *(each.__name__ for each in kind.refusals)} or seconds > SECONDS or watch.seen:
            fail(number, path, end, seconds, watch.seen)
        if number % 500 == 0:
            gc.collect()
    print(json.dumps({"ends": ends, "slowest": slowest}))


def outcome(kind: FileKind, path: Path) -> str:
    try:
        kind.read(path)
    except BaseException as error:  # a panic of Rust's is no Exception
        refused = next((each.__name__ for each in kind.refusals if isinstance(error, each)), None)
        return refused or "".join(traceback.format_exception(error, limit=-6))[-3000:]
    return "read"


def mapped() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def fail(number: int, path: Path, end: str, seconds: float, seen: list[str]) -> None:
    kept = path.with_name(f"fault-{number}-{path.name}")
    path.rename(kept)
    print(json.dumps({"fault": str(kept), "number": number, "end": end, "seconds": seconds, "seen": seen[:10]}))
    sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))

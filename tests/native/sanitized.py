"""The C++ driver under each sanitizer, rounds of drawn shapes; `make native-check`. Minutes: not part of the tests."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from clearformer.native import building

DRIVER = Path(__file__).parent / "driver.cpp"
# Optimised a little: unoptimised, sixteen numbers at a time are sixteen loops. fork under the thread sanitizer hangs.
_CHECKS = {
    "plain": ((), "forks"),
    "address and undefined behaviour": (("-fsanitize=address,undefined", "-fno-sanitize-recover=all"), "forks"),
    "threads": (("-fsanitize=thread",), "alone"),
}


def check(name: str, rounds: int) -> bool:
    """Build and run the driver under one sanitizer; True if it is clean."""
    flags, forks = _CHECKS[name]
    command = building.compiler()
    assert command is not None, "no C++ compiler"
    files = [*building.sources(), DRIVER]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "driver"
        objects = [Path(folder) / f"{path.stem}.o" for path in files]
        common = [*command, *building.FLAGS, *building.WARNINGS, "-O1", "-g1", f"-I{building.SOURCES}", *flags]

        def compile(path: Path, made: Path) -> None:
            instructions = building.INSTRUCTIONS.get(path.name, ())
            subprocess.run([*common, *instructions, "-c", str(path), "-o", str(made)], check=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(compile, reversed(files), reversed(objects)))
        subprocess.run([*common, *map(str, objects), "-o", str(program)], check=True)
        return subprocess.run([str(program), str(rounds), forks]).returncode == 0


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chosen = sys.argv[2:] or list(_CHECKS)
    failed = [name for name in chosen if not check(name, rounds)]
    sys.exit(f"Not clean: {', '.join(failed)}." if failed else 0)

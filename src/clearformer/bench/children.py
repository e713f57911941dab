"""Programs of ours in processes of their own: one that runs out of memory takes nothing with it, and each has a peak.

A child reads what to do from its arguments, says that it is ready, and then runs once for each line that it is sent. It
may be run by the Python of another environment, which finds its own packages first and then our room.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

Told = dict[str, Any]
_OUR_ROOT = Path(__file__).parents[2]
_ELSEWHERE = f"import runpy, sys; sys.path.append({str(_OUR_ROOT)!r}); runpy.run_module({{!r}}, run_name='__main__')"


class Child:
    """A module of ours started with settings as JSON; `run` is None once it has died, as of too little memory.

    `python` is that of another environment; `about` is what the child says of itself when it is ready."""

    def __init__(self, module: str, settings: Mapping[str, object], *, python: Path | None = None) -> None:
        command = [*command_of(module, python), json.dumps(settings)]
        pipe = subprocess.PIPE
        # Closed with the child; a pipe that nobody reads while it works would fill up and stop it.
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._said, text=True)
        ready = self._answer()
        self.alive = ready is not None
        self.about: Told = (ready or {}).get("about", {})

    def run(self, **asked: object) -> Told | None:
        """What it measured in one run, with what it is asked for."""
        if not self.alive or self._process.stdin is None:
            return None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except OSError:
            self.alive = False
            return None
        return self._answer()

    @property
    def last_words(self) -> str:
        """What a child that failed said last; empty where it was killed."""
        self._said.seek(0)
        lines = self._said.read().strip().splitlines() if not self.alive else []
        return lines[-1] if lines else ""

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Its input ends and with it the child; one that is still at work is stopped.
        if kind is not None or not self.alive:
            self._process.kill()
        self._process.communicate()
        self._said.close()

    def _answer(self) -> Told | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.alive = bool(line)
        if not line:
            self._process.wait()
            return None
        found: Told = json.loads(line)
        return found


def command_of(module: str, python: Path | None) -> list[str]:
    """What starts a module of ours: here, or by another environment's Python, kept from this one's packages."""
    return [sys.executable, "-m", module] if python is None else [str(python), "-I", "-c", _ELSEWHERE.format(module)]


def serve(prepare: Callable[[Told], Callable[..., Told]]) -> None:
    """The child's side: prepare, then one run a line. `peak` is what it took beyond what lay there when ready."""
    run = prepare(json.loads(sys.argv[1]))
    before = resident()
    print(json.dumps({"ready": True, "about": getattr(run, "about", {})}), flush=True)
    for line in sys.stdin:
        found = run(**json.loads(line))
        print(json.dumps({**found, "peak": max(0, most_resident() - before)}), flush=True)


def resident() -> int:
    """Bytes of memory that this process has now, or has had at most where the system says only that."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return most_resident()
    return pages * resource.getpagesize()


def most_resident() -> int:
    """Bytes of memory that this process has had at most."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.split("VmHWM:", 1)[1].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        # On Linux this would be that of the process that started us, if it was larger.
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024

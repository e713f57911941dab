"""The process as we watch it: started, listened to, ended when its time is over, begun again without what killed it."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from clearformer.doctor.apart import limits, remains, wire
from clearformer.doctor.apart.request import Request
from clearformer.doctor.causes.deciding import undecided
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import Breach, Said, Skipped
from clearformer.doctor.registry import CHECKS
from clearformer.doctor.telling import Called, Checked, Starting, Teller
from clearformer.errors import DiagnosisError, MachineError, UsageError
from clearformer.machine import in_binary_units
from clearformer.messages import doctor_process as say

CHECK_SECONDS = 60.0
"""A single check that takes longer has hung."""
MOST_LOST = 3
"""Checks that may end the process before the rest is given up."""
_FLOOD = 64 << 10
_LAST_WORDS = 300
_NAP = 0.1


class BrokenOff(Exception):  # noqa: N818 – the user's wish, not an error
    """The user ended an examination that had already found something: `found`, as far as it came, and `by` what."""

    def __init__(self, found: Diagnosis, by: BaseException) -> None:
        self.found, self.by = found, by
        super().__init__()


@dataclass
class _Heard:
    """What a process has said until now."""

    diagnosis: Diagnosis | None = None
    loaded: bool = False
    called: Called | None = None
    checked: list[Checked] = field(default_factory=list)
    now: str | None = None
    """The check under way."""
    hosts: list[str] = field(default_factory=list)
    printed: int = 0
    remained: dict[int, str] = field(default_factory=dict)
    """Processes of the code that had to be ended, by number."""
    ended: Said | None = None
    """How it ended, where it gave no diagnosis."""
    hung: bool = False
    broken_off: BaseException | None = None
    """What the user ended it with."""


class _Output:
    """What the user's code prints: counted, its end kept, read on so that the code never waits for a reader."""

    def __init__(self, pipe: BinaryIO) -> None:
        self.size, self._tail = 0, b""
        self._thread = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        self._thread.start()

    def _drain(self, pipe: BinaryIO) -> None:
        with suppress(OSError, ValueError), pipe:
            while piece := os.read(pipe.fileno(), 1 << 16):
                self.size += len(piece)
                self._tail = (self._tail + piece)[-4096:]

    def last_words(self) -> str:
        self._thread.join(0.2)
        lines = [line.strip() for line in self._tail.decode("utf-8", "replace").splitlines() if line.strip()]
        return (lines[-1] if lines else "–")[:_LAST_WORDS]


def examine_apart(request: Request, target: str, tell: Teller = lambda told: None) -> Diagnosis:
    """Load and examine in a process of its own. Where a check ends that process, it is begun again without it.

    Raises UsageError for code that cannot be loaded, DiagnosisError where loading it ends or hangs the process, and
    BrokenOff at Ctrl-C and SIGTERM.
    """
    until = time.monotonic() + request.seconds
    lost: dict[str, tuple[str, str]] = {}
    notes: list[Said] = []
    while True:
        heard, marked = _Heard(), remains.mark()
        with _started(replace(request, without=lost), marked) as (process, events, printed):
            try:
                _listen(heard, process, events, until, tell)
            except (KeyboardInterrupt, SystemExit) as error:
                heard.ended, heard.broken_off = Said(say.INTERRUPTED), error
            heard.remained = _end(process, marked)
            words, heard.printed = printed.last_words(), printed.size
        extra = _beside(heard)
        if heard.broken_off is not None:
            if not heard.checked:
                raise heard.broken_off
            raise BrokenOff(_as_far_as(heard, request, (*notes, *extra)), heard.broken_off)
        if heard.diagnosis is not None:
            return replace(heard.diagnosis, notes=(*notes, *extra, *heard.diagnosis.notes))
        assert heard.ended is not None
        if heard.now is None and not heard.checked:
            raise _lost_loading(heard, request, target, words)
        if heard.now is None or len(lost) == MOST_LOST or time.monotonic() > until:
            return _as_far_as(heard, request, (*notes, *extra))
        why = say.HUNG_IN if heard.hung else say.ENDED_IN
        ended = Said(why, {"how": heard.ended.message, "seconds": CHECK_SECONDS, **heard.ended.values})
        lost[heard.now] = ended.text("en"), ended.text("zh")
        notes.append(Said(say.WENT_ON, {"check": heard.now, "how": heard.ended.message, **heard.ended.values}))


def _listen(heard: _Heard, process: Any, events: queue.Queue[bytes], until: float, tell: Teller) -> None:
    """Take events until the diagnosis, the process's end, or the end of its time."""
    patience = until
    while True:
        line = b""
        try:
            line = events.get(timeout=_NAP)
        except queue.Empty:
            if time.monotonic() > min(patience, until):
                heard.hung, heard.ended = True, Said(say.OVER_TIME)
                return
            if process.poll() is None:
                continue
            with suppress(queue.Empty):
                line = events.get(timeout=_NAP)
        if not line:
            heard.ended = _how(process)
            return
        try:
            _take(heard, line, tell)
        except wire.NotOurs:
            continue
        if heard.diagnosis is not None:
            return
        patience = time.monotonic() + CHECK_SECONDS if heard.now is not None else until


def _take(heard: _Heard, line: bytes, tell: Teller) -> None:
    """One event. Raises NotOurs, and UsageError where the process reports one."""
    event, content = wire.read(line)
    if event == "diagnosis":
        heard.diagnosis = wire.read_diagnosis(content)
        return
    heard.loaded = heard.loaded or event == "loaded"
    if event == "network" and len(heard.hosts) < 5:
        heard.hosts.append(str(content.get("to"))[:100])
        return
    if event == "error":
        kind, failure = wire.read_failure(content)
        raise UsageError(failure) if kind == UsageError.kind else DiagnosisError(failure)
    told = wire.read_told(event, content)
    match told:
        case None:
            return
        case Called():
            heard.called = told
        case Starting():
            heard.now = told.check
        case Checked():
            heard.checked.append(told)
            heard.now = None
    tell(told)


@contextmanager
def _started(
    request: Request, marked: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], queue.Queue[bytes], _Output]]:
    """The worker, its events line by line, and what it prints; none of it outlives the body."""
    reading, writing = os.pipe()
    script = Path(__file__).with_name("worker.py")
    own = str(Path(__file__).parents[3])
    seen = limits.environment(os.environ, request.environment, network=request.network) | marked
    seen["PYTHONPATH"] = os.pathsep.join([own, *filter(None, [seen.get("PYTHONPATH")])])
    network = "keep" if request.network else "cut"
    try:
        process = subprocess.Popen(
            # -P: neither the script's folder nor the current one may choose what this program imports.
            [sys.executable, "-P", "-X", "utf8", str(script), str(writing), network],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=seen,
            pass_fds=(writing,),
            start_new_session=True,
        )
    except OSError as error:
        os.close(reading)
        raise MachineError(say.NO_PROCESS, detail=error.strerror or error) from error
    finally:
        os.close(writing)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(OSError):
            process.stdin.write(request.text().encode())
            process.stdin.close()
        events: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_forward, args=(reading, events), daemon=True).start()
        yield process, events, _Output(process.stdout)  # type: ignore[arg-type]
    finally:
        _end(process, marked)


def _forward(descriptor: int, events: queue.Queue[bytes]) -> None:
    """Lines, none longer than a line may be."""
    with os.fdopen(descriptor, "rb") as pipe:
        while line := pipe.readline(wire.LONGEST_LINE):
            events.put(line)
    events.put(b"")


def _end(process: subprocess.Popen[bytes], marked: dict[str, str]) -> dict[int, str]:
    """The process, all that it started in its session, and what has left it: the latter are told."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return remains.end_marked(marked, process.pid)


def _how(process: subprocess.Popen[bytes]) -> Said:
    """The way in which a process has ended by itself."""
    try:
        code = process.wait(2)
    except subprocess.TimeoutExpired:
        return Said(say.CLOSED)
    if code < 0:
        with suppress(ValueError):
            return Said(say.SIGNAL, {"name": signal.Signals(-code).name})
    return Said(say.EXIT_CODE, {"code": code})


def _beside(heard: _Heard) -> list[Said]:
    found = [Said(say.REFUSED_NETWORK, {"to": ", ".join(dict.fromkeys(heard.hosts))})] if heard.hosts else []
    if heard.printed > _FLOOD:
        found.append(Said(say.FLOOD, {"size": in_binary_units(heard.printed)}))
    if heard.remained:
        names = ", ".join(sorted(set(heard.remained.values()))[:5])
        found.append(Said(say.REMAINED, {"count": len(heard.remained), "names": names}))
    return found


def _lost_loading(heard: _Heard, request: Request, target: str, words: str) -> DiagnosisError:
    assert heard.ended is not None
    if heard.hung:
        values = {"seconds": request.seconds, "more": 4 * request.seconds}
        return DiagnosisError(
            say.HUNG_CALLING if heard.loaded else say.HUNG_LOADING, target=target, words=words, **values
        )
    failure = say.ENDED_CALLING if heard.loaded else say.ENDED_LOADING
    return DiagnosisError(failure, target=target, words=words, how=heard.ended.message, **heard.ended.values)


def _as_far_as(heard: _Heard, request: Request, notes: tuple[Said, ...]) -> Diagnosis:
    """What is known of an examination that did not come to its end."""
    assert heard.ended is not None
    breaches: list[Breach] = [breach for each in heard.checked for breach in each.breaches]
    skipped = [Skipped(each.check, each.skipped) for each in heard.checked if each.skipped is not None]
    done = {each.check for each in heard.checked}
    wanted = [check.id for check in CHECKS if not request.only or check.id in request.only or check.gate]
    skipped += [Skipped(check, Said(say.NOT_REACHED)) for check in wanted if check not in done]
    passed = tuple(each.check for each in heard.checked if not each.breaches and each.skipped is None)
    early = Said(say.STOPPED_EARLY, {"how": heard.ended.message, **heard.ended.values})
    called, floor = (heard.called.how, heard.called.floor) if heard.called is not None else (None, None)
    return Diagnosis(undecided(breaches), tuple(skipped), passed, called, floor, (*notes, early))

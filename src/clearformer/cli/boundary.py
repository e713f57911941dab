"""Every way a command can end, as an exit code and at most two lines.

0 done · 1 failed, or a check found an error · 2 called wrongly · 130 interrupted · 143 SIGTERM · 75 SIGUSR1.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clearformer.errors import ClearformerError, MachineError
from clearformer.messages import Failure, Language
from clearformer.messages import cli as say

INTERRUPTED = 130
TERMINATED = 143
REQUEUED = 75
_UNWOUND = {"SIGTERM": TERMINATED, "SIGUSR1": REQUEUED}

_TORCH_OUT_OF_MEMORY = ("DefaultCPUAllocator", "can't allocate memory", "out of memory")


@dataclass(frozen=True)
class Report:
    """How a command ended: `kind` and `exit_code` are stable, the two lines are in the user's language."""

    kind: str
    exit_code: int
    cause: str
    remedy: str


def run(command: Callable[[], int | None], language: Language, *, as_json: bool, debug: bool) -> int:
    """Run a command and give the exit code; whatever it raises is told here, and nowhere else."""
    with _signals_unwind():
        try:
            code = command()
            sys.stdout.flush()
            return code or 0
        except BaseException as error:
            if _reader_is_gone(error):
                _let_go_of_stdout()
                return 0
            if debug:
                traceback.print_exception(error)
            report = explain(error, language)
            tell(report, language, as_json=as_json)
            return report.exit_code


def explain(error: BaseException, language: Language) -> Report:
    """Say what an exception means to the user."""
    if isinstance(error, ClearformerError):
        return Report(error.kind, error.exit_code, error.cause(language), error.remedy(language))
    if isinstance(error, KeyboardInterrupt):
        return _report("interrupted", INTERRUPTED, say.INTERRUPTED, language)
    for name, code in _UNWOUND.items():
        if isinstance(error, SystemExit) and error.code == code:
            return _report("terminated", code, say.TERMINATED, language, name=name)
    if out_of_memory(error):
        return _report(MachineError.kind, MachineError.exit_code, say.OUT_OF_MEMORY, language)
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("clearformer"):
        return _report("system", 1, say.MODULE_MISSING, language, name=(error.name or "").partition(".")[0])
    if isinstance(error, OSError) and error.strerror:
        return _report("system", 1, say.SYSTEM, language, path=error.filename or "clearformer", detail=error.strerror)
    return _report("internal", 1, say.INTERNAL, language, name=f"{type(error).__name__}: {error}")


def out_of_memory(error: BaseException) -> bool:
    """Python's, NumPy's (its error is a MemoryError), torch's on the CPU (a bare RuntimeError) and on CUDA."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _TORCH_OUT_OF_MEMORY)


def tell(report: Report, language: Language, *, as_json: bool) -> None:
    """Two lines on standard error, or with `--json` one object on standard output where that can be written."""
    if sys.stderr.isatty():
        # A bar may have hidden the cursor, and ^C stands on the line.
        print("\x1b[0m\x1b[?25h", end="\n" if report.exit_code == INTERRUPTED else "", file=sys.stderr)
    try:
        if as_json:
            error = {"kind": report.kind, "message": report.cause, "remedy": report.remedy}
            print(json.dumps({"error": error}, ensure_ascii=False), flush=True)
            return
        sys.stdout.flush()
    except OSError:
        # Its reader is gone or its disk is full: the two lines may still arrive.
        _let_go_of_stdout()
    with contextlib.suppress(OSError):
        print(say.CAUSE.text(language) + report.cause, file=sys.stderr)
        print(say.REMEDY.text(language) + report.remedy, file=sys.stderr, flush=True)


def _reader_is_gone(error: BaseException) -> bool:
    """True for a closed pipe, and for the SystemExit that rich makes of one."""
    return isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    )


def _report(kind: str, exit_code: int, failure: Failure, language: Language, **values: object) -> Report:
    return Report(kind, exit_code, failure.cause.text(language, **values), failure.remedy.text(language, **values))


@contextlib.contextmanager
def _signals_unwind() -> Iterator[None]:
    """SIGTERM and SIGUSR1 become exceptions, so that temporary files are removed and locks given back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def unwind(signum: int, frame: object) -> None:
        raise SystemExit(_UNWOUND[signal.Signals(signum).name])

    before = {name: signal.signal(getattr(signal, name), unwind) for name in _UNWOUND}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _let_go_of_stdout() -> None:
    """The reader has gone: what is still buffered has no place to go, and Python would complain at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

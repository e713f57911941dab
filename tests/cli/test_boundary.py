"""Each way to end has its exit code and its sentence."""

from __future__ import annotations

import errno
import json

import numpy
import pytest
import torch

from clearformer.cli import boundary
from clearformer.errors import MachineError
from clearformer.messages import machine as say

BAD_THREADS = MachineError(say.BAD_THREADS, threads=0)


def raising(error: BaseException):
    def command() -> None:
        raise error

    return command


CASES = [
    (BAD_THREADS, "machine", 1, "Expected at least 1 thread, got 0."),
    (KeyboardInterrupt(), "interrupted", 130, "Interrupted."),
    (SystemExit(143), "terminated", 143, "SIGTERM"),
    (MemoryError(), "machine", 1, "no more memory"),
    (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"), "machine", 1, "no more memory"),
    (OSError(errno.ENOSPC, "No space left on device", "/x/y"), "system", 1, "/x/y: No space left on device."),
    (ModuleNotFoundError("no", name="transformers.models"), "system", 1, "package transformers is not installed"),
    (ZeroDivisionError("division by zero"), "internal", 1, "Internal error (ZeroDivisionError: division by zero)"),
    (RecursionError("deep"), "internal", 1, "RecursionError"),
    (BaseException("a panic"), "internal", 1, "a panic"),
]


@pytest.mark.parametrize(("error", "kind", "code", "cause"), CASES)
@pytest.mark.parametrize("as_json", [False, True])
def test_every_end_has_its_code_kind_and_lines(capsys, error, kind, code, cause, as_json) -> None:
    assert boundary.run(raising(error), "en", as_json=as_json, debug=False) == code
    out, err = capsys.readouterr()
    if as_json:
        told = json.loads(out)["error"]
        assert (told["kind"], err) == (kind, "")
        assert cause in told["message"]
    else:
        first, second = err.splitlines()
        assert (out, second.startswith("What to do: ")) == ("", True)
        assert cause in first


@pytest.mark.parametrize(("error", "kind", "code", "cause"), CASES)
def test_every_end_is_told_in_chinese_too(capsys, error, kind, code, cause) -> None:
    assert boundary.run(raising(error), "zh", as_json=False, debug=False) == code
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("错误：")
    assert second.startswith("怎么办：")


def allocate_with_torch() -> None:
    torch.empty(2**60, dtype=torch.uint8)


def allocate_with_numpy() -> None:
    numpy.empty(2**60, dtype=numpy.uint8)


@pytest.mark.parametrize("command", [allocate_with_torch, allocate_with_numpy])
def test_a_real_refused_allocation_is_told_as_memory(capsys, command) -> None:
    assert boundary.run(command, "en", as_json=True, debug=False) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "machine"


def test_the_traceback_is_for_debug_only(capsys) -> None:
    boundary.run(raising(ZeroDivisionError("x")), "en", as_json=False, debug=False)
    assert "Traceback" not in capsys.readouterr().err
    boundary.run(raising(ZeroDivisionError("x")), "en", as_json=False, debug=True)
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "in command" in err


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_a_command_that_returns_gives_its_own_code(returned, code) -> None:
    assert boundary.run(lambda: returned, "en", as_json=False, debug=False) == code

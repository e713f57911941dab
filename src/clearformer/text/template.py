"""Chat templates: Jinja programs that ship with a model and write a conversation as its training data was written.

They are untrusted code. One worker process runs them (`template_worker`), within limits of time, memory and output; it
starts at the first use and serves until closed. A rendering that outlives its second ends the worker, not the caller.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from clearformer.errors import TemplateError
from clearformer.messages import Failure
from clearformer.messages import text as messages

LARGEST_TEMPLATE = 256 * 2**10
LARGEST_INPUT = 4 * 2**20
LARGEST_OUTPUT = 2**20
SECONDS = 1.0
_START_SECONDS = 60.0
# An answer is ASCII JSON: a character of the output may take twelve bytes of it.
_LARGEST_ANSWER = 12 * LARGEST_OUTPUT + 4096

_FAILURES: dict[str, Failure] = {
    "large": messages.TEMPLATE_OUTPUT_TOO_LARGE,
    "memory": messages.TEMPLATE_TOO_HUNGRY,
    "unsafe": messages.TEMPLATE_UNSAFE,
    "refused": messages.TEMPLATE_REFUSED,
    "failed": messages.TEMPLATE_FAILED,
}


class TemplateRenderer:
    """Renders chat templates in a worker process. Safe to share between threads; one rendering runs at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.Queue[bytes] = queue.Queue()

    def render(self, template: str, variables: Mapping[str, Any]) -> str:
        """Render with variables of JSON types, at most 1 MiB of text in at most one second.

        Raises `TemplateError` when the template fails, refuses, exceeds a limit, or reaches for the interpreter.
        """
        if len(template) > LARGEST_TEMPLATE:
            raise TemplateError(messages.TEMPLATE_TOO_LARGE, found=len(template), limit=LARGEST_TEMPLATE)
        request = {"template": template, "variables": dict(variables), "limit": LARGEST_OUTPUT}
        try:
            line = json.dumps(request).encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise TemplateError(messages.TEMPLATE_INPUT, detail=error) from None
        if len(line) > LARGEST_INPUT:
            raise TemplateError(messages.TEMPLATE_INPUT_TOO_LARGE, found=len(line), limit=LARGEST_INPUT)
        with self._lock:
            answer = self._ask(line)
        if "text" in answer:
            return answer["text"]
        detail = answer.get("detail", "")
        raise TemplateError(_FAILURES[answer["error"]], detail=detail.rstrip("."), limit=LARGEST_OUTPUT)

    def close(self) -> None:
        """End the worker; a later rendering starts another."""
        with self._lock:
            self._stop()

    def _ask(self, line: bytes) -> dict[str, str]:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._next_answer(SECONDS)
        except OSError:
            self._stop()
            raise TemplateError(messages.TEMPLATE_WORKER_LOST) from None
        except BaseException:
            # Also on Ctrl-C: an answer left in the pipe would be taken for the next request's.
            self._stop()
            raise

    def _next_answer(self, seconds: float) -> dict[str, str]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            raise TemplateError(messages.TEMPLATE_TOO_SLOW, seconds=seconds) from None
        if not line.endswith(b"\n"):
            raise TemplateError(messages.TEMPLATE_WORKER_LOST)
        answer: dict[str, str] = json.loads(line)
        return answer

    def _start(self) -> None:
        self._stop()
        # -I: neither the user's environment nor the current folder may choose what is imported.
        script = Path(__file__).with_name("template_worker.py")
        kept = {name: os.environ[name] for name in ("TZ", "SYSTEMROOT") if name in os.environ}
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept,
                cwd=script.anchor,
            )
        except OSError:
            raise TemplateError(messages.TEMPLATE_WORKER_LOST) from None
        self._answers = queue.Queue()
        threading.Thread(target=_forward_lines, args=(self._process.stdout, self._answers), daemon=True).start()
        try:
            self._next_answer(_START_SECONDS)
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                # What a killed worker did not read cannot be flushed to it.
                with suppress(OSError):
                    self._process.stdin.close()
            self._process = None


def _forward_lines(pipe: Any, answers: queue.Queue[bytes]) -> None:
    """Read the worker's lines in a thread, as a pipe cannot be read with a deadline everywhere."""
    with pipe:
        while line := pipe.readline(_LARGEST_ANSWER):
            answers.put(line)
    answers.put(b"")


@cache
def shared_renderer() -> TemplateRenderer:
    """The process's one renderer, closed when Python ends."""
    renderer = TemplateRenderer()
    atexit.register(renderer.close)
    return renderer

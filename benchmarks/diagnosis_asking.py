"""Cases handed to processes that answer each with a line of JSON; one that hangs or ends costs a case, not the run."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

STARTING = 120.0
"""Seconds more for the first answer of a process: its imports."""
AT_ONCE = 20
"""Cases that one process takes in turn: what they leave in memory goes with it."""

Answer = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A program that takes names of cases, and prints an object with `case` in it for each."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: float
    """Time for one case; then its process is ended, and the next begins behind it."""


@dataclass(frozen=True)
class Answered:
    tool: Tool
    case: str
    answer: Answer | None
    """None where there was none: the process hung, or ended."""


def answers(work: Iterable[tuple[Tool, str]], jobs: int) -> Iterator[Answered]:
    """Every case of every tool, in the order in which they are done; `jobs` processes run at a time."""
    waiting: queue.Queue[tuple[Tool, list[str]]] = queue.Queue()
    total = 0
    for tool, names in _portions(work):
        waiting.put((tool, names))
        total += len(names)
    done: queue.Queue[Answered | BaseException] = queue.Queue()
    for _ in range(jobs):
        threading.Thread(target=_work, args=(waiting, done), daemon=True).start()
    for _ in range(total):
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        yield found


def _portions(work: Iterable[tuple[Tool, str]]) -> Iterator[tuple[Tool, list[str]]]:
    names: dict[str, list[str]] = {}
    tools: dict[str, Tool] = {}
    for tool, name in work:
        tools[tool.name] = tool
        names.setdefault(tool.name, []).append(name)
    for key, all_names in names.items():
        for start in range(0, len(all_names), AT_ONCE):
            yield tools[key], all_names[start : start + AT_ONCE]


def _work(waiting: queue.Queue[tuple[Tool, list[str]]], done: queue.Queue[Answered | BaseException]) -> None:
    try:
        while True:
            tool, names = waiting.get_nowait()
            while names:
                names = _one_process(tool, names, done)
    except queue.Empty:
        return
    except BaseException as error:
        done.put(error)


def _one_process(tool: Tool, names: list[str], done: queue.Queue[Answered | BaseException]) -> list[str]:
    """Answers until the process hangs or ends; what is left then, the case that ended it not among it."""
    running = subprocess.Popen([*tool.command, *names], stdout=subprocess.PIPE, text=True, env=dict(tool.environment))
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=_read, args=(running, lines), daemon=True)
    reader.start()
    left, patience = list(names), tool.seconds + STARTING
    try:
        while left:
            line = lines.get(timeout=patience)
            patience = tool.seconds
            if not line:
                break
            answer: Answer = json.loads(line)
            case = answer.pop("case")
            left.remove(case)
            done.put(Answered(tool, case, answer))
    except queue.Empty:
        pass
    finally:
        running.kill()
        running.wait()
        reader.join(1)
    if left:
        done.put(Answered(tool, left[0], None))
    return left[1:]


def _read(running: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert running.stdout is not None
    with running.stdout:
        for line in running.stdout:
            lines.put(line)
    lines.put("")

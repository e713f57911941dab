"""Worker processes and who gives them their orders: a thread each, which waits for its own process alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import Any

from clearformer.errors import ClearformerError, MachineError
from clearformer.lab.notebook import Notebook
from clearformer.lab.training_arm import PATIENCE_S
from clearformer.messages import Failure, verbatim
from clearformer.messages import lab_machine as say

Order = dict[str, Any]
Told = dict[str, Any]


class Team:
    """Workers of one experiment. `carry_out` gives orders to whoever is free; all end with the first error."""

    def __init__(self, source: str, count: int) -> None:
        self._workers = [_Worker(source) for _ in range(count)]

    def carry_out(self, orders: Sequence[Order], hear: Callable[[Order, Told], None]) -> None:
        """All of them; `hear` gets every answer, one at a time, in this thread. Raises what a worker raised."""
        waiting: Queue[Order] = Queue()
        for order in orders:
            waiting.put(order)
        heard: Queue[tuple[Order, Told] | BaseException | None] = Queue()
        for worker in self._workers:
            threading.Thread(target=_work, args=(worker, waiting, heard), daemon=True).start()
        working = len(self._workers)
        while working:
            answer = heard.get()
            if answer is None:
                working -= 1
            elif isinstance(answer, BaseException):
                raise answer
            else:
                hear(*answer)

    def close(self, *, kindly: bool) -> None:
        """End the processes; `kindly`, each finishes what it is at, and otherwise saves where it stands."""
        for worker in self._workers:
            worker.end(kindly=kindly)
        for worker in self._workers:
            worker.wait()


@contextmanager
def team_of(source: str, count: int) -> Iterator[Team]:
    """So many workers, gone when the body ends; where it ends by an error or a signal, they save what they are at."""
    team = Team(source, count)
    try:
        yield team
    except BaseException:
        team.close(kindly=False)
        raise
    team.close(kindly=True)


def order_of(notebook: Notebook, arm: str, seed: int, steps: int, threads: int, seconds: float | None = None) -> Order:
    """A trial to run; with `seconds`, an arm to be timed for about so long."""
    scratch = notebook.scratch(arm, seed if seconds is None else -1)
    places = {"data": str(notebook.data.absolute()), "scratch": str(scratch.absolute())}
    return {"arm": arm, "seed": seed, "steps": steps, "threads": threads, "seconds": seconds, **places}


def _work(worker: _Worker, waiting: Queue[Order], heard: Queue[Any]) -> None:
    try:
        while True:
            order = waiting.get_nowait()
            for told in worker.answers(order):
                heard.put((order, told))
    except Empty:
        heard.put(None)
    except BaseException as error:
        heard.put(error)


class _Worker:
    """One process. In a group of its own, so that Ctrl-C reaches it through us alone, after the first is saved."""

    def __init__(self, source: str) -> None:
        command = [sys.executable, "-m", "clearformer.lab.worker", source]
        pipe = subprocess.PIPE
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._said, text=True, process_group=0
        )

    def answers(self, order: Order) -> Iterator[Told]:
        """What it tells on the way, its last word the answer. Raises the error that it met."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._dead(order) from None
        for line in self._process.stdout:
            told: Told = json.loads(line)
            if "error" in told:
                raise _error(told["error"])
            yield told
            if "step" not in told:
                return
        raise self._dead(order)

    def end(self, *, kindly: bool) -> None:
        assert self._process.stdin is not None
        if not kindly:
            self._process.terminate()
        with suppress(OSError):
            self._process.stdin.close()

    def wait(self) -> None:
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._said.close()

    def _dead(self, order: Order) -> MachineError:
        self._process.wait()
        self._said.seek(0)
        words = self._said.read().strip().splitlines()
        return MachineError(say.WORKER_DIED, arm=order["arm"], seed=order["seed"], detail=words[-1] if words else "–")


def _error(told: dict[str, Any]) -> ClearformerError:
    """A worker's error as it would have been raised here."""
    kinds: dict[str, type[ClearformerError]] = {kind.kind: kind for kind in ClearformerError.__subclasses__()}
    cause, remedy = verbatim(*told["cause"]), verbatim(*told["remedy"])
    return kinds.get(told["kind"], ClearformerError)(Failure(cause, remedy))

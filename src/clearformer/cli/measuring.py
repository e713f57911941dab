"""`clearformer env --measure`: this machine's limits, and what each backend reaches of them."""

from __future__ import annotations

from pathlib import Path

import clearformer.machine as machine
from clearformer.cli.screen import Screen
from clearformer.cost.calibrating import BEHIND, LONG, NARROW, SHORT, WIDE, Seconds, solve
from clearformer.cost.work import Dtype
from clearformer.machine.speed import identity
from clearformer.messages import cli as say


def measure(folder: Path, threads: int, screen: Screen) -> None:
    """Measure, and remember in `folder`."""
    screen.note(say.MEASURING)
    machine.save(machine.measure(), folder)
    machine.remember_backends(backends(threads), folder)


def backends(threads: int) -> list[machine.BackendSpeed]:
    """What `generate` may use on this processor, the plainest first."""
    known = machine.supported_dtypes()
    wanted: tuple[tuple[Dtype, bool], ...] = (("float32", False), ("bfloat16", False), ("bfloat16", True))
    found = [_backend(dtype, pack, threads) for dtype, pack in wanted if dtype in known]
    return [each for each in found if each is not None]


def _backend(dtype: Dtype, pack: bool, threads: int) -> machine.BackendSpeed | None:
    from clearformer.speed.backends import seconds_of

    number_type = machine.checked_dtype(dtype)
    narrow = seconds_of(NARROW, number_type, pack=pack, behind=BEHIND, prompts=())
    wide = seconds_of(WIDE, number_type, pack=pack, behind=BEHIND, prompts=(SHORT, LONG))
    if narrow is None or wide is None:
        return None
    name = "torch-packed" if pack else "torch"
    return solve(narrow[0], Seconds(*wide), backend=name, dtype=dtype, machine=identity(), threads=threads)

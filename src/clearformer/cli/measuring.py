"""`clearformer env --measure`: this machine's limits, and what each backend reaches of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import clearformer.machine as machine
from clearformer.cli.screen import Screen
from clearformer.cost.calibrating import BEHIND, LONG, NARROW, SHORT, WIDE, Measured, Seconds, solve
from clearformer.machine.speed import identity
from clearformer.messages import cli as say

if TYPE_CHECKING:
    from clearformer.speed.backends import How


def measure(folder: Path, threads: int, screen: Screen) -> None:
    """Measure, and remember in `folder`."""
    screen.note(say.MEASURING)
    machine.save(machine.measure(), folder)
    with screen.progress(say.BACKENDS) as advance:
        found = backends(threads, advance)
    machine.remember_backends(found, folder)


def backends(threads: int, advance: Callable[[int, int], None]) -> list[machine.BackendSpeed]:
    """What `generate` may use on this processor, the plainest first."""
    from clearformer.speed.backend import PACKED_TYPES

    known = (*machine.supported_dtypes(), *PACKED_TYPES)
    wanted: tuple[tuple[str, How], ...] = (
        ("float32", "torch"),
        ("bfloat16", "torch"),
        ("bfloat16", "torch-packed"),
        ("float32", "native"),
        ("bfloat16", "native"),
        ("int8", "native"),
        ("int4", "native"),
    )
    usable = [(dtype, how) for dtype, how in wanted if dtype in known]
    found = []
    for done, (dtype, how) in enumerate(usable, 1):
        found.append(_backend(dtype, how, threads))
        advance(done, len(usable))
    return [each for each in found if each is not None]


def _backend(dtype: str, how: How, threads: int) -> machine.BackendSpeed | None:
    from clearformer.native.library import found
    from clearformer.speed.backends import time_backend

    # Idle threads of torch's would keep the kernels' from the cores.
    with machine.threads_of_torch(1 if how == "native" else threads):
        narrow = time_backend(NARROW, dtype, how=how, threads=threads, behind=BEHIND, prompts=())
        wide = time_backend(WIDE, dtype, how=how, threads=threads, behind=BEHIND, prompts=(SHORT, LONG))
    if narrow is None or wide is None:
        return None
    name = f"native-{found().paths[0]}" if how == "native" else how
    measured = Measured(name, dtype, wide.bytes_a_number, identity(), threads)
    return solve(narrow.token, Seconds(wide.token, *wide.prompts), measured)

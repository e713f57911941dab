"""The measurements by name: reading a prompt (prefill) and writing after it (decode)."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from typing import Any, Literal

import torch

import clearformer.machine as machine
from clearformer.bench.contestant import Contestant
from clearformer.bench.quiet import LEAST_SHARE, MOST_SPREAD, Calm, calibrate
from clearformer.bench.rounds import Advance, Row, alternate, first_difference, rows_of
from clearformer.errors import MachineError, UsageError
from clearformer.messages import bench as messages
from clearformer.text.tokenizer import Tokenizer

Job = Literal["decode", "prefill"]

# Plain prose of our own; repeated where a longer prompt is asked for.
TEXT = (
    "A mill stood where the river left the hills. In spring the water came down brown and fast, and the miller "
    "counted the stones of the weir every morning to see how many it had taken in the night. "
)
_APART = 5
MOST_ROWS = 64


@dataclass(frozen=True)
class Report:
    """A job's figures. `differences` holds for each row the first token in which that program differs from the first
    one, counted from 0, None where all its runs agree with it; `same_tokens` is None where nothing is compared."""

    job: Job
    rows: tuple[Row, ...]
    calm: Calm
    differences: tuple[int | None, ...]

    @property
    def same_tokens(self) -> bool | None:
        return None if len(self.rows) < 2 else not any(each is not None for each in self.differences)


def measure(
    job: Job,
    contestants: Sequence[Contestant],
    prompts: Sequence[Sequence[int]],
    *,
    new: int,
    runs: int,
    busy_ok: bool,
    advance: Advance,
    look: Callable[[], Calm] = calibrate,
) -> Report:
    """Tokens a second of all rows: of writing `new` tokens after the first, or of reading to the first new one.

    Raises MachineError on a busy machine, before and after the runs, unless `busy_ok`.
    """
    before = require_calm(busy_ok, look)
    written = alternate(contestants, prompts, new, runs=runs, warm_up=min(new, 8), advance=advance)
    after = require_calm(busy_ok, look)
    if job == "decode":
        figures = [[len(prompts) * (new - 1) / run.decode_seconds for run in each] for each in written]
    else:
        figures = [[sum(map(len, prompts)) / run.prefill_seconds for run in each] for each in written]
    rows = rows_of([contestant.name for contestant in contestants], "tok/s", figures)
    differences = tuple(first_difference([written[0], each]) for each in written)
    return Report(job, tuple(rows), max(before, after, key=lambda calm: calm.spread), differences)


def prompts_of(tokenizer: Tokenizer, length: int, rows: int) -> list[list[int]]:
    """Texts of exactly `length` tokens each, every row beginning a few words later."""
    ids = prompt_of(tokenizer, length + _APART * (rows - 1))
    return [ids[_APART * row : _APART * row + length] for row in range(rows)]


def prompt_of(tokenizer: Tokenizer, length: int) -> list[int]:
    """Exactly `length` tokens of prose."""
    ids: list[int] = []
    repeats = 1
    while len(ids) < length:
        ids = tokenizer.encode(TEXT * repeats, special=False)
        repeats *= 2
    return ids[:length]


def about_machine(threads: int) -> dict[str, Any]:
    """What the figures belong to."""
    return {
        "name": machine.cpu_name(),
        "cores": machine.cores(),
        "threads": threads,
        "system": platform.platform(),
        "python": platform.python_version(),
        "clearformer": metadata.version("clearformer"),
        "torch": torch.__version__,
        "transformers": _version("transformers"),
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def require_calm(busy_ok: bool, look: Callable[[], Calm] = calibrate) -> Calm:
    """How quiet the machine is. Raises MachineError if it is not, unless `busy_ok`."""
    calm = look()
    if not calm.quiet and not busy_ok:
        raise MachineError(
            messages.BUSY,
            spread=calm.spread,
            share=calm.share,
            threads=calm.threads,
            most_spread=MOST_SPREAD,
            least_share=LEAST_SHARE,
        )
    return calm


def require_sizes(*, prompt: int, new: int, runs: int, least_new: int, context: int, name: str, rows: int = 1) -> None:
    """Raises UsageError for sizes that nothing can be measured with."""
    require_at_least({"--prompt": (prompt, 1), "--new": (new, least_new), "--runs": (runs, 1), "--rows": (rows, 1)})
    if rows > MOST_ROWS:
        raise UsageError(messages.TOO_MANY_ROWS, most=MOST_ROWS, found=rows)
    if prompt + new > context:
        raise UsageError(messages.TOO_LONG, prompt=prompt, new=new, context=context, name=name)


def require_at_least(options: Mapping[str, tuple[int, int]]) -> None:
    """Raises UsageError for an option below its least value."""
    for option, (found, least) in options.items():
        if found < least:
            raise UsageError(messages.TOO_FEW, name=option, least=least, found=found)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

"""What `cost` reckons a job to take, beside what it took: the rates of other models must explain this one's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from clearformer.cost.time import backend_seconds, decode, prefill, stored
from clearformer.cost.work import Work
from clearformer.machine import BackendSpeed, remembered_backends
from clearformer.spec import Spec


def rates_of(folder: Path, backend: str, dtype: str, threads: int) -> BackendSpeed | None:
    """A backend's rates as `env --measure` kept them in `folder` with so many threads; None if it has not."""
    wanted = (backend, dtype, threads)
    found = [each for each in remembered_backends(folder) if (each.backend, each.dtype, each.threads) == wanted]
    return found[-1] if found else None


def expected_tok_s(
    spec: Spec, job: Literal["decode", "prefill"], rates: BackendSpeed, bytes_a_number: float, *, prompt: int, new: int
) -> float | None:
    """Tokens a second, where a weight takes so many bytes; None for a model that does not do the job.

    The cache of packed weights is in half precision."""
    # A token in the middle of the text takes what the mean of all takes.
    length = prompt if job == "prefill" else prompt + new // 2
    work = Work(length=length, dtype="float32" if rates.dtype == "float32" else "bfloat16")
    asked = prefill(spec, work) if job == "prefill" else decode(spec, work)
    if asked is None:
        return None
    return (prompt if job == "prefill" else 1) / backend_seconds(stored(asked, work, bytes_a_number), rates)

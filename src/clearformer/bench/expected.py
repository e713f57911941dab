"""What `cost` reckons a job to take, beside what it took: the rates of other models must explain this one's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from clearformer.cost.time import expected
from clearformer.cost.work import Dtype, Work
from clearformer.machine import BackendSpeed, remembered_backends
from clearformer.spec import Spec


def rates_of(folder: Path, backend: str, dtype: str, threads: int) -> BackendSpeed | None:
    """A backend's rates as `env --measure` kept them in `folder` with so many threads; None if it has not."""
    wanted = (backend, dtype, threads)
    found = [each for each in remembered_backends(folder) if (each.backend, each.dtype, each.threads) == wanted]
    return found[-1] if found else None


def expected_tok_s(
    spec: Spec, job: Literal["decode", "prefill"], rates: BackendSpeed, dtype: Dtype, *, prompt: int, new: int
) -> float | None:
    """Tokens a second; None for a model that does not do the job."""
    # A token in the middle of the text takes what the mean of all takes.
    length = prompt if job == "prefill" else prompt + new // 2
    time = expected(spec, Work(length=length, dtype=dtype), None, rates)
    if job == "prefill":
        return prompt / time.prefill_s if time.prefill_s else None
    return 1 / time.decode_s if time.decode_s else None

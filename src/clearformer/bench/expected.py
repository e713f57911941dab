"""What `cost` reckons a job to take, beside what it took: the rates of other models must explain this one's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from clearformer.cost.time import expected
from clearformer.cost.work import Dtype, Work
from clearformer.machine import remembered_backends
from clearformer.spec import Spec


def expected_tok_s(
    spec: Spec,
    job: Literal["decode", "prefill"],
    folder: Path,
    *,
    prompt: int,
    new: int,
    dtype: Dtype,
    backend: str,
    threads: int,
) -> float | None:
    """Tokens a second of the backend; None where `folder` holds none of its rates for so many threads."""
    wanted = (backend, dtype, threads)
    measured = [each for each in remembered_backends(folder) if (each.backend, each.dtype, each.threads) == wanted]
    if not measured:
        return None
    # A token in the middle of the text takes what the mean of all takes.
    length = prompt if job == "prefill" else prompt + new // 2
    time = expected(spec, Work(length=length, dtype=dtype), None, measured[-1])
    if job == "prefill":
        return prompt / time.prefill_s if time.prefill_s else None
    return 1 / time.decode_s if time.decode_s else None

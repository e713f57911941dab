"""All costs of a spec at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from clearformer.cost.activations import Activations, activations
from clearformer.cost.fitting import Fitting, fitting
from clearformer.cost.flops import Flops, flops
from clearformer.cost.generating import Generating, generating
from clearformer.cost.kv_cache import KVCache, kv_cache
from clearformer.cost.memory import Memory, memory
from clearformer.cost.parameters import Parameters, parameters
from clearformer.cost.time import Job, Time, decode, expected, prefill
from clearformer.cost.work import Dtype, Kernel, Optimizer, Work, passes, require_taken
from clearformer.machine import BackendSpeed, Speed
from clearformer.spec import Spec


@dataclass(frozen=True)
class Cost:
    """What `work` costs. `activations` by (kernel, recompute), in bytes; `lengths` are those of each side.

    Printed, it is a table with the formula beside each number.
    """

    spec: Spec
    work: Work
    lengths: dict[str, int]
    parameters: Parameters
    flops: Flops
    memory: Memory
    activations: dict[tuple[Kernel, bool], Activations]
    kv_cache: KVCache
    prefill: Job
    decode: Job | None
    time: Time
    generating: Generating | None = None
    fits_into: int | None = None
    fitting: tuple[Fitting, ...] = ()

    def __str__(self) -> str:
        from clearformer.cost.report import as_text

        return as_text(self)


def cost(
    spec: Spec,
    *,
    batch: int = 1,
    length: int | None = None,
    source: int | None = None,
    dtype: Dtype = "float32",
    optimizer: Optimizer = "adamw",
    kernel: Kernel = "sdpa",
    recompute: bool = False,
    generate: tuple[int, int] | None = None,
    fit: int | None = None,
    speed: Speed | None = None,
    backend: BackendSpeed | None = None,
) -> Cost:
    """Parameters, FLOPs, memory and time of `batch` sequences of `length` positions (None: the model's context).

    `source` is the encoder's length in front of a decoder. `generate` is (prompt, new) tokens, `fit` a memory in bytes
    to be filled. Times need `speed` or `backend`, as `clearformer.machine` measured them. Nothing is allocated and no
    torch imported. Raises UsageError for what is out of range.
    """
    work = Work(batch, length, source, dtype, optimizer, kernel, recompute)
    require_taken(spec, length=length, source=source)
    return Cost(
        spec,
        work,
        {each.side.name: each.queries.value for each in passes(spec, work)},
        parameters(spec),
        flops(spec, work),
        memory(spec, work),
        {
            (which, again): activations(spec, work, kernel=which, recompute=again)
            for which in get_args(Kernel)
            for again in (False, True)
        },
        kv_cache(spec, work),
        prefill(spec, work),
        decode(spec, work),
        expected(spec, work, speed, backend),
        None if generate is None else generating(spec, work, *generate),
        fit,
        () if fit is None else fitting(spec, work, fit),
    )

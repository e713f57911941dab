"""Costs as the object that `--json` prints (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from clearformer.cost.formula import Formula
from clearformer.cost.generating import Course
from clearformer.cost.pricing import Cost
from clearformer.cost.time import Job


def facts(found: Cost) -> dict[str, Any]:
    """Whole numbers are exact; seconds are null where nothing was measured."""
    work, counted, held, cache, timed = found.work, found.flops, found.memory, found.kv_cache, found.time
    course = found.generating
    return {
        "work": asdict(work) | {"lengths": found.lengths},
        "parameters": {
            "total": found.parameters.total,
            "active": found.parameters.active,
            "without_biases_and_norms": found.parameters.plain,
            "by_part": values(found.parameters.by_part),
        },
        "flops": {
            "forward": counted.forward,
            "training": counted.training,
            "by_part": values(counted.linear),
            "attention": {"executed": counted.executed.value, "visible": counted.visible.value},
        },
        "memory": {
            "weights": held.weights.value,
            "gradients": held.gradients.value,
            "optimizer": held.optimizer.value,
            "activations": held.activations.bytes,
            "total": held.total,
            "peak": held.peak,
            "scores": held.activations.scores.value,
            "activations_by": {
                f"{kernel}{'_recomputed' if recomputed else ''}": kept.bytes
                for (kernel, recomputed), kept in found.activations.items()
            },
        },
        "kv_cache": {
            "bytes_per_token": cache.per_token.value,
            "bytes": cache.whole.value,
            "within_windows": cache.within_windows.value,
            "source": cache.memory.value,
        },
        "intensity": {"prefill": found.prefill.intensity, "decode": _intensity(found.decode), "machine": timed.balance},
        "time": {
            "prefill_s": timed.prefill_s,
            "decode_s_per_token": timed.decode_s,
            "basis": timed.basis,
            "backend": timed.backend,
        },
        "generate": None
        if course is None
        else {
            "prompt": course.prompt,
            "new": course.new,
            "cached": _course(course.cached),
            "uncached": _course(course.uncached),
        },
        "fit": [asdict(each) for each in found.fitting],
        "formulas": formulas(found),
    }


def formulas(found: Cost) -> dict[str, str]:
    """Dotted name of a figure → its formula in the letters of `shapes`."""
    held, cache = found.memory, found.kv_cache
    named: dict[str, Formula] = {
        **{f"parameters.by_part.{name}": amount for name, amount in found.parameters.by_part.items()},
        **{f"flops.by_part.{name}": amount for name, amount in found.flops.linear.items()},
        "flops.attention.executed": found.flops.executed,
        "flops.attention.visible": found.flops.visible,
        "memory.weights": held.weights,
        "memory.gradients": held.gradients,
        "memory.optimizer": held.optimizer,
        "memory.activations": held.activations.whole,
        "memory.scores": held.activations.scores,
        "kv_cache.bytes_per_token": cache.per_token,
        "kv_cache.bytes": cache.whole,
        "kv_cache.within_windows": cache.within_windows,
        "kv_cache.source": cache.memory,
    }
    if (written := found.generating) is not None:
        for name, course in (("cached", written.cached), ("uncached", written.uncached)):
            named |= {f"generate.{name}.positions": course.rows, f"generate.{name}.pairs": course.pairs}
    return {name: formula.text for name, formula in named.items()}


def compared(name: str, found: Cost) -> dict[str, Any]:
    """One model beside others."""
    T = max(found.lengths.values())
    return {
        "name": name,
        "parameters": found.parameters.total,
        "active": found.parameters.active,
        "flops_per_position": found.flops.forward / (T * found.work.batch),
        "kv_bytes_per_token": found.kv_cache.per_token.value,
        "weights": found.memory.weights.value,
        "training": found.memory.total,
        "decode_s_per_token": found.time.decode_s,
    }


def values(parts: Mapping[str, Formula]) -> dict[str, int]:
    return {name: amount.value for name, amount in parts.items()}


def _intensity(job: Job | None) -> float | None:
    return None if job is None else job.intensity


def _course(course: Course) -> dict[str, Any]:
    return {
        "positions": course.rows.value,
        "pairs": course.pairs.value,
        "linear": course.linear,
        "attention": course.attention,
        "visible": course.visible,
        "linear_exponent": course.linear_exponent,
        "attention_exponent": course.attention_exponent,
    }

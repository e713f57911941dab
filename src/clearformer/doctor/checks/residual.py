"""K20: with its sublayers silenced a block hands on what it was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.checks.parameters import published
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.operations.graphs import tensors
from clearformer.messages import doctor_parameters as say


@dataclass
class Passed:
    """What went through a block in one pass: in, out, and its norms and matrices in the order in which they ran."""

    given: Tensor | None = None
    handed: Tensor | None = None
    calls: int = 0
    ran: list[tuple[bool, Tensor | None]] = field(default_factory=list)
    """(a norm, its output) or (a matrix, None)."""


def _probe(examination: Examination) -> Iterator[Breach]:
    subject, generator = examination.asked, examination.generator()
    blocks = dict(_blocks(subject.module))
    if not blocks:
        raise NotApplicable(say.NO_BLOCKS)
    inputs = subject.inputs(2, subject.length(10), generator)
    with _silenced(blocks), _watched(blocks) as passes:
        # With a gradient PyTorch's fast path is off, which would not call the parts of a block.
        answer = subject.answer(inputs, gradient=True).detach()
    carrying, missing = [], []
    for name, passed in passes.items():
        if passed.given is None or passed.handed is None or passed.calls != 1:
            continue
        if passed.given.shape != passed.handed.shape or _same(passed.given, passed.handed):
            continue
        # Where the sum is written outside the block, the answer still tells one input from another.
        if _is_constant(passed.handed) and not _is_constant(passed.given) and _is_constant(answer):
            missing.append(name)
        elif _carries_norm(passed):
            carrying.append(name)
    severity: Severity = "INFO" if published(subject.module) else "WARN"
    for names, message, cause in (
        (carrying, say.CARRIES_NORM, "residual carries norm"), (missing, say.HANDS_ON_NOTHING, "residual missing")
    ):  # fmt: skip
        if names:
            said = Said(message, {"count": len(names), "first": names[0]})
            yield Breach("K20", severity, (said,), (cause,), where=names[0], law=cause)


def _blocks(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The outermost members of lists that hold at least two matrices each."""
    found: list[str] = []
    for path, each in module.named_modules():
        if not isinstance(each, nn.ModuleList) or any(path.startswith(outer + ".") for outer in found):
            continue
        members = [(f"{path}.{name}" if path else name, member) for name, member in each.named_children()]
        if members and all(_matrices(member) >= 2 for _, member in members):
            found.extend(name for name, _ in members)
            yield from members


def _matrices(module: nn.Module) -> int:
    return sum(weight.ndim > 1 for weight in module.parameters())


def _is_norm(module: nn.Module) -> bool:
    return "norm" in type(module).__name__.lower() and all(weight.ndim == 1 for weight in module.parameters())


@contextmanager
def _silenced(blocks: dict[str, nn.Module]) -> Iterator[None]:
    """Every matrix and every bias of the blocks is nought; a norm keeps its gain."""
    kept: list[tuple[Tensor, Tensor]] = []
    try:
        with torch.no_grad():
            for block in blocks.values():
                for name, weight in block.named_parameters():
                    if weight.ndim > 1 or "bias" in name.rpartition(".")[2]:
                        kept.append((weight, weight.detach().clone()))
                        weight.zero_()
        yield
    finally:
        with torch.no_grad():
            for each, numbers in reversed(kept):
                each.copy_(numbers)


@contextmanager
def _watched(blocks: dict[str, nn.Module]) -> Iterator[dict[str, Passed]]:
    passes = {name: Passed() for name in blocks}
    handles = []
    for name, block in blocks.items():
        passed = passes[name]

        def through(_: nn.Module, args: Any, kwargs: Any, output: Any, passed: Passed = passed) -> None:
            passed.calls += 1
            passed.given = next((each for each in tensors((args, kwargs)) if each.ndim == 3), None)
            passed.handed = next((each for each in tensors(output) if each.ndim == 3), None)

        handles.append(block.register_forward_hook(through, with_kwargs=True))
        for part in block.modules():
            if part is block or not (_is_norm(part) or any(w.ndim > 1 for w in part.parameters(recurse=False))):
                continue

            def ran(part: nn.Module, _: Any, output: Any, passed: Passed = passed) -> None:
                norm = _is_norm(part)
                passed.ran.append((norm, output if norm and isinstance(output, Tensor) else None))

            handles.append(part.register_forward_hook(ran))
    try:
        yield passes
    finally:
        for handle in handles:
            handle.remove()


def _same(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() <= 1e-4 * one.abs().max().clamp(min=1e-6))


def _is_constant(handed: Tensor) -> bool:
    """The same vector at every position of every row."""
    return bool((handed - handed[:1, :1]).abs().max() <= 1e-5 * handed.abs().max().clamp(min=1e-6))


def _carries_norm(passed: Passed) -> bool:
    """What is handed on is what the last norm made, and a matrix of the block reads that: after the sum none would."""
    assert passed.handed is not None
    made = [
        (place, each) for place, (_, each) in enumerate(passed.ran)
        if each is not None and each.shape == passed.handed.shape
    ]  # fmt: skip
    if not made or not _same(passed.handed, made[-1][1]):
        return False
    return any(not norm for norm, _ in passed.ran[made[-1][0] + 1 :])


RESIDUAL = Check("K20", "residual", say.RESIDUAL, say.RESIDUAL_RISK, _probe)

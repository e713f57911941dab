"""What each optimizer step of a training met: its batch, weights, moments, learning rate and gradients."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from clearformer.doctor.forms.arguments import called
from clearformer.doctor.forms.trial import UnfitError, first_that_works


@dataclass(frozen=True)
class Met:
    """Everything but the rate as a digest. `moments` is empty where the optimizer has no state yet."""

    batch: str
    weights: str
    moments: str
    gradients: str
    rate: float


Train = Callable[[Path, int, int], list[Met]]
"""(folder, steps, seed) → what each step that this call makes meets."""


def resume_form(resume: Callable[..., Any], folder: Path) -> Train:
    """Raises NotApplicable where no form makes an optimizer step."""

    def form(kind: Callable[[Path], Any]) -> Train:
        def train(at: Path, steps: int, seed: int) -> list[Met]:
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            met: list[Met] = []
            with _watched(met), torch.enable_grad():
                called(resume, {"folder": kind(at), "steps": steps}, spare={"device": "cpu"}, order=("folder", "steps"))
            return met

        trial = folder / kind.__name__
        trial.mkdir()
        if not train(trial, 1, 0):
            raise UnfitError("no step by one of torch's optimizers")
        return train

    kinds: tuple[Callable[[Path], Any], ...] = (str, Path)
    return first_that_works("resume", [(f"resume({kind.__name__}, steps)", lambda k=kind: form(k)) for kind in kinds])  # type: ignore[misc]


@contextmanager
def _watched(met: list[Met]) -> Iterator[None]:
    read: list[str] = []

    def forward(_: Any, inputs: tuple[Any, ...]) -> None:
        if not read and torch.is_grad_enabled():
            tensors = [each for each in inputs if isinstance(each, Tensor)]
            read.extend([_digest(tensors[:1])] if tensors else [])

    def step(optimizer: Optimizer, _: Any, __: Any) -> None:
        held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        moments = [v for p in held for v in optimizer.state.get(p, {}).values() if isinstance(v, Tensor) and v.ndim]
        gradients = [parameter.grad for parameter in held if parameter.grad is not None]
        rate = max(float(group["lr"]) for group in optimizer.param_groups)
        met.append(Met(read[0] if read else "", _digest(held), _digest(moments), _digest(gradients), rate))
        read.clear()

    with ExitStack() as stack:
        stack.callback(register_module_forward_pre_hook(forward).remove)
        stack.callback(register_optimizer_step_pre_hook(step).remove)
        yield


def _digest(tensors: list[Any]) -> str:
    if not tensors:
        return ""
    found = hashlib.blake2b(digest_size=8)
    for tensor in tensors:
        found.update(tensor.detach().cpu().contiguous().float().numpy().tobytes())
    return found.hexdigest()

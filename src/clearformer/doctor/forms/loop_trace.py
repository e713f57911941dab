"""What a training loop does, written down while it runs: the calls in their order, and the gradients they meet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from clearformer.doctor.forms.planting import logits_in

Kind = Literal["forward", "backward", "scale", "unscale", "clip", "step", "scheduler", "update"]
MOST_STEPS, MOST_SECONDS = 48, 12.0


class EnoughError(Exception):
    """Ends a loop that would go on for long."""


@dataclass(frozen=True)
class Event:
    kind: Kind
    of: int = 0
    """Which optimizer or scheduler, by identity."""
    rate: float = 0.0
    """At a step: the largest learning rate."""
    empty: bool = False
    """At a step: no parameter has a gradient."""
    fresh: bool = False
    """At a step: the optimizer remembers nothing yet."""
    stale: bool = False
    """At a backward pass: gradients of an update that was already made are still there."""
    training: bool = True
    """At a forward pass: the module's mode."""


@dataclass
class MicroBatch:
    """`weights`: how much each target counts in the loss, read from the gradient of the logits."""

    weights: Tensor


@dataclass
class Trace:
    model: nn.Module
    vocab_size: int
    events: list[Event] = field(default_factory=list)
    micro: list[list[MicroBatch]] = field(default_factory=lambda: [[]])
    """The micro-batches of each update."""
    held: set[int] = field(default_factory=set)
    """Identities of the parameters that an optimizer updates."""
    graded: set[int] = field(default_factory=set)
    """Identities of the model's parameters that had a gradient at a step."""
    remembers: bool = False
    """Whether an optimizer keeps anything from step to step."""
    reached: bool = False
    """Whether a backward pass came as far as a parameter."""
    owners: dict[int, int] = field(default_factory=dict)
    """Scheduler → its optimizer."""
    scale: float = 1.0
    started: float = field(default_factory=time.monotonic)

    def count(self, kind: Kind, of: int | None = None) -> int:
        return sum(event.kind == kind and of in (None, event.of) for event in self.events)

    def windows(self) -> Iterator[list[Event]]:
        """The events of each update, up to its step; what follows the last step comes last."""
        window: list[Event] = []
        for event in self.events:
            window.append(event)
            if event.kind == "step":
                yield window
                window = []
        if window:
            yield window


@contextmanager
def traced(trace: Trace) -> Iterator[None]:
    """Within, every update by torch's own optimizers, schedulers and gradient scaler is written to the trace."""
    with ExitStack() as stack:
        for handle in (
            trace.model.register_forward_pre_hook(lambda module, _: _forward(trace, module)),
            trace.model.register_forward_hook(lambda _, __, output: _weigh(trace, output)),
            register_optimizer_step_pre_hook(lambda optimizer, _, __: _step(trace, optimizer)),
            register_optimizer_step_post_hook(lambda optimizer, _, __: _stepped(trace, optimizer)),
        ):
            stack.callback(handle.remove)
        for parameter in trace.model.parameters():
            if parameter.requires_grad:
                stack.callback(parameter.register_post_accumulate_grad_hook(lambda _: _reached(trace)).remove)
        _watch(stack, torch.autograd, "backward", lambda *_: _backward(trace))
        clipping = sys.modules["torch.nn.utils.clip_grad"]
        inner = "_clip_grads_with_norm_" if hasattr(clipping, "_clip_grads_with_norm_") else "clip_grad_norm_"
        _watch(stack, clipping, inner, lambda *_: trace.events.append(Event("clip")))
        _watch(stack, torch.nn.utils, "clip_grad_value_", lambda *_: trace.events.append(Event("clip")))
        scaler: Any = torch.amp.GradScaler
        _watch(stack, scaler, "scale", lambda self, *_: _scaled(trace, self))
        _watch(stack, scaler, "unscale_", lambda *_: trace.events.append(Event("unscale")), not_within=(scaler, "step"))
        _watch(stack, scaler, "step", lambda *_: None)
        _watch(stack, scaler, "update", lambda *_: trace.events.append(Event("update")))
        for kind in _schedulers(LRScheduler):
            if "step" in vars(kind):
                _watch(stack, kind, "step", lambda self, *_: _scheduled(trace, self))
        yield


def _reached(trace: Trace) -> None:
    trace.reached = True


def _watch(
    stack: ExitStack, owner: Any, name: str, seen: Callable[..., None], not_within: tuple[Any, str] | None = None
) -> None:
    """Call `seen` before the function of that name, outermost call only, until the stack closes."""
    original = getattr(owner, name)
    within = vars(stack).setdefault("running", [])

    @wraps(original)
    def watching(*arguments: Any, **named: Any) -> Any:
        if (owner, name) not in within and not_within not in within and not _nested(name, within):
            seen(*arguments)
        within.append((owner, name))
        try:
            return original(*arguments, **named)
        finally:
            within.pop()

    setattr(owner, name, watching)
    stack.callback(setattr, owner, name, original)


def _nested(name: str, within: list[tuple[Any, str]]) -> bool:
    """A scheduler that steps others is one step."""
    return name == "step" and any(_is_scheduler(owner) for owner, _ in within)


def _is_scheduler(owner: object) -> bool:
    return isinstance(owner, type) and issubclass(owner, LRScheduler)


def _schedulers(kind: type) -> set[type]:
    found, below = {kind}, list[type](kind.__subclasses__())
    for each in below:
        found |= _schedulers(each)
    return found


def _forward(trace: Trace, module: nn.Module) -> None:
    if torch.is_grad_enabled():
        trace.events.append(Event("forward", training=module.training))


def _weigh(trace: Trace, output: Any) -> None:
    """The gradient of a cross-entropy by a logit is weight · (probability − [it is the label]): the weight shows."""
    logits = logits_in(output, trace.vocab_size)
    if logits is None or not logits.requires_grad:
        return

    def pulled(gradient: Tensor) -> None:
        slope, label = gradient.detach().reshape(-1, trace.vocab_size).min(-1)
        chance = logits.detach().reshape(-1, trace.vocab_size).softmax(-1).gather(-1, label[:, None])[:, 0]
        trace.micro[-1].append(MicroBatch((-slope / (1 - chance).clamp(min=1e-3) / trace.scale).clamp(min=0)))

    logits.register_hook(pulled)


def _backward(trace: Trace) -> None:
    kinds = [event.kind for event in trace.events]
    last = max((at for at, kind in enumerate(kinds) if kind == "step"), default=-1)
    first = last >= 0 and "backward" not in kinds[last:]
    # A parameter that no optimizer holds keeps its gradient, whatever `optimizer.zero_grad` does.
    left = any(_graded(p) for p in trace.model.parameters() if id(p) in trace.held)
    trace.events.append(Event("backward", stale=first and left))


def _graded(parameter: nn.Parameter) -> bool:
    return parameter.grad is not None and bool(parameter.grad.any())


def _step(trace: Trace, optimizer: Optimizer) -> None:
    groups = optimizer.param_groups
    trace.held.update(id(parameter) for group in groups for parameter in group["params"])
    trace.graded.update(id(p) for p in trace.model.parameters() if _graded(p))
    rate = max(float(group["lr"]) for group in groups)
    empty = not any(map(_graded, trace.model.parameters()))
    trace.events.append(Event("step", id(optimizer), rate=rate, empty=empty, fresh=not optimizer.state))


def _stepped(trace: Trace, optimizer: Optimizer) -> None:
    trace.remembers = trace.remembers or bool(optimizer.state)
    trace.micro.append([])
    if trace.count("step") >= MOST_STEPS or time.monotonic() - trace.started > MOST_SECONDS:
        raise EnoughError


def _scaled(trace: Trace, scaler: Any) -> None:
    trace.scale = float(scaler.get_scale())
    trace.events.append(Event("scale"))


def _scheduled(trace: Trace, scheduler: LRScheduler) -> None:
    trace.owners[id(scheduler)] = id(getattr(scheduler, "optimizer", None))
    if not getattr(scheduler, "_is_initial", False):
        trace.events.append(Event("scheduler", id(scheduler)))

"""A training watched while it goes on: the laws of its course are judged again and again, each broken one told once.

watch = Watch(model, optimizer, vocab_size=1000)      # a loop of your own
for batch in batches:
    loss = …; loss.backward(); optimizer.step()
    watch.step(loss)                                  # before zero_grad
    optimizer.zero_grad()

Trainer(…, callbacks=[trainer_callback()])            # Hugging Face
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from clearformer.doctor.causes.table import CAUSES
from clearformer.doctor.check import NotApplicable
from clearformer.doctor.checks.run_gradients import norms
from clearformer.doctor.checks.run_held_out import gap
from clearformer.doctor.checks.run_loss import stuck
from clearformer.doctor.checks.run_rate import idle
from clearformer.doctor.checks.run_spikes import leaps
from clearformer.doctor.course import Course
from clearformer.doctor.finding import Breach
from clearformer.errors import DiagnosisError
from clearformer.messages import Language, language_of
from clearformer.messages import doctor_runs as say

LAWS = (idle, stuck, leaps, gap, norms)
_AT_FIRST, _GROWTH = 25, 1.1
"""The course is judged after so many records, and again each time it has grown by a tenth."""


class Watcher:
    """Hears records as a metrics file has them, and says which laws are newly broken."""

    def __init__(self, choices: int | None = None) -> None:
        self.course = Course(choices=choices)
        self._told: set[tuple[str, str, str]] = set()
        self._next = _AT_FIRST
        self._evaluations = 0

    def hear(self, record: Mapping[str, object]) -> tuple[Breach, ...]:
        """Take a record in; where the course has grown enough, judge it."""
        self.course.add(record)
        due = len(self.course.updates) >= self._next or len(self.course.held_out) > self._evaluations
        last = self.course.updates[-1].loss if self.course.updates else None
        if not due and (last is None or math.isfinite(last)):
            return ()
        return self.judge()

    def judge(self) -> tuple[Breach, ...]:
        """The breaches that have not been told."""
        self._evaluations = len(self.course.held_out)
        self._next = max(_AT_FIRST, int(len(self.course.updates) * _GROWTH) + 1)
        return tuple(self._new())

    def _new(self) -> Iterator[Breach]:
        for law in LAWS:
            try:
                found = list(law(self.course))
            except NotApplicable:
                continue
            for breach in found:
                key = breach.check, breach.severity, breach.suspects[0]
                if key not in self._told:
                    self._told.add(key)
                    yield breach


def sentence(breach: Breach, language: Language) -> str:
    """One line: how bad, what was seen, what mends it."""
    cause = CAUSES[breach.suspects[0]]
    evidence = "; ".join(each.text(language) for each in breach.evidence)
    values = {"severity": breach.severity, "check": breach.check, "evidence": evidence}
    return say.WATCHED.text(language, cause=cause.meaning, fix=cause.fix, **values)


def tell(breach: Breach) -> None:
    """To standard error, in the language of the locale."""
    print(sentence(breach, language_of()), file=sys.stderr, flush=True)


class Watch:
    """For a loop of one's own. `told` hears of each newly broken law; with `stop`, an ERROR ends the training."""

    def __init__(
        self,
        model: nn.Module | None = None,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        vocab_size: int | None = None,
        told: Callable[[Breach], None] = tell,
        stop: bool = False,
    ) -> None:
        self.watcher = Watcher(vocab_size)
        self._model, self._optimizer, self._told, self._stop = model, optimizer, told, stop
        self._step = 0

    def step(self, loss: float | torch.Tensor, *, lr: float | None = None, grad_norm: float | None = None) -> None:
        """After `optimizer.step()` and before `zero_grad()`. Rate and norm are the optimizer's and the gradients' where
        they are not given. Raises DiagnosisError at an ERROR, with `stop`."""
        self._step += 1
        record: dict[str, object] = {"step": self._step, "loss": _plain(loss)}
        if lr is None and self._optimizer is not None:
            lr = max(float(group["lr"]) for group in self._optimizer.param_groups)
        if grad_norm is None and self._model is not None:
            grad_norm = _norm(self._model)
        self._hear({**record, "lr": lr, "grad_norm": grad_norm})

    def evaluated(self, loss: float | torch.Tensor) -> None:
        """A loss on data that is not trained on."""
        self._hear({"step": self._step, "eval_loss": _plain(loss)})

    def _hear(self, record: Mapping[str, object]) -> None:
        for breach in self.watcher.hear(record):
            self._told(breach)
            if self._stop and breach.severity == "ERROR":
                evidence = "; ".join(each.text() for each in breach.evidence)
                raise DiagnosisError(say.STOPPED, cause=breach.suspects[0], evidence=evidence)


def _plain(loss: float | torch.Tensor) -> float:
    return float(loss.detach()) if isinstance(loss, torch.Tensor) else float(loss)


def _norm(model: nn.Module) -> float | None:
    """The length of the gradient; None where none is there."""
    lengths = [parameter.grad.detach().norm() for parameter in model.parameters() if parameter.grad is not None]
    return float(torch.stack([each.float().cpu() for each in lengths]).norm()) if lengths else None


def trainer_callback(
    *, vocab_size: int | None = None, told: Callable[[Breach], None] = tell, stop: bool = False
) -> Any:
    """A callback for Hugging Face's Trainer: it hears what the Trainer logs (`logging_steps`). With `stop`, an ERROR
    ends the training as the Trainer ends it."""
    from transformers import TrainerCallback

    class DoctorCallback(TrainerCallback):
        def __init__(self) -> None:
            self.watcher = Watcher(vocab_size)

        def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
            config = getattr(model, "config", None)
            if self.watcher.course.choices is None and "Classification" not in type(model).__name__:
                self.watcher.course.choices = getattr(config, "vocab_size", None)

        def on_log(
            self, args: Any, state: Any, control: Any, logs: Mapping[str, object] | None = None, **_: Any
        ) -> None:
            for breach in self.watcher.hear({"step": state.global_step, **(logs or {})}):
                told(breach)
                if stop and breach.severity == "ERROR":
                    control.should_training_stop = True

    return DoctorCallback()

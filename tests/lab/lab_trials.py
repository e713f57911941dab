"""Arms that compute nothing, and a crew in this process: the laboratory without its cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.lab.experiment import Claim, Experiment, Figure, Outcome, Trial
from clearformer.lab.team import Order, Told
from clearformer.lab.worker import carried_out
from clearformer.messages import Message, verbatim

OWN = """
name: toy
recipe:
  type: LanguageRecipe
  steps: 2
  data: {path: cyclic, context: 8, batch: 2}
  model: {type: Gpt, width: 8, heads: 2, layers: 1}
  compute: {compile: no, kernel: sdpa, switch: no}
equal: [cache_bytes]
arms:
  tied: {}
  untied: {spec.head.tied: false}
"""
"""A user's own experiment, as small as they come."""
LOSS = Figure("loss", Message("loss", "损失"))


@dataclass(frozen=True)
class Constant:
    """Gives `values[seed]`, and how many steps it was asked for."""

    name: str
    values: tuple[float, ...]
    known: Mapping[str, int] = field(default_factory=lambda: {"parameters": 7})
    diverges: tuple[int, ...] = ()

    @property
    def label(self) -> Message:
        return verbatim(self.name, self.name)

    def described(self) -> str:
        return f"{self.name} {self.values}"

    def facts(self, data: Path) -> Mapping[str, int]:
        return self.known

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        return 0.01

    def measure(self, trial: Trial) -> Outcome:
        trial.tell(trial.steps // 2)
        if trial.seed in self.diverges:
            return Outcome(diverged=True)
        value = self.values[trial.seed]
        return Outcome({"loss": value, "steps": float(trial.steps)}, {"by step": ([1, 2], [value, value / 2])})


def experiment(*arms: Constant, **more: Any) -> Experiment:
    title = Message("Which is less?", "哪个更小？")
    claims = (Claim(Message("b is more", "b 更大"), above="b", below="a", figure="loss"),) if len(arms) > 1 else ()
    return Experiment(name="toy", title=title, about=title, arms=arms, figure=LOSS, claims=claims, **more)


class Here:
    """Carries out orders itself; what it tells goes through JSON, as a worker's does. `last` is the last order heard
    before it dies."""

    def __init__(self, experiment: Experiment, most: int | None = None) -> None:
        self.experiment, self.most, self.orders = experiment, most, list[Order]()

    def carry_out(self, orders: Sequence[Order], hear: Callable[[Order, Told], None]) -> None:
        for order in orders:
            if self.most is not None and sum(each["seconds"] is None for each in self.orders) >= self.most:
                raise KeyboardInterrupt
            self.orders.append(order)
            told = carried_out(self.experiment, order, lambda step, order=order: hear(order, {"step": step}))  # type: ignore[misc]
            hear(order, json.loads(json.dumps(told)))

    @contextmanager
    def hired(self, count: int) -> Iterator[Here]:
        yield self

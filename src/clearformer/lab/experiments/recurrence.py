"""An LSTM against a Transformer at equal parameters: what each recalls, by distance, and how fast each reads, by length
(Hochreiter and Schmidhuber 1997; Vaswani et al. 2017 §4, arXiv 1706.03762)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.build import build
from clearformer.lab.described import described
from clearformer.lab.experiment import Claim, Curve, Experiment, Figure, Outcome, Points, Trial
from clearformer.lab.recall import DISTANCES, LENGTH, VOCABULARY, draw, loss, right
from clearformer.machine import use_threads
from clearformer.messages import Message
from clearformer.messages import lab_sublayers as say
from clearformer.spec.presets import modern_decoder

LENGTHS = (64, 256, 1024)
# These widths make the two alike to the weight: 103,232 each.
SPEC = modern_decoder(width=64, heads=2, kv_heads=2, hidden=172, layers=2, vocabulary=VOCABULARY, context=max(LENGTHS))
WIDTH, STATE = 68, 120
_ROWS, _JUDGED, _READ = 32, 256, 4
_LEARNING_RATE, _WARMUP = 3e-3, 0.1


class Recurrent(nn.Module):
    """Embedding, LSTM, logits."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, VOCABULARY, bias=False)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        states, _ = self.lstm(self.embed(ids))
        return self.head(states)


@dataclass(frozen=True, kw_only=True)
class RecallArm:
    """Learns to recall by AdamW, the same texts in the same order for every arm; `make` draws the weights."""

    name: str
    label: Message
    make: Callable[[int], nn.Module]

    def described(self) -> str:
        return f"{described(self.make)} {SPEC} {_LEARNING_RATE} {_ROWS} {LENGTH}"

    def facts(self, data: Path) -> dict[str, int]:
        count = sum(parameter.numel() for parameter in self.make(0).parameters())
        return {"parameters": count, "active_parameters": count}

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        self._trained(trial, 2)
        begun = time.perf_counter()
        self._trained(trial, 5)
        return (time.perf_counter() - begun) / 5

    def measure(self, trial: Trial) -> Outcome:
        model = self._trained(trial, trial.steps).eval()
        ids, distances = draw(_JUDGED, torch.Generator().manual_seed(1_000_000 + trial.seed))
        found = right(model, ids).double()
        by_distance = [
            float(found[(low <= distances) & (distances < high)].mean()) for low, high in pairwise(DISTANCES)
        ]
        speeds = [tokens_a_second(model, length) for length in LENGTHS]
        middles = [(low + high) / 2 for low, high in pairwise(DISTANCES)]
        curves: dict[str, Points] = {"recall": (middles, by_distance), "speed": (list(map(float, LENGTHS)), speeds)}
        return Outcome({"recall": float(found.mean()), "speed": speeds[-1]}, curves)

    def _trained(self, trial: Trial, steps: int) -> nn.Module:
        use_threads(trial.threads)
        model, generator = self.make(trial.seed), torch.Generator().manual_seed(trial.seed)
        optimizer = torch.optim.AdamW(model.parameters(), _LEARNING_RATE, weight_decay=0.0)
        warmup = max(1, round(_WARMUP * steps))
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = _LEARNING_RATE * min(1, (step + 1) / warmup)
            optimizer.zero_grad()
            loss(model, draw(_ROWS, generator)[0]).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            trial.tell(step + 1)
        return model


@torch.no_grad()
def tokens_a_second(model: nn.Module, length: int) -> float:
    """Read, the best of three passes over four rows: what disturbs a pass only makes it slower."""
    ids = torch.randint(VOCABULARY, (_READ, length), generator=torch.Generator().manual_seed(0))
    seconds = []
    for _ in range(4):
        begun = time.perf_counter()
        model(ids)
        seconds.append(time.perf_counter() - begun)
    return ids.numel() / min(seconds[1:])


def transformer(seed: int) -> nn.Module:
    return build(SPEC, generator=torch.Generator().manual_seed(seed))


def recurrent(seed: int, *, width: int, hidden: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Recurrent(width, hidden)


EXPERIMENT = Experiment(
    name="recurrence",
    title=say.RECURRENCE,
    about=say.RECURRENCE_ABOUT,
    arms=(
        RecallArm(name="transformer", label=say.TRANSFORMER, make=transformer),
        RecallArm(name="lstm", label=say.LSTM, make=partial(recurrent, width=WIDTH, hidden=STATE)),
    ),
    figure=Figure("recall", say.RECALLED, higher_is_better=True, form=".0%"),
    further=(Figure("speed", say.SPEED, higher_is_better=True, form=",.0f"),),
    curves=(
        Curve("recall", say.DISTANCE, say.RECALLED),
        Curve("speed", say.TEXT_LENGTH, say.SPEED, log_x=True, log_y=True),
    ),
    equal=("parameters",),
    claims=(
        Claim(say.RECURRENCE_RECALL, above="transformer", below="lstm", figure="recall"),
        Claim(say.RECURRENCE_SPEED, above="transformer", below="lstm", figure="speed"),
    ),
    alone=True,
)

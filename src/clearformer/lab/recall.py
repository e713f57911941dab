"""Pairs to be remembered: sixteen keys with their values, then the keys again in another order, each to be answered.

Only looking up answers it; how far back the pair lies is the distance (multi-query associative recall: Arora et al.
2023, arXiv 2312.04927).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

PAIRS, KEYS, VALUES = 16, 32, 32
VOCABULARY = KEYS + VALUES
LENGTH = 4 * PAIRS
DISTANCES = (2, 18, 34, 50, LENGTH)
"""Borders of the groups in which distances are counted."""


def draw(rows: int, generator: torch.Generator) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B N"]]:
    """Texts `k v k v … k v k v …` of 64 tokens; and for each question, in order, how far back its pair lies."""
    keys = torch.stack([torch.randperm(KEYS, generator=generator)[:PAIRS] for _ in range(rows)])
    values = KEYS + torch.randint(VALUES, (rows, PAIRS), generator=generator)
    asked = torch.stack([torch.randperm(PAIRS, generator=generator) for _ in range(rows)])
    told = torch.stack([keys, values], 2).flatten(1)
    questions = torch.stack([keys.gather(1, asked), values.gather(1, asked)], 2).flatten(1)
    distances = 2 * (PAIRS + torch.arange(PAIRS) - asked)
    return torch.cat([told, questions], 1), distances


def answers(ids: Int[Tensor, "B T"]) -> Int[Tensor, "B N"]:
    """The values asked for: every second token of the second half."""
    return ids[:, 2 * PAIRS + 1 :: 2]


def answered(logits: Float[Tensor, "B T V"]) -> Float[Tensor, "B N V"]:
    """What a model says after each question."""
    return logits[:, 2 * PAIRS :: 2]


def loss(model: nn.Module, ids: Int[Tensor, "B T"]) -> Tensor:
    """Nats an answer."""
    return nn.functional.cross_entropy(answered(model(ids)).flatten(0, 1), answers(ids).flatten())


@torch.no_grad()
def right(model: nn.Module, ids: Int[Tensor, "B T"]) -> Bool[Tensor, "B N"]:
    """Which questions are answered rightly."""
    return answered(model(ids)).argmax(-1) == answers(ids)

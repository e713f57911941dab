"""Samplers, penalties, beam searches and greedy generation, sound."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Step = Callable[[Tensor], Tensor]
"""ids [N, T] → log-probabilities [N, V]."""


def greedy(model: nn.Module, ids: Tensor, max_new_tokens: int) -> Tensor:
    for _ in range(max_new_tokens):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
    return ids


def sample(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    """Logits with what is excluded at -inf; temperature 0 leaves the best."""
    if temperature == 0.0:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, float("-inf")).scatter(-1, best, 0.0)
    logits = logits / temperature
    if top_k is not None:
        least = logits.topk(min(top_k, logits.shape[-1]), -1).values[..., -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    if top_p is not None:
        logits = nucleus(logits, top_p)
    return logits


def nucleus(logits: Tensor, top_p: float, crossing: bool = True) -> Tensor:
    """The fewest tokens whose probability reaches `top_p`; the best at least."""
    ordered, where = logits.sort(-1, descending=True)
    chances = ordered.softmax(-1)
    before = chances.cumsum(-1) - (chances if crossing else 0.0)
    out = before >= top_p if crossing else before > top_p
    if crossing:
        out[..., 0] = False
    return logits.masked_fill(out.scatter(-1, where, out), float("-inf"))


def penalise(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """What was seen becomes less likely, whatever the sign of its logit."""
    seen = logits.gather(-1, ids)
    return logits.scatter(-1, ids, torch.where(seen > 0, seen / penalty, seen * penalty))


def beam_search(step: Step, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[tuple[Tensor, float]]:
    """The best first; a finished sequence is kept as it is; the score is the sum, divided by nothing."""
    row = ids.reshape(1, -1)
    alive: list[tuple[Tensor, float]] = [(row, 0.0)]
    done: list[tuple[Tensor, float]] = []
    for _ in range(max_new_tokens):
        grown = []
        for each, score in alive:
            told = step(each)[0]
            grown += [(torch.cat([each, each.new_tensor([[t]])], 1), score + told[t].item()) for t in range(len(told))]
        grown.sort(key=lambda pair: -pair[1])
        alive = []
        for each, score in grown[:beams]:
            (done if each[0, -1] == eos_id else alive).append((each, score))
        if not alive:
            break
    best = sorted(done + alive, key=lambda pair: -pair[1])[:beams]
    return [(each[0], score) for each, score in best]

"""A lens that is trained: for each layer one affine map into what the head understands (Belrose et al. 2023).

"Eliciting Latent Predictions from Transformers with the Tuned Lens", arXiv 2303.08112, §3: h + A h + b before the
final norm, A and b from zero, learnt by the divergence from the model's own last answer. The model is not changed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.errors import UsageError
from clearformer.inspect.lens import answer, asked_stack, listen_to_stream
from clearformer.inspect.subject import Subject, evaluating, single_way, subject_of
from clearformer.load import Loaded
from clearformer.messages import lens as messages
from clearformer.model import Model

Progress = Callable[[int, int], None]

LEAST_TOKENS, STEPS = 64, 50
_LONGEST_PIECE, _HELD_PIECES = 128, 8
# Positions judged a step: each costs one product with the whole vocabulary for every layer.
_JUDGED = 32
_STRIDE = 0.5
"""A first step of Adam moves every number of a map by the rate: a state by at most this share of its own length."""


class TunedLens(nn.Module):
    """One map a row of the lens, the last row's being none: the model reads its last layer itself."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows - 1, width, width))
        self.bias = nn.Parameter(torch.zeros(rows - 1, width))

    def forward(self, row: int, states: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        if row == len(self.weight):
            return states
        moved = states.float() @ self.weight[row].T + self.bias[row]
        return states + moved.to(states.dtype)


@dataclass(frozen=True)
class Tuning:
    """How tuning went: the divergence from the model's answer on held-out text, mean over rows, in nats."""

    lens: TunedLens
    before: float
    after: float
    steps: int
    tokens: int


def tune(
    looked_at: Loaded | Model,
    ids: Sequence[int],
    *,
    source: Sequence[int] | None = None,
    steps: int = STEPS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tuning:
    """Train a lens on `ids`, pieces of which the model reads (an encoder-decoder beside `source`); a tenth is held out.

    The same seed gives the same lens. Raises UsageError for too short a text and a head without words.
    """
    if len(ids) < LEAST_TOKENS:
        raise UsageError(messages.TOO_LITTLE_TEXT, least=LEAST_TOKENS, found=len(ids), path="ids")
    if steps < 1:
        raise UsageError(messages.BAD_STEPS, found=steps)
    piece, held = min(_LONGEST_PIECE, single_way(looked_at).spec.context), max(LEAST_TOKENS // 4, len(ids) // 10)
    learnt, last = list(ids[:-held]), ids[-held:][: _HELD_PIECES * piece]
    kept = [_subject(looked_at, last[at : at + piece], source) for at in range(0, len(last), piece)]
    first = kept[0]
    stack, device = asked_stack(first.model), first.data.device
    made = TunedLens(len(stack.blocks) + 1, stack.spec.width).to(device)
    rate = _STRIDE / stack.spec.width
    optimizer = torch.optim.Adam(made.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(seed)
    frozen = [parameter for parameter in first.model.parameters() if parameter.requires_grad]
    with evaluating(first.model):
        before = statistics.fmean(divergence(made, each) for each in kept)
        for parameter in frozen:
            parameter.requires_grad_(False)
        try:
            for step in range(steps):
                for group in optimizer.param_groups:
                    group["lr"] = rate * (1 - step / steps)
                start = int(torch.randint(max(1, len(learnt) - piece), (), generator=generator))
                _learn(made, _subject(looked_at, learnt[start : start + piece], source), generator)
                nn.utils.clip_grad_norm_(made.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                if progress is not None:
                    progress(step + 1, steps)
        finally:
            for parameter in frozen:
                parameter.requires_grad_(True)
        after = statistics.fmean(divergence(made, each) for each in kept)
    return Tuning(made.requires_grad_(False), before, after, steps, len(learnt))


def divergence(tuned: TunedLens, subject: Subject) -> float:
    """Σ p log(p / q) of the model's answer p and each row's answer q, mean over rows but the last and positions."""
    with torch.no_grad():
        states, wanted = _stream(subject, None)
        rows = [_divergence(subject, tuned(row, each), wanted) for row, each in enumerate(states[:-1])]
    return float(torch.stack(rows).mean())


def _learn(tuned: TunedLens, subject: Subject, generator: torch.Generator) -> None:
    """Gradients of one piece of text, row by row, so that one row's logits are held at a time."""
    states, wanted = _stream(subject, generator)
    for row, each in enumerate(states[:-1]):
        _divergence(subject, tuned(row, each), wanted).backward()


def _stream(subject: Subject, generator: torch.Generator | None) -> tuple[list[Tensor], Tensor]:
    """Every row's states at some positions, drawn if a generator is given, and the model's log-probabilities there."""
    kept: list[Tensor] = []
    length = (subject.data if subject.target is None else subject.target).shape[1]
    order = torch.arange(length) if generator is None else torch.randperm(length, generator=generator)
    places = order[:_JUDGED].sort().values.to(subject.data.device)
    with torch.no_grad():
        logits = listen_to_stream(subject, lambda row, states: kept.append(states[:, places].clone()))
    return kept, logits[:, places].float().log_softmax(-1)


def _divergence(subject: Subject, states: Tensor, wanted: Float[Tensor, "B T V"]) -> Float[Tensor, ""]:
    said = answer(subject, states).float().log_softmax(-1)
    return nn.functional.kl_div(said, wanted, log_target=True, reduction="none").sum(-1).mean()


def _subject(looked_at: Loaded | Model, ids: Sequence[int], source: Sequence[int] | None) -> Subject:
    """The model with a piece of text: read by the decoder where there are two sides."""
    return subject_of(looked_at, ids) if source is None else subject_of(looked_at, source, ids)

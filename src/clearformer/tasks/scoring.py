"""How well next or missing tokens are predicted: sums over targets, so that no batch size shows in a mean.

Teacher-forced figures are read with the true text before every target; free-running ones behind the model's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from clearformer.generate.reader import CachedReader
from clearformer.loss import IGNORE
from clearformer.model import DecoderOnly

# Logits held at once, in bytes.
_LOGITS = 64 * 2**20


class Score(NamedTuple):
    """Σ −ln p(target), how many targets were the likeliest token, and how many there were."""

    nats: float = 0.0
    right: int = 0
    asked: int = 0

    @property
    def loss(self) -> float:
        """Nats a target."""
        return self.nats / self.asked

    @property
    def perplexity(self) -> float:
        """e to the loss, as far as a float64 goes."""
        return math.exp(min(self.loss, 700))

    @property
    def accuracy(self) -> float:
        return self.right / self.asked

    def plus(self, other: Score) -> Score:
        return Score(self.nats + other.nats, self.right + other.right, self.asked + other.asked)


def score(
    logits_of: Callable[[Float[Tensor, "rows D"]], Float[Tensor, "rows V"]],
    hidden: Float[Tensor, "*any D"],
    targets: Int[Tensor, "*any"],
) -> Score:
    """The score of every target that is not IGNORE; each loss in float32 at least, their sum in float64."""
    counted = targets != IGNORE
    rows, wanted = hidden[counted], targets[counted]
    most = max(1, _LOGITS // (4 * logits_of(rows[:0]).shape[-1]))
    found = Score()
    for some, some_wanted in zip(rows.split(most), wanted.split(most), strict=True):
        logits = logits_of(some)
        logits = logits if logits.dtype == torch.float64 else logits.float()
        nats = functional.cross_entropy(logits, some_wanted, reduction="none").double().sum()
        found = found.plus(Score(float(nats), int((logits.argmax(-1) == some_wanted).sum()), len(some_wanted)))
    return found


@torch.no_grad()
def free_running_accuracy(model: DecoderOnly, texts: Int[Tensor, "B T"], given: int) -> float:
    """Of the tokens behind the first `given`, the share that the model writes itself, always taking the likeliest.

    One wrong token misleads all later ones, which teacher-forced accuracy never shows (exposure bias; Bengio et al.
    2015, arXiv 1506.03099).
    """
    rows, length = texts.shape
    bound = torch.full((rows,), length, device=texts.device)
    reader = CachedReader(model, capacity=length, length_bound=bound)
    written = [reader.read(texts[:, :given]).argmax(-1)]
    while len(written) < length - given:
        written.append(reader.read(written[-1][:, None]).argmax(-1))
    return float((torch.stack(written, 1) == texts[:, given:]).double().mean())

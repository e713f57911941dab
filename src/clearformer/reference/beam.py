"""Beam search: the likeliest whole sequence, sought with the `width` best beginnings (arXiv 1706.03762 §6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from clearformer.errors import GenerationError
from clearformer.messages import reference as messages
from clearformer.reference.loss import log_softmax
from clearformer.reference.model import encode
from clearformer.reference.reader import Reader
from clearformer.spec import DecoderOnly, EncoderDecoder


@dataclass(frozen=True)
class Hypothesis:
    """New tokens, the end token included if it was reached, their log-probability, and that over the length penalty."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


def length_penalty(length: int, alpha: float) -> float:
    """((5 + n) / 6)^α: without it the shortest sequence wins (Wu et al. 2016 §7, arXiv 1609.08144)."""
    return ((5 + length) / 6) ** alpha


def beam_search(
    spec: DecoderOnly | EncoderDecoder,
    weights: Mapping[str, np.ndarray],
    prompt: Int[np.ndarray, " T"],
    new_tokens: int,
    *,
    end: int,
    width: int = 4,
    alpha: float = 0.6,
    source: np.ndarray | None = None,
    source_real: Bool[np.ndarray, "1 S"] | None = None,
) -> list[Hypothesis]:
    """Up to `width` hypotheses for one sequence, the best first.

    `prompt` is what a decoder continues, or the start of the target for `source` (one row). Each step keeps the `width`
    likeliest beginnings that have not ended; those among the `width` likeliest that have ended are set aside.
    """
    for name, value, low in (("width", width, 1), ("new_tokens", new_tokens, 1), ("alpha", alpha, 0)):
        if not value >= low:
            raise GenerationError(messages.NUMBER_OUT_OF_RANGE, what=name, low=low, high="∞", found=value)
    reader = _reader(spec, weights, len(prompt) + new_tokens, source, source_real)
    logits = reader.read(prompt[None, :], np.ones((1, len(prompt)), dtype=bool))
    live, ended = [Hypothesis((), 0.0, 0.0)], list[Hypothesis]()
    for length in range(1, new_tokens + 1):
        penalty = length_penalty(length, alpha)
        total = np.array([[beginning.log_probability] for beginning in live]) + log_softmax(logits)
        rows, tokens = np.unravel_index(np.argsort(-total, axis=None, kind="stable")[: 2 * width], total.shape)
        grown = [
            Hypothesis((*live[row].tokens, int(token)), float(total[row, token]), float(total[row, token] / penalty))
            for row, token in zip(rows, tokens, strict=True)
        ]
        ended += [hypothesis for hypothesis in grown[:width] if hypothesis.tokens[-1] == end]
        going = [index for index, hypothesis in enumerate(grown) if hypothesis.tokens[-1] != end][:width]
        live = [grown[index] for index in going]
        if not live or length == new_tokens or _settled(live, ended, width, length_penalty(new_tokens, alpha)):
            break
        reader.keep(rows[going])
        logits = reader.read(tokens[going][:, None], np.ones((len(going), 1), dtype=bool))
    return sorted(ended + live, key=lambda hypothesis: -hypothesis.score)[:width]


def _settled(live: list[Hypothesis], ended: list[Hypothesis], width: int, largest_penalty: float) -> bool:
    """Whether no beginning can still overtake: its log-probability only falls, its penalty grows to the largest."""
    if len(ended) < width:
        return False
    worst_kept = sorted(hypothesis.score for hypothesis in ended)[-width]
    return live[0].log_probability / largest_penalty <= worst_kept


def _reader(
    spec: DecoderOnly | EncoderDecoder,
    weights: Mapping[str, np.ndarray],
    longest: int,
    source: np.ndarray | None,
    source_real: np.ndarray | None,
) -> Reader:
    if isinstance(spec, DecoderOnly) != (source is None):
        raise GenerationError(messages.SOURCE_DOES_NOT_FIT, role=type(spec).__name__)
    memory = None
    if isinstance(spec, EncoderDecoder) and source is not None:
        memory = encode(spec, weights, source, real=source_real)
    return Reader(spec, weights, capacity=longest, length_bound=np.array([longest]), memory=memory)

"""Beam search: the likeliest whole text, sought with the `width` best beginnings of each (arXiv 1706.03762 §6.1).

Every text of the batch has `width` rows of the cache. After each step its best beginnings take those rows, whichever
beginnings they grew from; a text whose kept hypotheses no beginning can overtake leaves the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.errors import GenerationError
from clearformer.generate.reader import Reader
from clearformer.messages import generate as messages


@dataclass(frozen=True)
class Hypothesis:
    """New tokens, an end token included if one was reached, their log-probability, and that over the length penalty."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


@dataclass
class _Search:
    """One text's search: what has ended so far, and the most tokens that it may have."""

    number: int
    limit: int
    ended: list[Hypothesis] = field(default_factory=list)


def length_penalty(length: int, alpha: float) -> float:
    """((5 + n) / 6)^α: without it the shortest text wins (Wu et al. 2016 §7, arXiv 1609.08144)."""
    return float(((5 + length) / 6) ** alpha)


@torch.inference_mode()
def beam_search(
    reader: Reader,
    starts: Int[Tensor, "B T"],
    *,
    real: Bool[Tensor, "B T"] | None = None,
    ends: Collection[int],
    width: int,
    alpha: float,
    limits: Sequence[int],
) -> list[list[Hypothesis]]:
    """Up to `width` hypotheses for each row that `starts` begins, the best first; `limits` is each one's most tokens.

    The reader has nothing of these rows yet. Each text gets what it would get alone; what has not ended by its limit is
    a hypothesis too. Raises GenerationError for logits that hold NaN or infinity.
    """
    logits = _finite(reader.read(starts, real), starts.shape[1])
    device = logits.device
    reader.keep(torch.arange(len(starts), device=device).repeat_interleave(width))
    searches = [_Search(number, limit) for number, limit in enumerate(limits)]
    found: list[list[Hypothesis]] = [[] for _ in limits]
    # Of the equal beginnings of a text the first alone is alive: the others would find the same again.
    live = torch.full((len(starts), width), -torch.inf, dtype=torch.float64, device=device)
    live[:, 0] = 0.0
    tokens = torch.empty(len(starts), width, 0, dtype=torch.long, device=device)
    logits = logits.repeat_interleave(width, 0)
    while searches:
        live, tokens, rows = _grow(searches, live, tokens, logits, ends, alpha)
        going = [
            place
            for place, search in enumerate(searches)
            if not _done(search, live[place], tokens[place], found, width, alpha)
        ]
        if not going:
            break
        if len(going) < len(searches):
            kept = torch.tensor(going, device=device)
            live, tokens, rows = live[kept], tokens[kept], rows[kept]
            searches = [searches[place] for place in going]
        reader.keep(rows.flatten())
        logits = _finite(reader.read(tokens[:, :, -1].reshape(-1, 1)), reader.length)
    return found


def _finite(logits: Float[Tensor, "rows V"], position: int) -> Float[Tensor, "rows V"]:
    # A word of probability 0 is −∞; where the largest logit is no number, nothing can be chosen.
    if not logits.amax(-1).isfinite().all():
        raise GenerationError(messages.NOT_A_NUMBER, position=position)
    return logits


def _grow(
    searches: list[_Search],
    live: Float[Tensor, "N W"],
    tokens: Int[Tensor, "N W t"],
    logits: Float[Tensor, "NW V"],
    ends: Collection[int],
    alpha: float,
) -> tuple[Float[Tensor, "N W"], Int[Tensor, "N W t+1"], Int[Tensor, "N W"]]:
    """One more token: the likeliest beginnings that have not ended, and the rows that they grew from.

    What has ended is set aside if it is among the `W` likeliest.
    """
    texts, width = live.shape
    vocabulary = logits.shape[-1]
    # So many that `width` are left when all end marks are taken away; no beginning can have more of them in the best.
    most = width * (1 + len(ends))
    likely, words = logits.topk(min(most, vocabulary), -1)
    likely = likely.double() - logits.logsumexp(-1, keepdim=True)
    total = live[:, :, None] + likely.view(texts, width, -1)
    best, places = total.flatten(1).topk(min(most, total[0].numel()), -1)
    beams, words = places // likely.shape[1], words.view(texts, -1).gather(1, places)
    closing = torch.isin(words, torch.tensor(sorted(ends), dtype=words.dtype, device=words.device))
    length = tokens.shape[2] + 1
    for text, rank in (closing[:, :width] & best[:, :width].isfinite()).nonzero().tolist():
        log_probability = float(best[text, rank])
        whole = (*tokens[text, beams[text, rank]].tolist(), int(words[text, rank]))
        score = log_probability / length_penalty(length, alpha)
        searches[text].ended.append(Hypothesis(whole, log_probability, score))
    # A stable sort by "has ended" keeps the others in the order of their probability.
    going = closing.int().argsort(dim=1, stable=True)[:, :width]
    best = best.masked_fill(closing, -torch.inf).gather(1, going)
    beams, words = beams.gather(1, going), words.gather(1, going)
    grown = torch.cat((tokens.gather(1, beams[:, :, None].expand(-1, -1, length - 1)), words[:, :, None]), 2)
    if best.shape[1] < width:
        lacking = width - best.shape[1]
        best = torch.nn.functional.pad(best, (0, lacking), value=-torch.inf)
        grown = torch.cat((grown, grown[:, :1].expand(-1, lacking, -1)), 1)
        beams = torch.cat((beams, beams[:, :1].expand(-1, lacking)), 1)
    return best, grown, torch.arange(texts, device=beams.device)[:, None] * width + beams


def _done(
    search: _Search,
    live: Float[Tensor, " W"],
    tokens: Int[Tensor, "W t"],
    found: list[list[Hypothesis]],
    width: int,
    alpha: float,
) -> bool:
    """Whether the text's search is over; then its hypotheses, those that never ended among them, are in `found`."""
    length = tokens.shape[1]
    alive = [place for place, log_probability in enumerate(live.tolist()) if log_probability > -torch.inf]
    if alive and length < search.limit and not _settled(search, float(live[alive[0]]), width, alpha):
        return False
    penalty = length_penalty(length, alpha)
    rest = [Hypothesis(tuple(tokens[p].tolist()), float(live[p]), float(live[p]) / penalty) for p in alive]
    ranked = sorted(search.ended + rest, key=lambda hypothesis: -hypothesis.score)
    found[search.number] = ranked[:width]
    return True


def _settled(search: _Search, best_alive: float, width: int, alpha: float) -> bool:
    """Whether no beginning can still overtake: its log-probability only falls, its penalty grows to the largest."""
    if len(search.ended) < width:
        return False
    worst_kept = sorted(hypothesis.score for hypothesis in search.ended)[-width]
    return best_alive / length_penalty(search.limit, alpha) <= worst_kept

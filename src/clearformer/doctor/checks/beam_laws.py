"""Laws of a beam search (a part of K27): held against every sequence of a small chain."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import torch
from torch import Tensor

from clearformer.doctor.check import NotApplicable
from clearformer.doctor.checks.sampling_laws import Found
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Said
from clearformer.doctor.forms.beams import END, WORDS, Search, search_form
from clearformer.messages import doctor_decoding as say

SIZES = ((128, 4), (5, 2))
"""(beams, new tokens): enough beams for every sequence. The second for searches that cannot begin with more beams than
words."""
LONG = 20
Sequence = tuple[int, ...]


def laws(examination: Examination) -> Iterator[Found]:
    """Nothing follows an end, the prompt's length plays no part, and the best sequence is found."""
    beam = examination.parts.beam
    assert beam is not None
    refusal: NotApplicable | None = None
    for width, many in SIZES:
        chains = [_chain(seed, many) for seed in (0, 1)]
        try:
            search = search_form(beam, chains[0], width, many)
        except NotApplicable as answer:
            refusal = refusal or answer
            continue
        for chain in chains:
            found = [*_ends(search, chain, width, many)] or [*_prompt(search, chain, width, many)]
            found = found or [*_best(search, chain, width, many)]
            if found:
                yield from found
                return
        return
    assert refusal is not None
    raise refusal


def sequences(chain: Tensor, many: int) -> dict[Sequence, float]:
    """Every answer of at most `many` tokens with the sum of its log-probabilities."""
    found: dict[Sequence, float] = {}
    for length in range(1, many + 1):
        for words in product(range(WORDS), repeat=length):
            if END in words[:-1] or (length < many and words[-1] != END):
                continue
            path = (1, *words)
            found[words] = sum(float(chain[a, b]) for a, b in pairwise(path))
    return found


def _best_of(scores: dict[Sequence, float]) -> set[Sequence]:
    """The best by the sum and by usual powers of the answer's own length."""
    return {max(scores, key=lambda words, p=power: scores[words] / len(words) ** p) for power in (0.0, 0.6, 0.8, 1.0)}  # type: ignore[misc]


def _greedy(chain: Tensor, many: int) -> Sequence:
    words: list[int] = []
    while len(words) < many and (not words or words[-1] != END):
        words.append(int(chain[words[-1] if words else 1].argmax()))
    return tuple(words)


def _chain(seed: int, many: int) -> Tensor:
    """A chain whose best sequence is neither the greedy one nor the first that ends."""
    for attempt in range(400):
        generator = torch.Generator().manual_seed(1000 * seed + attempt)
        chain = (2.0 * torch.randn(WORDS, WORDS, generator=generator)).log_softmax(-1)
        scores = sequences(chain, many)
        best = _best_of(scores)
        first = [words for words in scores if len(words) == 1]
        if _greedy(chain, many) not in best and not best & set(first) and all(len(words) == many for words in best):
            return chain
    raise AssertionError("no such chain among 400")


def _ends(search: Search, chain: Tensor, width: int, many: int) -> Iterator[Found]:
    results = [words for words, _ in search(chain, [1], width, many)]
    after = {word for words in results if END in words for word in words[words.index(END) + 1 :]}
    # Filling up with one mark is no going on.
    if after - {END} and not after <= {0, END, -1}:
        bad = next(words for words in results if END in words and set(words[words.index(END) + 1 :]) - {END})
        yield "ERROR", Said(say.AFTER_END, {"ids": list(bad)}), ("finished beams go on",)


def _prompt(search: Search, chain: Tensor, width: int, many: int) -> Iterator[Found]:
    short = _whole(search(chain, [1], width, many))
    long = _whole(search(chain, [1, *[2, 3] * (LONG // 2), 1], width, many))
    shared = [words for words in short if words in long]
    if not short or not shared:
        return
    apart = 0.0
    if all(short[words] is not None and long[words] is not None for words in shared):
        pairs = [(float(short[words] or 0.0), float(long[words] or 0.0)) for words in shared]
        apart = max(abs((a - pairs[0][0]) - (b - pairs[0][1])) for a, b in pairs)
    if next(iter(short)) != next(iter(long)) or apart > 1e-3:
        values = {"short": 1, "long": LONG + 2, "apart": apart}
        yield "ERROR", Said(say.PROMPT_COUNTS, values), ("prompt length in the beam score",)


def _whole(results: list[tuple[Sequence, float | None]]) -> dict[Sequence, float | None]:
    """Answers up to their end."""
    return {words[: words.index(END) + 1] if END in words else words: score for words, score in results}


def _best(search: Search, chain: Tensor, width: int, many: int) -> Iterator[Found]:
    results = search(chain, [1], width, many)
    scores = sequences(chain, many)
    first = next(iter(_whole(results)))
    told = [score for _, score in results if score is not None]
    if any(after > before + 1e-5 for before, after in pairwise(told)):
        yield (
            "ERROR",
            Said(say.OUT_OF_ORDER, {"scores": [round(score, 3) for score in told[:6]]}),
            ("beam scores out of order",),
        )
    best = _best_of(scores)
    if first in best:
        yield from _ranking(results, scores, width)
        return
    right = max(scores, key=lambda words: scores[words])
    values = {"width": width, "found": list(first), "score": scores.get(first, float("nan")), "best": list(right)}
    early = END in first and len(first) < len(right) and first != _greedy(chain, many)
    causes = ("beam stops at the first end", "beam misses the best") if early else ("beam misses the best",)
    yield "ERROR", Said(say.NOT_BEST, values | {"right": scores[right]}), causes


def _ranking(
    results: list[tuple[Sequence, float | None]], scores: dict[Sequence, float], width: int
) -> Iterator[Found]:
    """Of answers as long as each other the more probable comes first, whatever is made of their length."""
    ranked = [words for words in _whole(results) if words in scores]
    for one, other in pairwise(ranked):
        if len(one) == len(other) and scores[one] < scores[other] - 1e-4:
            values = {"width": width, "found": list(one), "score": scores[one], "best": list(other)}
            yield "ERROR", Said(say.NOT_BEST, values | {"right": scores[other]}), ("beam misses the best",)
            return

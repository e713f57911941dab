"""K27 on samplers, penalties and beam searches as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus.decoding import beam_search, penalise, sample

NO = float("-inf")


def drawing(logits: Tensor, temperature: float = 1.0, top_k: int = 50, top_p: float = 1.0) -> Tensor:
    """Ids, drawn; a top_k beyond the vocabulary is all of it."""
    kept = sample(logits, temperature, min(top_k, logits.shape[-1]), top_p)
    return torch.multinomial(kept.softmax(-1), 1)


def of_one_row(probs: Tensor, p: float) -> Tensor:
    """Probabilities of one position."""
    ordered, where = probs.sort(descending=True)
    out = ordered.cumsum(-1) - ordered >= p
    out[0] = False
    kept = probs.masked_fill(out.scatter(0, where, out), 0.0)
    return kept / kept.sum()


def refusing(logits: Tensor, temperature: float) -> Tensor:
    if temperature <= 0:
        raise ValueError("temperature must be positive")
    return logits / temperature


def short(probs: Tensor, top_p: float) -> Tensor:
    ordered, where = probs.sort(-1, descending=True)
    return probs.masked_fill((ordered.cumsum(-1) > top_p).scatter(-1, where, ordered.cumsum(-1) > top_p), 0.0)


def unsorted(logits: Tensor, top_p: float) -> Tensor:
    chances = logits.softmax(-1).sort(-1, descending=True).values
    return logits.masked_fill(chances.cumsum(-1) - chances >= top_p, NO)


def twice(logits: Tensor, top_k: int) -> Tensor:
    return logits.masked_fill(logits < logits.topk(min(2 * top_k, 8)).values[..., -1:], NO)


def hot(logits: Tensor, temperature: float) -> Tensor:
    return logits * temperature if temperature else logits.masked_fill(logits < logits.amax(-1, keepdim=True), NO)


def dividing(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).softmax(-1)


def greedy(logits: Tensor) -> Tensor:
    return logits.argmax(-1)


def of_all_rows(logits: Tensor, top_k: int) -> Tensor:
    return logits.masked_fill(logits < logits.flatten().topk(top_k).values[-1], NO)


FAULTY: list[tuple[Callable[..., Any], str]] = [
    (short, "nucleus empty"), (unsorted, "kept tokens are not the most probable"),
    (twice, "top-k keeps the wrong number"),
    (hot, "temperature inverted"), (greedy, "sampled distribution differs"),
    (of_all_rows, "rows mixed in sampling"),
]  # fmt: skip


@pytest.mark.parametrize("function", [sample, drawing, of_one_row, refusing])
def test_a_sound_sampler(function: Callable[..., Any]) -> None:
    assert causes("K27", sample=function) == []


@pytest.mark.parametrize(("function", "cause"), FAULTY)
def test_a_faulty_sampler(function: Callable[..., Any], cause: str) -> None:
    assert causes("K27", sample=function)[0] == f"ERROR {cause}"


def test_a_temperature_of_zero_is_a_warning() -> None:
    assert causes("K27", sample=dividing) == ["WARN temperature zero not greedy"]


def additive(logits: Tensor, generated: list[int], penalty: float) -> Tensor:
    """One row, a list of ids, changed in place."""
    for token in set(generated):
        logits[token] -= penalty
    return logits


def divided(scores: Tensor, prev_tokens: Tensor, penalty: float) -> Tensor:
    return scores.scatter(-1, prev_tokens, scores.gather(-1, prev_tokens) / penalty)


def of_the_batch(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    logits = logits.clone()
    logits[:, ids.unique()] -= penalty
    return logits


def test_penalties() -> None:
    assert causes("K27", penalise=penalise) == []
    assert causes("K27", penalise=additive) == []
    assert causes("K27", penalise=divided) == ["ERROR penalty raises seen tokens"]
    assert causes("K27", penalise=of_the_batch) == ["ERROR rows mixed in sampling"]
    assert causes("K27", penalise=lambda logits, ids, penalty: logits) == ["ERROR penalty without effect"]


def with_topk(model: Any, input_ids: Tensor, num_beams: int, max_new_tokens: int, eos_token_id: int) -> Any:
    """All beams in one tensor, begun with minus infinity for all but the first; ended ones are set aside."""
    ids, scores = input_ids.expand(num_beams, -1), torch.full((num_beams,), -1e9)
    scores[0] = 0.0
    done: list[tuple[Tensor, float]] = []
    for _ in range(max_new_tokens):
        told = model(ids)[:, -1].log_softmax(-1)
        best, at = (scores[:, None] + told).flatten().topk(num_beams)
        ids, scores = torch.cat([ids[at // told.shape[-1]], (at % told.shape[-1])[:, None]], 1), best.clone()
        ended = ids[:, -1] == eos_token_id
        done += [(row, float(score)) for row, score in zip(ids[ended], scores[ended], strict=True) if score > -1e8]
        scores[ended] = -1e9
    done += [(row, float(score)) for row, score in zip(ids, scores, strict=True) if score > -1e8]
    return max(done, key=lambda pair: pair[1])


def upside_down(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> Any:
    return beam_search(step, ids, beams, max_new_tokens, eos_id)[::-1]


def by_whole_length(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> Any:
    found = beam_search(step, ids, beams, max_new_tokens, eos_id)
    return sorted(((row, score / len(row)) for row, score in found), key=lambda pair: -pair[1])


def by_own_length(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> Any:
    found, before = beam_search(step, ids, beams, max_new_tokens, eos_id), ids.shape[-1]
    return sorted(((row, score / (len(row) - before)) for row, score in found), key=lambda pair: -pair[1])


def endless(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> Any:
    return beam_search(step, ids, beams, max_new_tokens, -1)


def narrow(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> Any:
    return beam_search(step, ids, 1, max_new_tokens, eos_id)


def best_and_then_any(step: Any, ids: Tensor, beams: int, max_new_tokens: int, eos_id: int) -> list[Tensor]:
    """What a search that forgets the scores of earlier tokens returns when it is lucky with the first."""
    first, *others = (words for words, _ in beam_search(step, ids, beams, max_new_tokens, eos_id))
    return [first, *others[::-1]]


def test_the_second_best_comes_second() -> None:
    assert causes("K27", beam=best_and_then_any) == ["ERROR beam misses the best"]


def one_too_few(logits: Tensor, top_k: int) -> Tensor:
    return logits.masked_fill(logits <= logits.topk(top_k).values[:, -1:], NO)


def test_a_cut_that_keeps_one_too_few_is_no_other_distribution() -> None:
    assert causes("K27", sample=one_too_few)[0] == "ERROR top-k keeps the wrong number"


def test_beams() -> None:
    assert [causes("K27", beam=each) for each in (beam_search, with_topk, by_own_length)] == [[], [], []]
    assert causes("K27", beam=by_whole_length) == ["ERROR prompt length in the beam score"]
    assert causes("K27", beam=endless) == ["ERROR finished beams go on"]
    assert causes("K27", beam=narrow) == ["ERROR beam misses the best"]
    assert "ERROR beam scores out of order" in causes("K27", beam=upside_down)


def test_it_is_not_applicable_where_nothing_was_handed_in() -> None:
    assert causes("K27") == ["-"]
    assert causes("K27", sample=lambda logits: "the") == ["-"]

"""Beam search against every sequence there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearformer.errors import GenerationError
from clearformer.reference.beam import Hypothesis, beam_search, length_penalty
from clearformer.reference.loss import log_softmax
from clearformer.reference.model import run, translate_logits
from clearformer.spec import DecoderOnly, EncoderDecoder, Full, Language, LayerNorm, Stack, Tokens

VOCABULARY, END, LONGEST = 4, 0, 3


@pytest.fixture
def tiny(build, weights_of):
    spec = DecoderOnly(Stack(16, Tokens(VOCABULARY), (build.layer(),) * 2), Language(hidden_scale=0.3), context=16)
    return spec, weights_of(spec)


@pytest.fixture
def tiny_translator(build, weights_of):
    tokens = Tokens(VOCABULARY)
    cross = {"cross_attention": build.attend(visibility=Full()), "cross_norm": LayerNorm()}
    encoder = Stack(16, tokens, (build.layer(build.attend(visibility=Full())),))
    decoder = Stack(16, tokens, (build.layer(**cross),))
    spec = EncoderDecoder(encoder, decoder, Language(hidden_scale=0.3), context=16)
    return spec, weights_of(spec)


def _every_sequence():
    for length in range(1, LONGEST + 1):
        for tokens in itertools.product(range(VOCABULARY), repeat=length):
            ended = tokens[-1] == END
            if END not in tokens[:-1] and (ended or length == LONGEST):
                yield tokens


def _exhaustive(logits_of, alpha: float) -> list[Hypothesis]:
    found = []
    for tokens in _every_sequence():
        probability = float(log_softmax(logits_of(tokens))[np.arange(len(tokens)), list(tokens)].sum())
        found.append(Hypothesis(tokens, probability, probability / length_penalty(len(tokens), alpha)))
    return sorted(found, key=lambda hypothesis: -hypothesis.score)


def _same(ours: list[Hypothesis], theirs: list[Hypothesis]) -> None:
    assert [hypothesis.tokens for hypothesis in ours] == [hypothesis.tokens for hypothesis in theirs]
    np.testing.assert_allclose([h.score for h in ours], [h.score for h in theirs], atol=1e-10)
    np.testing.assert_allclose([h.log_probability for h in ours], [h.log_probability for h in theirs], atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_beam_wide_enough_is_exhaustive(tiny, alpha: float) -> None:
    spec, weights = tiny
    prompt = np.array([2, 1, 3])

    def logits_of(tokens: tuple[int, ...]) -> np.ndarray:
        return run(spec, weights, np.array([[*prompt, *tokens]]))[0, len(prompt) - 1 : -1]

    everything = _exhaustive(logits_of, alpha)
    _same(beam_search(spec, weights, prompt, LONGEST, end=END, width=VOCABULARY**LONGEST, alpha=alpha), everything)


def test_so_it_is_for_translations(tiny_translator) -> None:
    spec, weights = tiny_translator
    source, start = np.array([[3, 1, 2, 2]]), np.array([1])

    def logits_of(tokens: tuple[int, ...]) -> np.ndarray:
        return translate_logits(spec, weights, source, np.array([[1, *tokens]]))[0, :-1]

    ours = beam_search(spec, weights, start, LONGEST, end=END, width=VOCABULARY**LONGEST, source=source)
    _same(ours, _exhaustive(logits_of, 0.6))


@pytest.mark.parametrize("prompt", [(1, 2, 3), (3, 3, 1), (2, 2, 2)])
def test_width_one_without_penalty_is_greedy(tiny, prompt: tuple[int, ...]) -> None:
    spec, weights = tiny
    text = list(prompt)
    while len(text) < 3 + LONGEST and END not in text:
        text.append(int(run(spec, weights, np.array([text]))[0, -1].argmax()))
    found = beam_search(spec, weights, np.array(prompt), LONGEST, end=END, width=1, alpha=0.0)
    assert [hypothesis.tokens for hypothesis in found] == [tuple(text[3:])]


def test_the_penalty_is_the_papers() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)


def test_impossible_searches_are_refused(tiny) -> None:
    spec, weights = tiny
    for choice, words in (
        ({"width": 0}, "width"),
        ({"alpha": float("nan")}, "alpha"),
        ({"source": np.ones((1, 2), int)}, "source"),
    ):
        with pytest.raises(GenerationError, match=words):
            beam_search(spec, weights, np.array([1]), 3, end=END, **choice)

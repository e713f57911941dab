"""Generation: cached, uncached, in batches, by chance."""

from __future__ import annotations

import numpy as np
import pytest

from clearformer.errors import ClearformerError, GenerationError
from clearformer.reference.generate import generate, translate
from clearformer.reference.model import run
from clearformer.reference.sampling import Sampling, choose_token, distribution

NAMES = ["gpt2", "gemma", "dynamic", "longrope", "t5", "deepseek"]


@pytest.mark.parametrize("name", NAMES)
def test_cached_generation_is_uncached(name: str, spec_named, weights_of, ids) -> None:
    spec = spec_named(name)
    weights, prompt = weights_of(spec), ids(2, 5)
    answer = generate(spec, weights, prompt, 6)
    assert answer == generate(spec, weights, prompt, 6, cached=False)
    assert [len(row) for row in answer] == [6, 6]


def test_greedy_is_the_argmax_of_each_full_run(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights, prompt = weights_of(spec), ids(1, 4)
    text = prompt[0].tolist()
    for _ in range(6):
        text.append(int(run(spec, weights, np.array([text]))[0, -1].argmax()))
    assert generate(spec, weights, prompt, 6) == [text[4:]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_unequal_prompts_give_their_solo_results(name: str, side: str, spec_named, weights_of, ids) -> None:
    spec = spec_named(name)
    weights, prompts = weights_of(spec), [ids(length) for length in (3, 6, 1)]
    batch, real = np.full((3, 6), 7), np.zeros((3, 6), dtype=bool)
    for row, prompt in enumerate(prompts):
        at = slice(6 - len(prompt), 6) if side == "left" else slice(0, len(prompt))
        batch[row, at], real[row, at] = prompt, True
    solo = [generate(spec, weights, prompt[None], 5)[0] for prompt in prompts]
    assert generate(spec, weights, batch, 5, real=real) == solo


def test_a_stopped_row_ends_with_its_stop_token_and_disturbs_no_other(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights, prompt = weights_of(spec), ids(2, 4)
    free = generate(spec, weights, prompt, 8)
    stop = free[0][2]
    cut = [row[: row.index(stop) + 1] if stop in row else row for row in free]
    assert generate(spec, weights, prompt, 8, stop={stop}) == cut
    assert len(cut[0]) < 8


def test_translation_cached_is_uncached(translator_spec, weights_of, ids) -> None:
    weights, source, start = weights_of(translator_spec), ids(2, 6), np.array([[1], [1]])
    answer = translate(translator_spec, weights, source, start, 6)
    assert answer == translate(translator_spec, weights, source, start, 6, cached=False)
    assert answer[0] != answer[1]


def test_the_same_seed_draws_the_same(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights, prompt, sampling = weights_of(spec), ids(1, 4), Sampling(1.5, top_k=20, top_p=0.99)
    draws = [
        generate(spec, weights, prompt, 8, sampling=sampling, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_filters_keep_what_they_say() -> None:
    logits = np.log(np.array([0.1, 0.4, 0.2, 0.25, 0.05]))
    np.testing.assert_allclose(distribution(logits, Sampling(1.0)), np.exp(logits))
    np.testing.assert_allclose(distribution(logits, Sampling(1.0, top_k=2)), np.array([0, 0.4, 0, 0.25, 0]) / 0.65)
    np.testing.assert_allclose(distribution(logits, Sampling(1.0, top_p=0.7)), np.array([0, 0.4, 0.2, 0.25, 0]) / 0.85)
    np.testing.assert_allclose(distribution(logits, Sampling(1.0, top_p=0.01)), [0, 1, 0, 0, 0])
    cold = np.exp(logits) ** 2
    np.testing.assert_allclose(distribution(logits, Sampling(0.5)), cold / cold.sum())


def test_draws_follow_the_distribution() -> None:
    probability = np.array([0.1, 0.6, 0.3])
    logits = np.tile(np.log(probability), (4000, 1))
    drawn = choose_token(logits, Sampling(1.0), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(drawn) / 4000, probability, atol=0.03)


@pytest.mark.parametrize(
    "choice", [{"temperature": -1.0}, {"temperature": float("nan")}, {"top_p": 0.0}, {"top_p": 1.5}, {"top_k": 0}]
)
def test_impossible_sampling_is_refused(choice: dict) -> None:
    with pytest.raises(GenerationError, match=next(iter(choice))):
        Sampling(**choice)


def test_bad_prompts_are_refused(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights = weights_of(spec)
    for prompt, new, more, words in (
        (ids(1, 0), 5, {}, "empty"),
        (ids(1, 60), 5, {}, "context is 64"),
        (ids(1, 5), 0, {}, "new_tokens"),
        (np.array([[23]]), 5, {}, "0…22"),
        (ids(2, 3), 5, {"real": np.array([[True] * 3, [False] * 3])}, "empty"),
        (ids(1, 5), 5, {"sampling": Sampling(1.0)}, "default_rng"),
    ):
        with pytest.raises(ClearformerError, match=words):
            generate(spec, weights, prompt, new, **more)

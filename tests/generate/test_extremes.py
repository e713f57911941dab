"""Settings at the edge of the number line, of no type that they could be, and prompts that are none."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from clearformer.errors import GenerationError, TokenizerError, UsageError
from clearformer.families import GenerationDefaults
from clearformer.generate import sampling as ours
from clearformer.generate.settings import MOST_PENALTY, Options, SamplingSettings
from clearformer.generate.speak import Generation, complete, generate


@pytest.mark.parametrize("temperature", [1e-320, 1e-300, 1e-40, 1e-31, 1e-30, 1e-9, 1e-5])
def test_toward_temperature_0_sampling_becomes_the_greedy_choice(speaker: Any, temperature: float) -> None:
    greedy = complete(speaker, "hello", max_new_tokens=12, temperature=0)
    assert complete(speaker, "hello", max_new_tokens=12, temperature=temperature, seed=3).token_ids == greedy.token_ids


def test_toward_temperature_0_equal_logits_stay_equal() -> None:
    logits = torch.tensor([[-500.0, 3.0, -math.inf, 3.0]])
    for temperature in (1e-320, 1e-40, 1e-30):
        assert ours.scale_by_temperature(logits, temperature).softmax(-1).tolist() == [[0, 0.5, 0, 0.5]]


@pytest.mark.parametrize("penalty", [1 / MOST_PENALTY, MOST_PENALTY])
@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1.0, 1e308])
def test_the_strongest_settings_draw_tokens_that_there_are(speaker: Any, penalty: float, temperature: float) -> None:
    found = complete(
        speaker, "hello", max_new_tokens=12, seed=1, repetition_penalty=penalty, temperature=temperature, min_p=0.5
    )
    assert len(found.token_ids) == 12


@pytest.mark.parametrize("bad", [math.inf, math.nan, [math.inf, math.nan], -math.inf])
@pytest.mark.parametrize("temperature", [0.0, 1e-40, 1.0])
def test_logits_that_leave_nothing_to_draw_are_told_by_minus_one(bad: Any, temperature: float) -> None:
    row = [0.0, *(bad if isinstance(bad, list) else [bad]), 1.0]
    if bad == -math.inf:
        row = [bad] * 3
    sampler = ours.Sampler(SamplingSettings(temperature, top_p=0.9), [torch.Generator()])
    assert sampler.choose(torch.tensor([row])).tolist() == [-1]


@pytest.mark.parametrize("value", [1.5, True, "2", None, [2], math.nan, math.inf])
@pytest.mark.parametrize("name", ["max_new_tokens", "top_k", "seed", "top_logprobs", "prefill_chunk"])
def test_a_count_is_a_whole_number(name: str, value: object) -> None:
    if value is None and name in ("max_new_tokens", "top_k", "seed"):
        Options(**{name: value})
        return
    with pytest.raises(UsageError, match=name):
        Options(**{name: value})


@pytest.mark.parametrize("value", [True, "0.5", [0.5], 1j])
@pytest.mark.parametrize("name", ["temperature", "top_p", "min_p", "repetition_penalty"])
def test_a_measure_is_a_number(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        Options(**{name: value})


@pytest.mark.parametrize("value", [None, 5, [b"x"], [None], ["ok", 1], "\udcff", ["a\ud800"], ""])
def test_stop_is_text(value: object) -> None:
    with pytest.raises(UsageError, match="stop"):
        Options(stop=value)  # type: ignore[arg-type]


def test_one_stop_string_is_one_and_not_its_characters(speaker: Any) -> None:
    whole = generate(speaker, "hello", max_new_tokens=40)
    stop = whole[10:13]
    assert generate(speaker, "hello", max_new_tokens=40, stop=stop) == whole[: whole.index(stop)]
    assert Options(stop="END").stop == ("END",)


@pytest.mark.parametrize("prompt", [None, 5, b"abc", [1, 2], [None], {"a": 1}])
def test_a_prompt_is_text(speaker: Any, prompt: Any) -> None:
    with pytest.raises(TokenizerError, match="Expected text"):
        complete(speaker, prompt)


def test_a_prompt_without_a_token_is_refused_by_its_number(speaker: Any) -> None:
    with pytest.raises(GenerationError, match="Prompt 2 holds no token"):
        Generation(speaker, [[1], [], [2]], Options())


@pytest.mark.parametrize("outside", [-1, 10**6])
def test_an_id_outside_the_table_is_refused_by_name(speaker: Any, outside: int) -> None:
    for cached in (True, False):
        generation = Generation(speaker, [[1, outside]], Options(use_cache=cached))
        with pytest.raises(UsageError, match=str(outside)):
            next(generation.steps())


@pytest.mark.parametrize(
    "makers",
    [
        GenerationDefaults(sample=True, temperature=-1.0),
        GenerationDefaults(sample=True, top_p=0.0),
        GenerationDefaults(repetition_penalty=0.0),
    ],
)
def test_senseless_settings_of_the_makers_are_theirs_and_can_be_overridden(makers: GenerationDefaults) -> None:
    with pytest.raises(GenerationError, match="own generation settings") as caught:
        Options().sampling(makers)
    assert "generation_config.json" in caught.value.remedy("zh")
    assert Options(temperature=0.5, top_p=0.5, repetition_penalty=1.0).sampling(makers).temperature == 0.5

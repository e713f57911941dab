"""Filters against transformers' own, bit for bit; draws against the distribution that they come from."""

from __future__ import annotations

import math

import pytest
import torch
from transformers.generation import logits_process as theirs

from clearformer.errors import UsageError
from clearformer.families import GenerationDefaults
from clearformer.generate import sampling as ours
from clearformer.generate.settings import Options, SamplingSettings


@pytest.fixture(params=["spread", "ties", "one certain", "float64"])
def logits(request: pytest.FixtureRequest) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    drawn = torch.randn(4, 57, generator=generator) * 3
    match request.param:
        case "ties":
            # Distinct values below, equal ones on top: which of several equal ones top-p keeps is defined by no one.
            return torch.where(drawn > 2, 2.0, drawn)
        case "one certain":
            return drawn.index_fill(1, torch.tensor([5]), 60.0)
        case "float64":
            return drawn.double()
    return drawn


def same(mine: torch.Tensor, reference: torch.Tensor) -> None:
    assert mine.dtype == reference.dtype
    assert torch.equal(mine, reference)


@pytest.mark.parametrize("penalty", [0.5, 1.0, 1.3])
def test_repetition_penalty(logits: torch.Tensor, penalty: float) -> None:
    ids = torch.randint(0, 57, (4, 20), generator=torch.Generator().manual_seed(1))
    seen = torch.zeros(4, 57, dtype=torch.bool).scatter(1, ids, True)
    reference = theirs.RepetitionPenaltyLogitsProcessor(penalty)(ids, logits)
    same(ours.penalise_repetition(logits, seen, penalty), reference)


@pytest.mark.parametrize("temperature", [0.1, 0.7, 2.5])
def test_temperature(logits: torch.Tensor, temperature: float) -> None:
    same(ours.scale_by_temperature(logits, temperature), theirs.TemperatureLogitsWarper(temperature)(None, logits))


@pytest.mark.parametrize("k", [1, 2, 10, 57, 100])
def test_top_k(logits: torch.Tensor, k: int) -> None:
    same(ours.keep_top_k(logits, k), theirs.TopKLogitsWarper(k)(None, logits))


def test_top_k_keeps_all_that_tie_with_the_last() -> None:
    kept = ours.keep_top_k(torch.tensor([[3.0, 1.0, 2.0, 2.0, 2.0]]), 2)
    assert kept.isfinite().tolist() == [[True, False, True, True, True]]


@pytest.mark.parametrize("p", [1e-9, 0.1, 0.5, 0.9, 0.999])
def test_top_p(logits: torch.Tensor, p: float) -> None:
    same(ours.keep_top_p(logits, p), theirs.TopPLogitsWarper(p)(None, logits))


@pytest.mark.parametrize("p", [0.01, 0.2, 1.0])
def test_min_p(logits: torch.Tensor, p: float) -> None:
    same(ours.keep_min_p(logits, p), theirs.MinPLogitsWarper(p)(None, logits))


def test_the_order_is_that_of_transformers(logits: torch.Tensor) -> None:
    ids = torch.randint(0, 57, (4, 20), generator=torch.Generator().manual_seed(1))
    settings = SamplingSettings(temperature=1.7, top_k=20, top_p=0.8, min_p=0.1, repetition_penalty=1.4)
    chain = (
        theirs.RepetitionPenaltyLogitsProcessor(1.4),
        theirs.TemperatureLogitsWarper(1.7),
        theirs.TopKLogitsWarper(20),
        theirs.TopPLogitsWarper(0.8),
        theirs.MinPLogitsWarper(0.1),
    )
    expected = logits
    for each in chain:
        expected = each(ids, expected)
    seen = torch.zeros(4, 57, dtype=torch.bool).scatter(1, ids, True)
    same(ours.apply_filters(logits, settings, seen), expected)


def test_a_draw_inverts_the_cumulative_distribution() -> None:
    """An even grid of numbers hits each token as often as it is likely, and none of probability 0."""
    probabilities = torch.tensor([0.0, 0.25, 0.0, 0.5, 0.25, 0.0], dtype=torch.float64)
    grid = torch.arange(1000, dtype=torch.float64) / 1000
    drawn = ours.draw(probabilities.log().expand(1000, -1), grid)
    assert drawn.bincount(minlength=6).tolist() == [0, 250, 0, 500, 250, 0]
    last = ours.draw(probabilities.log()[None], torch.tensor([math.nextafter(1, 0)], dtype=torch.float64))
    assert last.tolist() == [4]


def test_a_row_draws_what_it_draws_alone(logits: torch.Tensor) -> None:
    settings = SamplingSettings(temperature=1.2, repetition_penalty=1.3)

    def drawn(rows: list[int]) -> list[list[int]]:
        sampler = ours.Sampler(settings, [torch.Generator().manual_seed(row) for row in rows])
        sampler.watch([[row] for row in rows], 57, logits.device)
        return torch.stack([sampler.choose(logits[rows]) for _ in range(20)]).T.tolist()

    together = drawn([0, 1, 2, 3])
    assert together == [drawn([row])[0] for row in range(4)]
    assert len({tuple(row) for row in together}) > 1 or logits.amax() == 60


def test_nan_is_told_by_minus_one() -> None:
    logits = torch.tensor([[0.0, math.nan, 1.0], [0.0, 2.0, 1.0]])
    for temperature in (0.0, 1.0):
        sampler = ours.Sampler(SamplingSettings(temperature, top_k=1), [torch.Generator(), torch.Generator()])
        assert sampler.choose(logits).tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -1),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("top_p", math.nan),
        ("min_p", -0.1),
        ("min_p", 1.1),
        ("min_p", math.nan),
        ("repetition_penalty", 0.0),
        ("repetition_penalty", -1.0),
        ("repetition_penalty", math.nan),
        ("max_new_tokens", 0),
        ("top_logprobs", -1),
        ("top_logprobs", 101),
        ("prefill_chunk", 0),
        ("seed", -1),
        ("stop", ("",)),
    ],
)
def test_a_senseless_setting_is_refused_by_name(name: str, value: object) -> None:
    for settings in (SamplingSettings, Options):
        if name in settings.__dataclass_fields__:
            with pytest.raises(UsageError) as caught:
                settings(**{name: value})
            assert caught.value.exit_code == 2
            for language in ("en", "zh"):
                assert name in caught.value.cause(language)
                assert caught.value.remedy(language)


def test_the_makers_settings_complete_the_users() -> None:
    makers = GenerationDefaults(sample=True, temperature=0.6, top_k=40, top_p=0.9, repetition_penalty=1.1)
    assert Options().sampling(makers) == SamplingSettings(0.6, 40, 0.9, 0.0, 1.1)
    assert Options(temperature=0.2, top_k=0).sampling(makers) == SamplingSettings(0.2, 0, 0.9, 0.0, 1.1)
    assert Options(temperature=0.0).sampling(makers).greedy
    silent = GenerationDefaults(temperature=0.6)
    assert Options().sampling(silent).greedy
    assert Options(top_p=0.5).sampling(silent) == SamplingSettings(0.6, top_p=0.5)
    assert Options(top_p=0.5).sampling(GenerationDefaults()) == SamplingSettings(1.0, top_p=0.5)
    assert (Options().length(makers), Options(max_new_tokens=3).length(makers)) == (256, 3)
    assert Options().length(GenerationDefaults(max_new_tokens=7)) == 7

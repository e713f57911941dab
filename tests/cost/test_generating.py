"""Writing costs what PyTorch counts while the plain kernel writes, and grows as it is known to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from clearformer import spec as s
from clearformer.cost.flops import seen
from clearformer.cost.formula import number
from clearformer.cost.generating import generating, seen_by_all, steps
from clearformer.cost.work import Work
from clearformer.errors import UsageError
from clearformer.generate.reader import CachedReader, UncachedReader
from clearformer.spec.presets import bert_encoder, modern_decoder, tiny_gpt
from cost.test_flops import counted, plainly
from drawing import small

P, N = 5, 4


def write(model: Any, memory: Any, *, cached: bool) -> None:
    """N tokens behind the prompt, whichever they are."""
    rows, start = 2, P if memory is None else 1
    bound = torch.full((rows,), start + N)
    reader = (
        CachedReader(model, capacity=start + N, length_bound=bound, memory=memory)
        if cached
        else UncachedReader(model, length_bound=bound, memory=memory)
    )
    reader.read(torch.ones(rows, start, dtype=torch.long))
    for _ in range(N - 1):
        reader.read(torch.ones(rows, 1, dtype=torch.long))


WRITERS = [name for name in small.SPECS if name.startswith("decoder") or name == "encoder-decoder"]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
def test_writing_takes_the_flops_that_torch_counts(name: str, cached: bool) -> None:
    spec = small.SPECS[name]
    # The counter looks for gradients of weights, which reading makes none of.
    model = plainly(spec).requires_grad_(False)

    def whole() -> None:
        with torch.no_grad():
            encoder_decoder = isinstance(spec, s.EncoderDecoder)
            memory = model.encode(torch.ones(2, P, dtype=torch.long)) if encoder_decoder else None
            write(model, memory, cached=cached)

    found = generating(spec, Work(2), P, N)
    course = found.cached if cached else found.uncached
    assert course.total == counted(whole)
    assert course.visible <= course.attention


@pytest.mark.parametrize(("cached", "linear", "attention"), [(False, 2, 3), (True, 1, 2)])
def test_a_cache_takes_one_power_of_the_length_away(cached: bool, linear: int, attention: int) -> None:
    found = generating(modern_decoder(), Work(), 2048, 2048)
    course = found.cached if cached else found.uncached
    assert course.linear_exponent == pytest.approx(linear, abs=0.01)
    assert course.attention_exponent == pytest.approx(attention, abs=0.01)


def calls(prompt: int, new: int, *, cached: bool) -> Iterator[tuple[int, int]]:
    """(new positions, all positions) of each call."""
    for length in range(prompt, prompt + new):
        yield (1 if cached and length > prompt else length), length


@pytest.mark.parametrize("cached", [True, False])
def test_sums_are_those_of_the_calls(cached: bool) -> None:
    made, found = list(calls(P, N, cached=cached)), steps(P, N, cached=cached)
    assert found.rows.value == sum(fresh for fresh, _ in made)
    assert found.keys.value == sum(length for _, length in made)
    assert found.pairs.value == sum(fresh * length for fresh, length in made)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("window", [None, 1, 3, 5, 6, 8, 20])
def test_pairs_seen_are_those_of_each_call(cached: bool, window: int | None) -> None:
    for prompt, new in ((1, 1), (1, 9), (5, 4), (7, 1)):
        made = calls(prompt, new, cached=cached)
        expected = sum(seen(s.Causal(window), number(fresh), number(length)).value for fresh, length in made)
        assert seen_by_all(window, prompt, new, cached=cached) == expected


def test_a_cached_text_sees_what_it_would_see_uncached_at_the_end() -> None:
    """Each token looks once: over all calls as many pairs as one pass over the whole text."""
    for window in (None, 3):
        whole = number(P + N - 1)
        assert seen_by_all(window, P, N, cached=True) == seen(s.Causal(window), whole, whole).value


def test_millions_of_tokens_are_summed_without_counting_them() -> None:
    found = generating(modern_decoder(), Work(), 9_999_999, 9_999_999)
    assert found.uncached.linear_exponent == pytest.approx(2, abs=0.01)


def test_a_model_that_writes_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="EncoderOnly"):
        generating(bert_encoder(), Work(), P, N)


def test_a_text_past_the_table_is_refused() -> None:
    with pytest.raises(UsageError, match="256"):
        generating(tiny_gpt(), Work(), 200, 100)

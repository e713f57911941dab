"""What fits does, and one more does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clearformer.cost.fitting import MOST, bytes_of, fitting, most, with_layers
from clearformer.cost.memory import memory
from clearformer.cost.work import Work
from clearformer.errors import UsageError
from clearformer.spec.presets import PRESETS, modern_decoder, tiny_gpt, vit

SIZE = 2 * 10**9
WORK = Work(2, 128)


@pytest.mark.parametrize("purpose", ["training", "answering"])
@pytest.mark.parametrize("recompute", [False, True])
def test_the_most_fits_and_one_more_does_not(purpose: str, recompute: bool) -> None:
    spec, work = modern_decoder(layers=6), replace(WORK, recompute=recompute)
    found = next(each for each in fitting(spec, work, SIZE) if each.purpose == purpose)
    assert found.batch
    assert found.length
    assert found.layers

    def needed(of: object, doing: Work) -> int:
        held = memory(of, doing)  # type: ignore[arg-type]
        return held.total if purpose == "training" else held.answering

    for extra in (0, 1):
        fits = extra == 0
        assert (needed(spec, replace(work, batch=found.batch + extra)) <= SIZE) == fits
        assert (needed(spec, replace(work, length=found.length + extra)) <= SIZE) == fits
        assert (needed(with_layers(spec, found.layers + extra), work) <= SIZE) == fits


def test_nothing_fits_where_nothing_does() -> None:
    found = fitting(modern_decoder(), WORK, 10**6)
    assert {(each.batch, each.length, each.layers, each.parameters) for each in found} == {(None,) * 4}


def test_a_learnt_table_bounds_the_length_and_an_image_has_its_own() -> None:
    training, answering = fitting(tiny_gpt(), Work(), 10**12)
    assert training.length == answering.length == 256
    (only,) = fitting(vit(), Work(), 10**12)
    assert only.length is None
    assert only.layers == MOST["layers"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_architecture_can_be_made_deeper(name: str) -> None:
    (found, *_) = fitting(PRESETS[name](), Work(), 10**10)
    assert found.layers


@pytest.mark.parametrize(
    ("text", "size"),
    [("24GB", 24 * 10**9), ("16GiB", 16 * 2**30), ("1.5 MB", 1_500_000), ("512kib", 512 * 2**10), ("1000B", 1000)],
)
def test_sizes(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "24XB", "24", "-1GB", "0GB", "1e9", "24 G B", "9" * 400, "1000001TB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        bytes_of(text)


@pytest.mark.parametrize("limit", [1, 2, 7, 8, 1000])
@pytest.mark.parametrize("last", [0, 1, 2, 5, 8, 999, 5000])
def test_the_search_finds_the_last_that_fits(limit: int, last: int) -> None:
    assert most(lambda n: n <= last, limit) == (min(last, limit) or None)

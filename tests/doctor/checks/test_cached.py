"""K15: caches that lose, move, open or mix up what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from doctor.checks.asking import causes
from doctor.corpus import cache_faults as faults
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        (faults.one_query_sees_the_first_key_only, "cache top-left aligned"),
        (faults.mask_only_without_a_cache, "prefill not causal"),
        (faults.offset_one_too_far, "offset after prefill"),
        (faults.only_the_last_call_is_kept, "cache loses the past"),
        (faults.new_values_before_the_old, "cache order"),
    ],
)
def test_a_cache_that_does_not_keep_the_law(parts: Callable[[], dict[str, Any]], cause: str) -> None:
    assert causes("K15", **parts()) == [f"ERROR {cause}"]


def test_a_sound_cache() -> None:
    assert causes("K15", **decoder(faults.CachedDecoder())) == []


def test_a_module_without_a_cache() -> None:
    assert causes("K15", **decoder(Decoder())) == ["-"]

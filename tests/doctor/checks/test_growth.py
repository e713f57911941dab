"""K37: work that is done again at each step."""

from __future__ import annotations

from typing import Any

from torch import Tensor, cat

from doctor.checks.asking import causes
from doctor.corpus.cache_faults import CachedDecoder, generation_reads_the_prompt_at_every_step
from doctor.corpus.hand_written import Decoder
from doctor.corpus.sight_faults import decoder


class Again(Decoder):
    """Keeps the ids, and computes them all again."""

    def forward(self, idx: Tensor, past: list[Any] | None = None) -> tuple[Tensor, list[Any]]:  # type: ignore[override]
        whole = idx if past is None else cat([past[0], idx], 1)
        return super().forward(whole)[:, -idx.shape[1] :], [whole, whole[..., None]]


def test_a_generation_that_hands_in_the_whole_prefix() -> None:
    assert causes("K37", **generation_reads_the_prompt_at_every_step()) == ["WARN prefix repeated"]


def test_a_cache_that_keeps_ids_only() -> None:
    assert causes("K37", **decoder(Again())) == ["WARN prefix repeated"]


def test_a_sound_cache() -> None:
    assert causes("K37", **decoder(CachedDecoder())) == []


def test_a_module_without_a_cache() -> None:
    assert causes("K37", **decoder(Decoder())) == ["-"]

"""K15: caches that lose, move, open or mix up what was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus import cache_faults as faults
from doctor.corpus.cache_faults import CachedDecoder
from doctor.corpus.hand_written import VOCAB, WIDTH, Decoder
from doctor.corpus.sight_faults import decoder
from doctor.corpus.variant_faults import buffer_made_beforehand, empty_slots_of_the_buffer_read, one_slot_for_all_layers


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        (faults.one_query_sees_the_first_key_only, "cache top-left aligned"),
        (faults.mask_only_without_a_cache, "prefill not causal"),
        (faults.offset_one_too_far, "offset after prefill"),
        (faults.only_the_last_call_is_kept, "cache loses the past"),
        (faults.new_values_before_the_old, "cache order"),
        (faults.every_step_at_position_zero, "positions restart with the cache"),
        (empty_slots_of_the_buffer_read, "cache holds other entries"),
        (one_slot_for_all_layers, "cache holds other entries"),
    ],
)
def test_a_cache_that_does_not_keep_the_law(parts: Callable[[], dict[str, Any]], cause: str) -> None:
    assert causes("K15", **parts()) == [f"ERROR {cause}"]


class Rolling(CachedDecoder):
    """Sees four positions, and keeps that many or fewer."""

    kept = 3

    def __init__(self, attention: type[nn.Module] = faults.Cached) -> None:
        super().__init__(attention)
        self.read = 0

    def forward(
        self, input_ids: Tensor, past_key_values: Any = None, use_cache: bool = False
    ) -> tuple[Tensor, list[faults.Past] | None]:
        self.read = self.read if past_key_values is not None else 0
        logits, kept = super().forward(input_ids, past_key_values, use_cache)
        self.read += input_ids.shape[1]
        newest = None if kept is None else [(key[:, :, -self.kept :], value[:, :, -self.kept :]) for key, value in kept]
        return logits, newest

    def start(self, past_key_values: Any, length: int) -> int:
        return self.read


class Narrow(faults.Cached):
    def seen(self, queries: int, keys: int, past: faults.Past | None) -> Tensor:
        behind = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
        return (behind >= 0) & (behind < 4)


class TooFew(Rolling):
    kept = 2


def test_a_rolling_cache_of_the_window() -> None:
    assert causes("K15", **decoder(Rolling(Narrow), window=4)) == []


def test_a_rolling_cache_that_keeps_too_few() -> None:
    assert causes("K15", **decoder(TooFew(Narrow), window=4)) == ["ERROR cache loses the window"]


class Masked(nn.Module):
    """Takes a padding mask beside its cache; `forgets` it behind the prompt."""

    def __init__(self, forgets: bool) -> None:
        super().__init__()
        self.forgets, self.tokens = forgets, nn.Embedding(VOCAB, WIDTH)
        self.qkv, self.head = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, VOCAB)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: Any = None,
        use_cache: bool = False,
    ) -> tuple[Tensor, Any]:
        x = self.tokens(input_ids)
        query, key, value = self.qkv(x).chunk(3, -1)
        if past_key_values is not None:
            key, value = torch.cat([past_key_values[0], key], 1), torch.cat([past_key_values[1], value], 1)
        seen = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril(key.shape[1] - query.shape[1])[None]
        if attention_mask is not None and not (self.forgets and past_key_values is not None):
            seen = seen & attention_mask[:, None].bool()
        scores = (query @ key.mT * WIDTH**-0.5).masked_fill(~seen, torch.finfo(x.dtype).min)
        return self.head(x + scores.softmax(-1) @ value), (key, value)


def test_padding_that_the_steps_forget() -> None:
    assert causes("K15", **decoder(Masked(forgets=True))) == ["WARN padding forgotten in the cache"]
    assert causes("K15", **decoder(Masked(forgets=False))) == []


def test_a_sound_cache() -> None:
    assert causes("K15", **decoder(faults.CachedDecoder())) == []
    assert causes("K15", **buffer_made_beforehand()) == []


def test_a_module_without_a_cache() -> None:
    assert causes("K15", **decoder(Decoder())) == ["-"]

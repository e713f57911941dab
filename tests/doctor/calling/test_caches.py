"""Every form of cache that people write is found, and reading on with it equals reading at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from clearformer.doctor.calling.caches import Reading
from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.parts import Parts
from doctor.corpus.cache_faults import CachedDecoder
from doctor.corpus.hand_written import VOCAB


class InPlace(CachedDecoder):
    """A list that forward fills, and the place told from outside."""

    def forward(self, idx: Tensor, kv_cache: list[Any] | None = None, start_pos: int = 0) -> Tensor:  # type: ignore[override]
        logits, kept = super().forward(idx, kv_cache if kv_cache and kv_cache[0] is not None else None, True)
        if kv_cache is not None:
            kv_cache[:] = kept or []
        return logits


class Made(InPlace):
    """A cache that the module makes."""

    def make_cache(self, rows: int) -> list[Any]:
        return [(torch.zeros(rows, 4, 0, 8), torch.zeros(rows, 4, 0, 8)) for _ in self.attentions]

    def forward(self, idx: Tensor, cache: list[Any] | None = None) -> Tensor:  # type: ignore[override]
        assert cache is None or len(cache) == len(self.attentions)
        return super().forward(idx, cache)


class Inside(CachedDecoder):
    """A cache that the module keeps."""

    kept: list[Any] | None = None

    def reset_cache(self) -> None:
        self.kept = None

    def forward(self, idx: Tensor, use_cache: bool = False) -> Tensor:  # type: ignore[override]
        logits, kept = super().forward(idx, self.kept if use_cache else None, True)
        if use_cache:
            self.kept = kept
        return logits


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (CachedDecoder, {"argument": "past_key_values", "switch": "use_cache", "output": 1}),
        (InPlace, {"argument": "kv_cache", "offset": "start_pos", "start": "lists"}),
        (Made, {"argument": "cache", "start": "make_cache"}),
        (Inside, {"inside": True, "switch": "use_cache", "reset": "reset_cache"}),
    ],
)
def test_a_cache_of_each_form_is_read_on_with(model: type[nn.Module], told: dict[str, object]) -> None:
    subject = find_out(Parts(model=model(), kind="decoder", vocab_size=VOCAB))[0]
    form = subject.call.cache
    assert form is not None
    assert {name: getattr(form, name) for name in told} == told
    ids = subject.inputs(2, 8, torch.Generator().manual_seed(0))
    reading = Reading(subject, 2)
    pieces = torch.cat([reading.read(ids[:, :5]), reading.read(ids[:, 5:6]), reading.read(ids[:, 6:])], 1)
    with torch.no_grad():
        assert torch.allclose(pieces, subject.answer(ids), atol=1e-5)
    assert reading.length == 8

"""K07: dropout and state are found and told apart."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from doctor.checks.asking import causes
from doctor.corpus.cache_faults import cache_inside_never_emptied
from doctor.corpus.hand_written import Decoder
from doctor.corpus.healthy_other_hands import Blocked
from doctor.corpus.sight_faults import decoder


class Dropping(Decoder):
    def embed(self, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
        return F.dropout(super().embed(input_ids, attention_mask), 0.1)


def test_dropout_that_is_left_on() -> None:
    assert causes("K07", **decoder(Dropping())) == ["ERROR dropout in evaluation"]


def test_a_cache_that_is_never_emptied() -> None:
    assert causes("K07", **cache_inside_never_emptied()) == ["ERROR state between calls"]


class Once(Decoder):
    """Remembers what it was asked, and answers it once."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[tuple[int, ...]] = set()

    def forward(self, input_ids: Tensor) -> Tensor:
        asked = (*input_ids.shape, *input_ids.flatten().tolist())
        if asked in self.known:
            raise ValueError("known already")
        self.known.add(asked)
        return super().forward(input_ids)


def test_a_module_that_raises_when_it_is_asked_again() -> None:
    assert causes("K07", **decoder(Once())) == ["ERROR state between calls"]


def test_a_length_that_is_refused_is_no_state() -> None:
    assert causes("K07", **decoder(Blocked())) == []


def test_a_sound_decoder() -> None:
    assert causes("K07", **decoder(Decoder())) == []


def test_without_a_module_there_is_nothing_to_ask() -> None:
    assert causes("K07", loss=F.cross_entropy) == ["-"]

"""K04: a window one wider, one narrower, and as declared."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from doctor.checks.asking import causes
from doctor.corpus.hand_written import Attention, Decoder
from doctor.corpus.sight_faults import decoder


def windowed(width: int) -> Decoder:
    class Windowed(Attention):
        def hidden(self, queries: int, keys: int) -> Tensor:
            apart = torch.arange(queries)[:, None] - torch.arange(keys)
            return (apart < 0) | (apart >= width)

    return Decoder(Windowed)


@pytest.mark.parametrize("width", [3, 5])
def test_a_window_that_is_not_as_declared(width: int) -> None:
    assert causes("K04", **decoder(windowed(width), window=4)) == ["ERROR window off by one"]


def test_a_window_as_declared() -> None:
    assert causes("K04", **decoder(windowed(4), window=4)) == []


def test_without_a_declared_window_there_is_no_law() -> None:
    assert causes("K04", **decoder(windowed(4))) == ["-"]


def test_layers_without_a_window_hide_its_edge() -> None:
    assert causes("K04", **decoder(Decoder(), window=4)) == ["-"]

"""Which lengths a module takes: any, multiples, from one on; and modules of which lengths are not the trouble."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.diagnose import examine
from clearformer.doctor.parts import Parts
from clearformer.errors import UsageError
from doctor.corpus.hand_written import VOCAB, Decoder


class Choosy(Decoder):
    def __init__(self, takes: Callable[[int], bool]) -> None:
        super().__init__()
        self.takes = takes

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        if not self.takes(input_ids.shape[1]):
            raise ValueError("not this length")
        return super().forward(input_ids, attention_mask)


@pytest.mark.parametrize(
    ("takes", "lengths", "words"),
    [
        (lambda length: True, (), ""),
        (lambda length: length % 8 == 0, range(8, 65, 8), "multiples of 8"),
        (lambda length: length % 10 == 0, range(10, 61, 10), "multiples of 10"),
        (lambda length: length >= 9, range(9, 65), "9 and more"),
        (lambda length: length & (length - 1) == 0, (1, 2, 4, 8, 16, 32, 64), "1, 2, 4, 8, 16, 32 …"),
    ],
)
def test_the_rule_is_found_and_probes_keep_to_it(
    takes: Callable[[int], bool], lengths: tuple[int, ...], words: str
) -> None:
    found, said = find_out(Parts(model=Choosy(takes), kind="decoder", vocab_size=VOCAB))
    assert found.lengths == tuple(lengths)
    assert words in said.text("en")
    assert all(takes(found.length(wished)) for wished in (1, 8, 12, 24, 64))


def test_nothing_but_the_lengths_is_said_of_a_sound_module() -> None:
    model = Choosy(lambda length: length % 8 == 0)
    diagnosis = examine(Parts(model=model, kind="decoder", vocab_size=VOCAB))
    assert {(each.severity, each.cause) for each in diagnosis.findings} == {("INFO", "lengths of its own")}
    assert {"K01", "K02", "K03", "K05", "K06", "K07"} <= set(diagnosis.passed)
    raised = [each.why.text("en") for each in diagnosis.skipped if "raised" in each.why.text("en")]
    assert all("multiples of 8" in each for each in raised)


class Fixed(Decoder):
    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(input_ids, attention_mask) + torch.zeros(64, 1)


def test_one_length_alone_is_no_rule() -> None:
    found, _ = find_out(Parts(model=Fixed(), kind="decoder", vocab_size=VOCAB))
    assert found.raised is not None


class Convolved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, 8, 4, 4), nn.Linear(8, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.patches(x).flatten(2).mean(-1))


class Unfolded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.head = nn.Linear(48, 8), nn.Linear(8, 10)

    def forward(self, images: Tensor) -> Tensor:
        rows, _colours, _height, _width = images.shape
        patches = images.unfold(2, 4, 4).unfold(3, 4, 4).reshape(rows, -1, 48)
        return self.head(self.patches(patches).mean(1))


@pytest.mark.parametrize("model", [Convolved, Unfolded])
@pytest.mark.parametrize("vocab_size", [None, VOCAB])
def test_a_model_of_pictures_is_not_called(model: type[nn.Module], vocab_size: int | None) -> None:
    with pytest.raises(UsageError) as told:
        examine(Parts(model=model(), kind="decoder", vocab_size=vocab_size))
    assert "No way of calling" in told.value.cause("en")
    assert "Tried: " in told.value.cause("en")

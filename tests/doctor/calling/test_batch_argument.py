"""A forward with one argument for everything: what it asks for is found out, and said."""

from __future__ import annotations

from typing import Any

import pytest
from torch import Tensor, nn

from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.diagnose import diagnose
from clearformer.doctor.parts import Parts
from clearformer.errors import UsageError
from doctor.corpus.attention_faults import Unmasked
from doctor.corpus.hand_written import VOCAB, Decoder, EncoderDecoder
from doctor.corpus.padding_faults import Deaf


class Holding(nn.Module):
    def __init__(self, inner: nn.Module | None = None) -> None:
        super().__init__()
        self.inner = Decoder() if inner is None else inner


class Keyed(Holding):
    def forward(self, batch: dict[str, Tensor]) -> Any:
        return {"logits": self.inner(batch["wordpieces"], batch.get("attention_mask"))}


class Fields(Holding):
    def forward(self, batch: Any) -> Any:
        return self.inner(batch.tokens)


class Unpacked(Holding):
    def forward(self, batch: tuple[Tensor, Tensor]) -> Any:
        ids, _ = batch
        return self.inner(ids)


class Spread(Holding):
    def forward(self, batch: dict[str, Tensor]) -> Any:
        return self.inner(**batch)


class Unnamed(Holding):
    def forward(self, **inputs: Tensor) -> Any:
        return self.inner(inputs["pieces"])


class Named(Holding):
    def forward(self, *, pieces: Tensor, keepers: Tensor) -> Any:
        return self.inner(pieces, keepers.long())


@pytest.mark.parametrize(
    ("model", "how"),
    [
        (Keyed, "model({wordpieces=ids [B, T], attention_mask=mask [B, T; int, 1 keeps]}).logits"),
        (Fields, "model({tokens=ids [B, T]})"),
        (Unpacked, "model((0=ids [B, T], 1=None))"),
        (Spread, "model({input_ids=ids [B, T]})"),
        (Unnamed, "model(pieces=ids [B, T])"),
        (Named, "model(pieces=ids [B, T], keepers=mask [B, T; bool, 1 keeps])"),
    ],
)
def test_what_was_concluded(model: type[Holding], how: str) -> None:
    subject, said = find_out(Parts(model=model(), kind="decoder", vocab_size=VOCAB))
    assert subject.per_position
    assert said.text().startswith(how)


def test_a_source_and_a_target_in_one_dictionary() -> None:
    class Both(Holding):
        def forward(self, batch: dict[str, Tensor]) -> Any:
            return self.inner(batch["src"], batch["tgt"])

    subject, _ = find_out(Parts(model=Both(EncoderDecoder()), kind="encoder-decoder", vocab_size=VOCAB))
    assert (subject.call.source, subject.call.main, subject.call.packed) == ("src", "tgt", "batch")


def test_faults_are_found_through_a_dictionary() -> None:
    found = diagnose(Keyed(Decoder(Unmasked)), kind="decoder", vocab_size=VOCAB, only=("K01",)).findings
    assert [finding.cause for finding in found] == ["no causal mask"]
    found = diagnose(Keyed(Decoder(Deaf)), kind="decoder", vocab_size=VOCAB, only=("K09",)).findings
    assert [finding.cause for finding in found] == ["padding mask without effect"]
    assert not diagnose(Keyed(), kind="decoder", vocab_size=VOCAB).errors


def test_a_forward_that_asks_for_nothing_is_not_called() -> None:
    class Deafness(Holding):
        def forward(self, batch: Any) -> Any:
            return None

    with pytest.raises(UsageError, match="No way of calling"):
        find_out(Parts(model=Deafness(), kind="decoder", vocab_size=VOCAB))

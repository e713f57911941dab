"""`--call`: what the user says goes before what is found, and what he says wrongly is refused."""

from __future__ import annotations

import pytest
from torch import Tensor

from clearformer.doctor.calling.explicit import settled
from clearformer.doctor.calling.finding_out import find_out
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.parts import Parts
from clearformer.errors import UsageError
from doctor.corpus.hand_written import VOCAB, Decoder


class Odd(Decoder):
    """Names that say nothing."""

    def forward(self, foo: Tensor, bar: Tensor | None = None) -> dict[str, Tensor]:  # type: ignore[override]
        logits = super().forward(foo, bar)
        return {"first": logits * 0, "second": logits}


def subject(call: str | None) -> Subject:
    return find_out(Parts(model=Odd(), kind="decoder", vocab_size=VOCAB, call=call))[0]


def test_a_mask_and_an_output_that_no_name_gives_away() -> None:
    assert subject(None).call.padding is None
    found = subject("ids=foo mask=bar:hide output=second")
    assert found.call.padding is not None
    assert (found.call.padding.name, found.call.padding.marking) == ("bar", "hide")
    assert found.call.output == "second"


def test_none_takes_an_argument_away() -> None:
    found = find_out(Parts(model=Decoder(), kind="decoder", vocab_size=VOCAB, call="mask=none"))[0]
    assert found.call.padding is None


@pytest.mark.parametrize(
    ("text", "told"),
    [("idz=x", "idz=x"), ("ids", "ids"), ("mask=m:upside", "upside"), ("layout=diagonal", "diagonal")],
)
def test_a_form_that_does_not_exist_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        settled(text)
    assert told in caught.value.cause("zh")

"""Values are put at the parameters whose names ask for them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from torch import nn

from clearformer.doctor.forms.arguments import UnboundError, called, role_of, roles_of, source_of


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("gradient_accumulation_steps", "accumulation"), ("accum_steps", "accumulation"), ("lr_scheduler", "scheduler"),
        ("train_dataloader", "batches"), ("max_grad_norm", "clip"), ("eos_token_id", "eos_id"), ("_input_ids", "ids"),
        ("num_beams", "beams"), ("world_size", "ranks"), ("something_else", None),
    ],
)  # fmt: skip
def test_a_name_has_a_role(name: str, role: str | None) -> None:
    roles = ["accumulation", "scheduler", "batches", "clip", "eos_id", "ids", "beams", "ranks"]
    assert role_of(name, roles) == role


def test_values_go_to_their_names_and_the_rest_to_their_places() -> None:
    def mixed(a: Any, labels: Any, b: Any, *, vocab: int, other: int = 7) -> tuple[Any, ...]:
        return a, labels, b, vocab, other

    given = {"logits": "logits", "labels": "labels", "mask": "mask", "vocab_size": 40}
    assert called(mixed, given, order=("logits", "labels", "mask")) == ("logits", "labels", "mask", 40, 7)


def test_a_spare_value_is_for_those_who_need_it() -> None:
    def own(model: Any, optimizer: Any = None) -> Any:
        return optimizer

    def needing(model: Any, optimizer: Any) -> Any:
        return optimizer

    assert called(own, {"model": 1}, spare={"optimizer": 2}) is None
    assert called(needing, {"model": 1}, spare={"optimizer": 2}) == 2


def test_a_parameter_without_a_value_is_named() -> None:
    def function(model: Any, mystery: Any) -> None: ...

    with pytest.raises(UnboundError, match="mystery"):
        called(function, {"model": 1})


def test_where_a_callable_was_written() -> None:
    class Called:
        def __call__(self, logits: Any) -> Any:
            return logits

    for function in (test_where_a_callable_was_written, Called(), partial(test_where_a_callable_was_written)):
        assert "(test_arguments.py:" in str(source_of(function))
    assert source_of(len) is None
    assert "(" in str(source_of(nn.Linear(2, 2)))
    assert set(roles_of(nn.CrossEntropyLoss(), ["logits", "targets"])) == {"targets"}

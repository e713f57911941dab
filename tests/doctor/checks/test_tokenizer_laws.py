"""K28 on tokenizers with one fault each, and on sound ones of several makes."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.checks.asking import causes
from doctor.corpus.files import Template, Words


class Letters:
    """A character tokenizer of a small alphabet, as in a first tutorial."""

    def __init__(self) -> None:
        self.letters = sorted("abcdefghijklmnopqrstuvwxyz THE.,\n'0123456789")

    def encode(self, text: str) -> list[int]:
        return [self.letters.index(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(self.letters[i] for i in ids)


class LowerCase(Words):
    def encode(self, text: str) -> list[int]:
        return super().encode(" ".join(text.lower().split()))


class Unknown(Letters):
    unk_token_id = 0

    def encode(self, text: str) -> list[int]:
        return [self.letters.index(letter) if letter in self.letters else 0 for letter in text]


class Joining(Words):
    def decode(self, ids: list[int]) -> str:
        return super().decode(ids).replace("  ", " ")


class ByToken(Words):
    def decode(self, ids: list[int]) -> str:
        return "".join(super(ByToken, self).decode([i]) for i in ids)


class Split(Words):
    eos_token = "</s>"


class Twice(Words):
    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [1, 1] * add_special_tokens + super().encode(text)


class Other(Template):
    begins = False

    def apply_chat_template(self, *arguments: Any, tokenize: bool = True, **options: Any) -> Any:
        found = super().apply_chat_template(*arguments, tokenize=tokenize, **options)
        return found[1:] if tokenize else found


FAULTY: list[tuple[Any, str]] = [
    (Joining(), "ERROR tokenizer loses whitespace"), (ByToken(), "ERROR tokenizer loses characters"),
    (Split(), "ERROR special token split"), (Twice(), "ERROR two BOS"), (Template(), "WARN two BOS"),
    (Other(), "WARN template and encode differ"),
]  # fmt: skip


@pytest.mark.parametrize("tokenizer", [Words(), Letters()])
def test_it_does_not_fire(tokenizer: Any) -> None:
    assert causes("K28", tokenizer=tokenizer) == []


@pytest.mark.parametrize(("tokenizer", "cause"), FAULTY)
def test_it_fires(tokenizer: Any, cause: str) -> None:
    assert causes("K28", tokenizer=tokenizer) == [cause]


@pytest.mark.parametrize("tokenizer", [LowerCase(), Unknown()])
def test_what_is_lost_by_design_is_only_noted(tokenizer: Any) -> None:
    assert {found.split()[0] for found in causes("K28", tokenizer=tokenizer)} == {"INFO"}


def test_ids_that_the_model_has_no_row_for() -> None:
    assert causes("K28", tokenizer=Words(), vocab_size=200) == ["ERROR ids beyond the vocabulary"]
    assert causes("K28", tokenizer=Words(), vocab_size=260) == []


def test_it_is_not_applicable_where_nothing_is_encoded() -> None:
    assert causes("K28") == ["-"]
    assert causes("K28", tokenizer=object()) == ["-"]

"""K26 on a tokenizer with a chat template beside a model's config."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from doctor.checks.asking import causes
from doctor.corpus.files import Template


class Configured(nn.Module):
    """A module that only has to be called; what counts is its config."""

    def __init__(self, **ends: Any) -> None:
        super().__init__()
        self.head = nn.Linear(4, 60)
        self.config = SimpleNamespace(eos_token_id=ends.get("config"))
        self.generation_config = SimpleNamespace(eos_token_id=ends.get("generation"))

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(torch.ones(*ids.shape, 4) * ids[..., None])


class Turns(Template):
    """Ends a turn with a token of its own."""

    special: ClassVar = {"<s>": 1, "</s>": 2, "<|end|>": 3}
    all_special_ids = (1, 2, 3)

    def apply_chat_template(self, messages: Any, tokenize: bool = True, **options: Any) -> Any:
        text = "".join(f"[{each['role']}] {each['content']}<|end|>" for each in messages)
        return self.encode(text, add_special_tokens=False) if tokenize else text


def found(tokenizer: Any, **ends: Any) -> list[str]:
    return causes("K26", model=Configured(**ends), kind="decoder", vocab_size=60, tokenizer=tokenizer)


def test_it_does_not_fire() -> None:
    assert found(Template(), generation=2) == found(Template(), config=[2, 3]) == found(Template()) == []
    assert found(Turns(), generation=[2, 3]) == []


def test_it_fires() -> None:
    assert found(Turns(), generation=2) == ["WARN turn end not in the stop set"]
    assert found(Turns(), config=[2, 3], generation=2) == ["WARN turn end not in the stop set"]
    assert "WARN EOS not in the stop set" in found(Turns(), generation=3)


def test_it_is_not_applicable_without_a_tokenizer() -> None:
    assert causes("K26", kind="decoder", vocab_size=60) == ["-"]

"""Turns that share a cache answer what turns without one answer."""

from __future__ import annotations

import copy
import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.generate.conversation import Conversation
from clearformer.generate.settings import Options
from clearformer.generate.speaker import chat_ids

QUESTIONS = ("hi", "why?", "no")


@pytest.fixture
def talker(speaker: Any, toys: Any) -> Any:
    """The toy with room for a few turns."""
    return replace(speaker, model=toys.small(replace(toys.rotary(), context=400)))


def talk(talker: Any, **options: Any) -> Conversation:
    conversation = Conversation(talker, system="be kind", options=Options(max_new_tokens=8, **options))
    for question in QUESTIONS:
        pieces = "".join(conversation.answer(question))
        assert pieces == conversation.messages[-1]["content"] == conversation.results[-1].text
    return conversation


@pytest.mark.parametrize("options", [{}, {"temperature": 1.2, "seed": 4}])
def test_a_kept_cache_changes_no_answer(talker: Any, options: dict[str, Any]) -> None:
    kept, fresh = talk(talker, **options), talk(talker, use_cache=False, **options)
    assert kept.messages == fresh.messages
    assert [each.token_ids for each in kept.results] == [each.token_ids for each in fresh.results]
    assert [message["role"] for message in kept.messages] == ["system"] + ["user", "assistant"] * 3
    assert [each.cached_tokens for each in fresh.results] == [0, 0, 0]


def test_what_the_cache_holds_is_not_read_again(talker: Any, toys: Any) -> None:
    """An answer of whole characters, ended by a mark the template writes itself, is a prefix of the next prompt."""
    opening = chat_ids(talker, [{"role": "user", "content": "a"}])
    plain = replace(talker, model=_says(talker.model, "ok", toys))
    conversation = Conversation(plain, options=Options(max_new_tokens=4))
    list(conversation.answer("a"))
    first = conversation.results[0]
    assert (first.text, first.stop_reason, first.prompt_tokens) == ("ok", "stop", len(opening))
    list(conversation.answer("b"))
    # All of the first turn but the ending mark, which was chosen and never read.
    assert conversation.results[1].cached_tokens == len(opening) + len("ok")


def _says(model: Any, text: str, toys: Any) -> Any:
    """The model with a head that always writes this text and then the turn's end, whatever it reads."""
    parrot = copy.deepcopy(model)
    script = itertools.cycle([*text.encode(), toys.TURN])

    def forward(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*x.shape[:2], table.shape[0]).index_fill(2, torch.tensor([next(script)]), 1.0)

    parrot.head.forward = forward
    return parrot


def test_an_answer_broken_off_is_kept(talker: Any) -> None:
    conversation = Conversation(talker, options=Options(max_new_tokens=20, temperature=1.0, seed=2))
    pieces = conversation.answer("tell me")
    came = next(pieces)
    pieces.close()
    assert conversation.messages[-1]["content"].startswith(came)
    assert conversation.results[-1].stop_reason == "interrupted"
    again = Conversation(talker, options=Options(max_new_tokens=20, temperature=1.0, seed=2, use_cache=False))
    again.messages, again.results = list(conversation.messages), list(conversation.results)
    assert "".join(conversation.answer("go on")) == "".join(again.answer("go on"))


def test_reset_forgets_all_but_the_system_message(talker: Any) -> None:
    conversation = talk(talker)
    first = conversation.results[0]
    conversation.reset()
    assert conversation.messages == [{"role": "system", "content": "be kind"}]
    list(conversation.answer(QUESTIONS[0]))
    assert conversation.results[0].token_ids == first.token_ids


def test_a_question_past_the_context_is_refused_and_not_remembered(talker: Any) -> None:
    conversation = talk(talker)
    before = list(conversation.messages)
    with pytest.raises(GenerationError, match="400 in all"):
        list(conversation.answer("x" * 400))
    assert conversation.messages == before
    assert "".join(conversation.answer("short"))


def test_a_model_without_a_template_cannot_chat(talker: Any) -> None:
    with pytest.raises(UsageError, match="no chat template"):
        Conversation(replace(talker, template=None))

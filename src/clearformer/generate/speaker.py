"""A model that can write: what it must bring, where its texts begin, and where they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from clearformer.errors import CheckpointError, GenerationError, TemplateError, UsageError
from clearformer.generate.reader import Speaking
from clearformer.generate.settings import Defaults
from clearformer.layers.head import Language
from clearformer.messages import generate as messages
from clearformer.model import DecoderOnly, EncoderDecoder, Model, TwoTowers
from clearformer.spec import Tokens
from clearformer.text.chat import encode_chat, turn_end_id
from clearformer.text.template import shared_renderer
from clearformer.text.tokenizer import Tokenizer


class Speaker(Protocol):
    """What `clearformer.load` returns."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> Model: ...
    @property
    def tokenizer(self) -> Tokenizer | None: ...
    @property
    def source_tokenizer(self) -> Tokenizer | None: ...
    @property
    def generation(self) -> Defaults: ...
    @property
    def template(self) -> str | None: ...


def speaking_model(speaker: Speaker) -> Speaking:
    """The model, if it predicts next tokens. Raises UsageError otherwise."""
    model = speaker.model
    if isinstance(model, DecoderOnly | EncoderDecoder) and isinstance(model.head, Language):
        return model
    head = "two towers" if isinstance(model, TwoTowers) else f"{type(model).__name__}, {type(model.head).__name__}"
    raise UsageError(messages.CANNOT_SPEAK, name=speaker.name, found=head)


def tokenizer_of(speaker: Speaker) -> Tokenizer:
    """Raises UsageError if there is none."""
    if speaker.tokenizer is None:
        raise UsageError(messages.NO_TOKENIZER, name=speaker.name)
    return speaker.tokenizer


def begin_id(speaker: Speaker) -> int | None:
    """The token that opens a text: the makers' word, else the tokenizer's. Raises CheckpointError past the table."""
    begin = speaker.generation.begin_id
    if begin is None:
        return None if speaker.tokenizer is None else speaker.tokenizer.bos_id
    model = speaking_model(speaker)
    source = (model.stack if isinstance(model, DecoderOnly) else model.decoder).spec.input
    assert isinstance(source, Tokens)
    if begin >= source.vocabulary:
        raise CheckpointError(messages.BEGIN_OUTSIDE, name=speaker.name, expected=source.vocabulary - 1, found=begin)
    return begin


def start_id(speaker: Speaker) -> int:
    """The token that an encoder-decoder's texts begin with. Raises GenerationError if there is none."""
    start = begin_id(speaker)
    if start is None:
        raise GenerationError(messages.NO_START, name=speaker.name)
    return start


def prompt_ids(speaker: Speaker, prompt: str) -> list[int]:
    """Ids of a text to be continued or translated; an empty one becomes the begin token.

    Raises GenerationError if there is none.
    """
    ids = (speaker.source_tokenizer or tokenizer_of(speaker)).encode(prompt)
    if ids:
        return ids
    begin = begin_id(speaker)
    if begin is None:
        raise GenerationError(messages.EMPTY_PROMPT, name=speaker.name)
    return [begin]


def chat_ids(speaker: Speaker, conversation: Sequence[Mapping[str, Any]]) -> list[int]:
    """Ids of a conversation, up to where the answer begins. Raises UsageError without a template."""
    if speaker.template is None:
        raise UsageError(messages.NO_TEMPLATE, name=speaker.name)
    return encode_chat(tokenizer_of(speaker), speaker.template, conversation, renderer=shared_renderer())


def end_ids(speaker: Speaker) -> frozenset[int]:
    """Ids after which a text ends: the tokenizer's, the generation config's, and the chat template's turn end."""
    ends = set(speaker.generation.end_ids)
    if speaker.tokenizer is not None:
        ends |= speaker.tokenizer.stop_ids
        if speaker.template is not None:
            ends |= _turn_end(speaker.tokenizer, speaker.template)
    return frozenset(ends)


def _turn_end(tokenizer: Tokenizer, template: str) -> set[int]:
    try:
        end = turn_end_id(tokenizer, template, renderer=shared_renderer())
    except TemplateError:
        # It wants more than two plain messages. Whoever chats hears of it; a raw text needs no turns.
        return set()
    return set() if end is None else {end}

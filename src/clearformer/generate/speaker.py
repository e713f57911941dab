"""A model that can write: what it must bring, where its texts begin, and where they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from clearformer.errors import CheckpointError, GenerationError, TemplateError, UsageError
from clearformer.generate.reader import Speaking
from clearformer.generate.settings import Defaults
from clearformer.layers.head import Language
from clearformer.messages import generate as messages
from clearformer.model import DecoderOnly, EncoderDecoder, Model, TwoTowers
from clearformer.spec import Tokens
from clearformer.text.chat import encode_chat, turn_end_id
from clearformer.text.load import refuse_sentencepiece
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
    @property
    def path(self) -> Path | None: ...


def speaking_model(speaker: Speaker) -> Speaking:
    """The model, if it predicts next tokens. Raises UsageError otherwise."""
    model = speaker.model
    if isinstance(model, DecoderOnly | EncoderDecoder) and isinstance(model.head, Language):
        return model
    head = "two towers" if isinstance(model, TwoTowers) else f"{type(model).__name__}, {type(model.head).__name__}"
    raise UsageError(messages.CANNOT_SPEAK, name=speaker.name, found=head)


def tokenizer_of(speaker: Speaker) -> Tokenizer:
    """Raises UsageError if there is none, TokenizerError where it lies beside the weights in a form not read here."""
    if speaker.tokenizer is None:
        refuse_sentencepiece(speaker.path)
        raise UsageError(messages.NO_TOKENIZER, name=speaker.name)
    return speaker.tokenizer


def begin_id(speaker: Speaker) -> int | None:
    """The token that opens a text: the makers' word, else the tokenizer's. Raises CheckpointError past the table."""
    begin = speaker.generation.begin_id
    if begin is None:
        return None if speaker.tokenizer is None else speaker.tokenizer.bos_id
    return _in_table(speaker, begin, "bos_token_id")


def start_ids(speaker: Speaker) -> list[int]:
    """The tokens that an encoder-decoder's texts begin with: the makers' start, and the first word where they force it.

    Raises GenerationError if there is none, CheckpointError past the table.
    """
    start, first = speaker.generation.start_id, speaker.generation.first_id
    start = begin_id(speaker) if start is None else _in_table(speaker, start, "decoder_start_token_id")
    if start is None:
        raise GenerationError(messages.NO_START, name=speaker.name)
    return [start] if first is None else [start, _in_table(speaker, first, "forced_bos_token_id")]


def never_ids(speaker: Speaker) -> frozenset[int]:
    """What the makers forbid to write; an end mark ends a text all the same."""
    return frozenset(speaker.generation.never_ids) - end_ids(speaker)


def _in_table(speaker: Speaker, token_id: int, key: str) -> int:
    model = speaking_model(speaker)
    source = (model.stack if isinstance(model, DecoderOnly) else model.decoder).spec.input
    assert isinstance(source, Tokens)
    if token_id >= (rows := source.vocabulary):
        raise CheckpointError(messages.BEGIN_OUTSIDE, name=speaker.name, key=key, expected=rows - 1, found=token_id)
    return token_id


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

"""A conversation to token ids, so that only the template writes special tokens.

A template puts messages and marks such as `<|im_end|>` into one string, where a mark typed by a user looks like its
own. So each special string in a message becomes a random number before rendering; afterwards the text is cut at these
numbers, and the strings they stand for are encoded as plain text. Without such strings the ids are those of
transformers' `apply_chat_template(tokenize=True)`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from clearformer.errors import TemplateError
from clearformer.messages import text as messages
from clearformer.text.template import TemplateRenderer
from clearformer.text.tokenizer import Tokenizer

Message = Mapping[str, Any]


def encode_chat(
    tokenizer: Tokenizer,
    template: str,
    conversation: Sequence[Message],
    *,
    renderer: TemplateRenderer,
    add_generation_prompt: bool = True,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> list[int]:
    """Ids of a conversation; `variables` are further names that the template reads (`enable_thinking` …).

    A template that glues a role into a mark (`'<|' + role + '|>'`) trusts the role: the program chooses it.
    Raises `TemplateError` if the conversation cannot be rendered, `TokenizerError` on a lone surrogate in its text.
    """
    nonces = Nonces(tokenizer, template)
    given = _checked(conversation, nonces)
    text = renderer.render(
        template,
        {
            **tokenizer.special_names,
            **nonces.hide(dict(variables or {})),
            "messages": [nonces.hide_message(message) for message in given],
            "tools": nonces.hide(tools),
            "documents": nonces.hide(documents),
            "add_generation_prompt": add_generation_prompt,
        },
    )
    return encode_rendered(tokenizer, text, nonces)


def encode_rendered(tokenizer: Tokenizer, text: str, nonces: Nonces) -> list[int]:
    """Ids of rendered text: what the template wrote with its special tokens, what a nonce stands for as plain text."""
    ids: list[int] = []
    for index, (piece, hidden) in enumerate(nonces.split(text)):
        encode = tokenizer.encode_literal if hidden else tokenizer.encode_trusted
        ids += encode(piece) if index == 0 else _encode_inside(tokenizer, encode, piece)
    return ids


def turn_end_id(tokenizer: Tokenizer, template: str, *, renderer: TemplateRenderer) -> int | None:
    """The token that ends the assistant's turn: the first added token after its words in a small conversation.

    None if the template writes none. Raises `TemplateError` if it fails on one message each of user and assistant.
    """
    words = str(secrets.randbelow(10**30))
    conversation = [{"role": "user", "content": "1"}, {"role": "assistant", "content": words}]
    variables = {"messages": conversation, "tools": None, "documents": None, "add_generation_prompt": False}
    _, _, after = renderer.render(template, {**tokenizer.special_names, **variables}).rpartition(words)
    marks = set(tokenizer.added_tokens.values())
    return next((token_id for token_id in tokenizer.encode_trusted(after) if token_id in marks), None)


class Nonces:
    """The random numbers of one rendering, each standing for one string that the tokenizer would match whole.

    These are the special tokens; and, outside the assistant's own messages, other added tokens that the template itself
    writes or looks for (`<tool_call>`): an assistant's `</think>` is the template's to find.
    """

    def __init__(self, tokenizer: Tokenizer, template: str) -> None:
        added = tokenizer.added_tokens
        special = [string for string, token_id in added.items() if token_id in tokenizer.special_ids]
        control = [string for string in added if string not in special and string in template]
        self._special = _any_of(special)
        self._control = _any_of([*special, *control])
        # Digits survive a template's trim, upper and title; the common beginning shows a broken one.
        self._beginning = f"{secrets.randbelow(9 * 10**23) + 10**23}"
        self._nonce_of: dict[str, str] = {}

    def first_in(self, text: str) -> str | None:
        found = self._control.search(text)
        return found[0] if found else None

    def hide_message(self, message: Message) -> dict[str, Any]:
        pattern = self._special if message.get("role") == "assistant" else self._control
        return {key: self.hide(value, pattern) for key, value in message.items()}

    def hide(self, value: Any, pattern: re.Pattern[str] | None = None) -> Any:
        """The same value, its strings' special strings replaced; the keys of objects are left."""
        if isinstance(value, str):
            return (pattern or self._control).sub(lambda found: self._nonce(found[0]), value)
        if isinstance(value, Mapping):
            return {key: self.hide(item, pattern) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide(item, pattern) for item in value]
        return value

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Pieces of rendered text, and whether a nonce stood there. Raises `TemplateError` if one came back broken."""
        string_of = {nonce: string for string, nonce in self._nonce_of.items()}
        pieces = _any_of(list(string_of)).split(text)
        if any(self._beginning in piece for piece in pieces[0::2]):
            raise TemplateError(messages.NONCE_BROKEN, token=next(iter(self._nonce_of)))
        for index, piece in enumerate(pieces):
            if piece:
                yield (string_of[piece], True) if index % 2 else (piece, False)

    def _nonce(self, string: str) -> str:
        return self._nonce_of.setdefault(string, f"{self._beginning}{len(self._nonce_of):06d}")


def _any_of(strings: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(strings, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})" if strings else "((?!))")


def _encode_inside(tokenizer: Tokenizer, encode: Callable[[str], list[int]], piece: str) -> list[int]:
    """Encode a piece that does not begin the text: SentencePiece puts a space before what does."""
    newline = encode("\n") if tokenizer.spelling == "pieces" else []
    after_newline = encode("\n" + piece) if newline else []
    if newline and after_newline[: len(newline)] == newline:
        return after_newline[len(newline) :]
    return encode(piece)


def _checked(conversation: Sequence[Message], nonces: Nonces) -> list[dict[str, Any]]:
    """The conversation as templates expect it: keys without a value dropped, the names of reasoning filled in."""
    if not conversation:
        raise TemplateError(messages.NO_MESSAGES)
    result = []
    for index, message in enumerate(conversation):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise TemplateError(messages.BAD_MESSAGE, index=index, found=type(message).__name__)
        given = {key: value for key, value in message.items() if value is not None}
        reasoning = next((given[key] for key in ("reasoning_content", "thinking", "reasoning") if key in given), None)
        if reasoning is not None:
            given = {"thinking": reasoning, **given, "reasoning_content": reasoning}
        _refuse_joined_parts(given.get("content"), index, nonces)
        result.append(given)
    return result


def _refuse_joined_parts(content: Any, index: int, nonces: Nonces) -> None:
    """Two text parts, `<|im_` and `end|>`, hold no special string each and are one when the template joins them."""
    if not isinstance(content, list | tuple):
        return
    texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    for left, right in pairwise(texts):
        # Each part's own special strings are hidden anyway; only what crosses the seam is looked for.
        seam = nonces.first_in("".join(nonces.hide([left, right])))
        if seam is not None:
            raise TemplateError(messages.PARTS_FORM_SPECIAL, index=index, token=seam)

"""A message with what fills it, to be put into a language later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clearformer.messages import Language, Message


@dataclass(frozen=True)
class Sentence:
    """`values` may be messages themselves."""

    message: Message
    values: Mapping[str, object] = field(default_factory=dict)

    def text(self, language: Language) -> str:
        return self.message.text(language, **self.values)


def sentence(message: Message, **values: object) -> Sentence:
    return Sentence(message, values)

"""A tour under way: stations with headings, what they told, and what could not be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from clearformer.cli.screen import Screen
from clearformer.cli.speaking import Computing
from clearformer.errors import ClearformerError
from clearformer.messages import Message
from clearformer.messages import tour as say


@dataclass
class Journey:
    """What has been shown so far, and what could not be."""

    screen: Screen
    flags: Computing
    told: dict[str, Any] = field(default_factory=dict)
    left_out: list[dict[str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stations: int = 0

    @contextmanager
    def station(self, part: str, title: Message, /, **values: object) -> Iterator[None]:
        """A heading, then the body; a named error becomes a line and an entry of `left_out`."""
        self.stations += 1
        self.say(say.STATION, number=self.stations, title=title.text(self.screen.language, **values))
        try:
            yield
        except ClearformerError as error:
            language = self.screen.language
            cause, remedy = error.cause(language), error.remedy(language)
            self.left_out.append({"part": part, "kind": error.kind, "message": cause, "remedy": remedy})
            self.say(say.LEFT_OUT, cause=cause)
            self.say(say.WHAT_TO_DO, remedy=remedy)

    def say(self, message: Message, **values: object) -> None:
        if not self.screen.as_json:
            self.screen.say(message, **values)

    def show(self, draw: Callable[[], None]) -> None:
        if not self.screen.as_json:
            draw()

"""`clearformer chat MODEL`: a conversation on a terminal, or one message a line through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clearformer.cli import boundary
from clearformer.cli.flags import Spoken
from clearformer.cli.generate import contents
from clearformer.cli.screen import Screen
from clearformer.cli.source import decoded, text_or_stdin
from clearformer.cli.speaking import SPEAKING, WRITING, Model, Speaking, Writing, ready_to_write, write
from clearformer.errors import ClearformerError, UsageError
from clearformer.messages import generate as say

if TYPE_CHECKING:
    from clearformer.generate.conversation import Conversation
System = Annotated[str | None, Parameter(help="A message from the system before the first of yours.")]


def chat(
    model: Model,
    /,
    *,
    system: System = None,
    options: Writing = WRITING,
    flags: Speaking = SPEAKING,
    language: Spoken = "en",
) -> int:
    """Answer message after message until /exit or the end of input; /reset forgets, Ctrl-C stops an answer."""
    if system is not None:
        system = text_or_stdin(system, "--system")
    screen = Screen(language, flags)
    speaker = ready_to_write(model, flags, screen, cached=options.use_cache)

    from clearformer.generate.conversation import Conversation
    from clearformer.generate.speaker import tokenizer_of

    conversation = Conversation(speaker, system=system, options=options)
    if sys.stdin.isatty():
        screen.note(say.CHAT_HELP, name=speaker.name)
    code = Session(conversation, screen).run()
    if screen.as_json:
        tokenizer = tokenizer_of(speaker)
        turns = [contents(each, tokenizer, top_logprobs=options.top_logprobs > 0) for each in conversation.results]
        screen.json({"messages": conversation.messages, "turns": turns})
    return code


class Session:
    """Questions in, answers out. The first Ctrl-C stops an answer; one at the prompt, or a second in a row, leaves."""

    def __init__(self, conversation: Conversation, screen: Screen) -> None:
        self._conversation, self._screen = conversation, screen
        self._interactive = sys.stdin.isatty()

    def run(self) -> int:
        """The exit code: 0 at /exit or the end of input, 130 when interrupted."""
        stopped = False
        try:
            for text in self._questions():
                if text == "/reset":
                    self._conversation.reset()
                    self._screen.note(say.FORGOTTEN)
                    continue
                finished = self._answer(text)
                if stopped and not finished:
                    return boundary.INTERRUPTED
                stopped = not finished
        except KeyboardInterrupt:
            if self._interactive:
                print(file=sys.stderr)
            return boundary.INTERRUPTED
        return 0

    def _answer(self, text: str) -> bool:
        """Stream one answer; False if it was stopped. What was written until then stays in the conversation."""
        shown, turns = 0, len(self._conversation.results)
        finished = True
        try:
            with closing(self._conversation.answer(text)) as pieces:
                for piece in pieces:
                    self._show(piece)
                    shown += len(piece)
        except KeyboardInterrupt:
            finished = False
        except ClearformerError as error:
            if not self._interactive:
                raise
            # A conversation that outgrew the context can still be reset by its user.
            self._tell(error)
        # Text held back in case it became a stop string is shown when the answer is broken off.
        held = "".join(result.text[shown:] for result in self._conversation.results[turns:])
        self._show(f"{held}\n")
        if not finished:
            self._screen.note(say.STOPPED)
        return finished

    def _show(self, piece: str) -> None:
        if not self._screen.as_json:
            write(piece)

    def _questions(self) -> Iterator[str]:
        """Messages until /exit or the end of input; a \\ at a line's end joins the next; empty ones are skipped."""
        lines: list[str] = []
        while (line := self._line(continued=bool(lines))) is not None:
            if line.endswith("\\"):
                lines.append(line[:-1])
                continue
            text, lines = "\n".join([*lines, line]).strip(), []
            if text == "/exit":
                return
            if text:
                yield text
        if text := "\n".join(lines).strip():
            yield text

    def _line(self, *, continued: bool) -> str | None:
        """One line without its end; None at the end of input. Raises UsageError if it is not UTF-8 and not typed."""
        if not self._interactive:
            raw = sys.stdin.buffer.readline()
            return decoded(raw, "stdin").rstrip("\r\n") if raw else None
        try:
            return text_or_stdin(input("… " if continued else "> "), "stdin")
        except EOFError:
            return None
        except UsageError as error:
            # A byte that is no text costs the line and not the conversation.
            self._tell(error)
            return ""

    def _tell(self, error: ClearformerError) -> None:
        boundary.tell(boundary.explain(error, self._screen.language), self._screen.language, as_json=False)

"""`clearformer fill MODEL TEXT`: what stands in the gaps of a text."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, loaded

Text = Annotated[str | None, Parameter(help="A text with [MASK] for each gap; without it, standard input.")]
Top = Annotated[int, Parameter(help="How many of the likeliest tokens to show for each gap.")]


def fill(
    model: Model, text: Text = None, /, *, top: Top = 5, flags: Computing = COMPUTING, language: Spoken = "en"
) -> None:
    """Print the likeliest tokens for each gap."""
    text = text_or_stdin(text, "TEXT").rstrip("\n")
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    from clearformer.tasks.filling import fill as work

    found = work(speaker, text, top)
    if screen.as_json:
        screen.json(
            {
                "outputs": [
                    {"input": text, "output": each.text, "score": each.score, "gap": each.gap, "word": each.word}
                    for each in found
                ],
                "metrics": None,
            }
        )
        return
    screen.table([(each.gap + 1, each.word, f"{each.score:.3f}", each.text) for each in found])

"""What verbs that draw share: the flag that names the file, and a word about letters that no font here shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clearformer.cli.screen import Screen
from clearformer.messages import pictures as say

Out = Annotated[Path | None, Parameter(help="Draw it into this file: .png, .svg or .html.")]


def note_missing(missing: set[str], out: Path, screen: Screen) -> None:
    """A PNG has boxes where no font has the letter; the others leave letters to the browser."""
    if missing and out.suffix.lower() == ".png":
        screen.note(say.NO_FONT, characters="".join(sorted(missing))[:20])

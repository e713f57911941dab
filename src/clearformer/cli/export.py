"""`clearformer export MODEL FOLDER`: a model as a folder that other libraries read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import Model
from clearformer.messages import cli as say

Folder = Annotated[Path, Parameter(help="The folder to write; it must not exist.")]
Form = Annotated[
    Literal["hf", "own"],
    Parameter(name="--form", help="hf: as transformers reads it; own: with the whole spec, for this library alone."),
]
PROGRESSING = Progressing()


def export(
    model: Model, folder: Folder, /, *, form: Form = "hf", flags: Progressing = PROGRESSING, language: Spoken = "en"
) -> None:
    """Write weights, configuration, tokenizer and generation settings."""
    from clearformer.export import export as write

    screen = Screen(language, flags)
    with screen.progress(say.LOADING, in_bytes=True, name=model) as advance:
        path = write(model, folder, form, progress=advance)
    if screen.as_json:
        screen.json({"path": str(path), "form": form})
    else:
        screen.text(str(path))

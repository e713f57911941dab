"""`clearformer export MODEL OUT`: a model as a folder or a GGUF file that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.speaking import Model
from clearformer.errors import UsageError
from clearformer.messages import cli as say

Form = Literal["hf", "own"]
Kind = Literal["f32", "f16", "bf16", "q8_0", "q4_0"]
Out = Annotated[Path, Parameter(help="The folder to write, or a file whose name ends in .gguf; it must not exist.")]
FormFlag = Annotated[
    Form | None,
    Parameter(
        name="--form",
        help="A folder's form. hf: as transformers reads it; own: with the whole spec, for this library alone [hf].",
    ),
]
KindFlag = Annotated[
    Kind | None,
    Parameter(
        name="--type",
        help="How a GGUF file stores matrices: in 32, 16, 16, 8.5 or 4.5 bits a weight [f16].",
    ),
]
PROGRESSING = Progressing()
_GGUF = ".gguf"


def export(
    model: Model,
    out: Out,
    /,
    *,
    form: FormFlag = None,
    kind: KindFlag = None,
    flags: Progressing = PROGRESSING,
    language: Spoken = "en",
) -> None:
    """Write weights, configuration, tokenizer and generation settings."""
    screen = Screen(language, flags)
    if out.suffix == _GGUF:
        if form is not None:
            raise UsageError(say.FORM_OF_FOLDER, found=f"--form {form}", out=out)
        _file(screen, model, out, kind or "f16")
    elif kind is not None:
        raise UsageError(say.TYPE_OF_FILE, found=f"--type {kind}", out=out)
    else:
        _folder(screen, model, out, form or "hf")


def _folder(screen: Screen, model: str, out: Path, form: Form) -> None:
    from clearformer.export import export as write

    with screen.progress(say.LOADING, in_bytes=True, name=model) as advance:
        path = write(model, out, form, progress=advance)
    if screen.as_json:
        screen.json({"path": str(path), "form": form, "type": None, "architecture": None, "fell_back": []})
    else:
        screen.text(str(path))


def _file(screen: Screen, model: str, out: Path, kind: Kind) -> None:
    from clearformer.export_gguf import export_gguf

    with screen.progress(say.EXPORTING, in_bytes=True, name=model) as advance:
        written = export_gguf(model, out, kind, progress=advance, writing=advance)
    if written.fell_back:
        count, first = len(written.fell_back), written.fell_back[0]
        screen.note(say.FELL_BACK, count=count, first=first, kind=kind)
    if screen.as_json:
        screen.json(
            {
                "path": str(written.path),
                "form": "gguf",
                "type": kind,
                "architecture": written.architecture,
                "fell_back": list(written.fell_back),
            }
        )
    else:
        screen.text(str(written.path))

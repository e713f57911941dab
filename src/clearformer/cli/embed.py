"""`clearformer embed MODEL TEXT…`: texts as vectors."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, loaded
from clearformer.errors import UsageError
from clearformer.messages import generate as say

Texts = Annotated[str, Parameter(help="Texts; without them, the lines of standard input.")]
Similarity = Annotated[bool, Parameter(help="Compare the texts: the cosine between each two.")]

_SHOWN = 6


def embed(
    model: Model,
    /,
    *texts: Texts,
    similarity: Similarity = False,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print each text's vector, shortened; whole with --json."""
    lines = [text_or_stdin(text, "TEXT") for text in texts]
    lines = lines or text_or_stdin(None, "TEXT").splitlines()
    if similarity and len(lines) < 2:
        raise UsageError(say.FEW_TEXTS, found=len(lines))
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    from clearformer.generate import vectors

    found = vectors.embed(speaker, lines).double()
    cosines = vectors.cosine_similarity(found).tolist() if similarity else None
    if screen.as_json:
        told: dict[str, Any] = {"vectors": found.tolist(), "dim": found.shape[1]}
        screen.json(told if cosines is None else {**told, "similarity": cosines})
    elif cosines is not None:
        numbers = [str(number) for number in range(1, len(lines) + 1)]
        rows = zip(numbers, lines, cosines, strict=True)
        screen.table([(n, _short(line), *(f"{c:.4f}" for c in row)) for n, line, row in rows], ["", "", *numbers])
    else:
        rest = "…" if found.shape[1] > _SHOWN else ""
        shown = [[f"{number:.4f}" for number in vector[:_SHOWN]] for vector in found.tolist()]
        screen.table([(_short(line), *row, rest) for line, row in zip(lines, shown, strict=True)])


def _short(text: str, longest: int = 40) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"

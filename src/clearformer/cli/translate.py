"""`clearformer translate MODEL [TEXT…]`: texts into the other language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, loaded
from clearformer.errors import UsageError
from clearformer.messages import train_verb as say

Texts = Annotated[str, Parameter(help="Texts; without them, the lines of standard input.")]
NumBeams = Annotated[int, Parameter(help="How many beginnings to keep at each step; 1 takes the likeliest word.")]
Penalty = Annotated[
    float, Parameter(help="The exponent of the length penalty ((5 + n) / 6)^α; a larger one favours longer texts.")
]
Reference = Annotated[
    Path | None, Parameter(help="A file with the true translation of each text, line by line: print BLEU and chrF.")
]
Lowercase = Annotated[bool, Parameter(help="Take small and large letters for the same as translations are scored.")]


def translate(
    model: Model,
    /,
    *texts: Texts,
    num_beams: NumBeams = 5,
    length_penalty: Penalty = 0.6,
    reference: Reference = None,
    lowercase: Lowercase = False,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print each text's translation."""
    from clearformer.tasks.translating import Beams

    beams = Beams(num_beams, length_penalty)
    lines = list(texts) or text_or_stdin(None, "TEXT").splitlines()
    screen = Screen(language, flags)
    speaker = loaded(model, flags, screen)

    from clearformer.tasks.translator import translate as work

    with screen.progress(say.TRANSLATING) as advance:
        found = work(speaker, lines, beams=beams, progress=advance)
    metrics = _metrics(reference, [each.translation for each in found], lowercase=lowercase)
    if screen.as_json:
        outputs = [{"input": each.text, "output": each.translation, "score": each.score} for each in found]
        screen.json({"outputs": outputs, "metrics": metrics})
        return
    for each in found:
        screen.text(each.translation)
    for name, value in (metrics or {}).items():
        screen.note(say.FIGURE, name=name, value=value)


def _metrics(reference: Path | None, translations: list[str], *, lowercase: bool) -> dict[str, Any] | None:
    if reference is None:
        if lowercase:
            raise UsageError(say.NOTHING_TO_SCORE)
        return None
    from clearformer.data.documents import lines
    from clearformer.tasks.translation import bleu_signature, scores

    truths = list(lines(reference))
    if len(truths) != len(translations):
        raise UsageError(say.NO_REFERENCE, expected=len(translations), found=len(truths))
    bleu, chrf = scores(translations, truths, lowercase=lowercase)
    return {"bleu": bleu, "chrf": chrf, "signature": bleu_signature(lowercase=lowercase)}

"""`clearformer classify MODEL [TEXT|IMAGE…]`: the class of each text or image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen
from clearformer.cli.source import text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, loaded
from clearformer.messages import train_verb as say

if TYPE_CHECKING:
    from clearformer.load import Loaded

Inputs = Annotated[
    str, Parameter(help="Texts, or image files for a vision model; without them, the lines of standard input.")
]


def classify(model: Model, /, *inputs: Inputs, flags: Computing = COMPUTING, language: Spoken = "en") -> None:
    """Print each input's likeliest class and its probability."""
    given = list(inputs) or text_or_stdin(None, "TEXT").splitlines()
    screen = Screen(language, flags)
    outputs = _classified(loaded(model, flags, screen), given)
    if screen.as_json:
        screen.json({"outputs": outputs, "metrics": None})
        return
    screen.table([(each["output"], f"{each['score']:.3f}", each["input"]) for each in outputs])


def _classified(speaker: Loaded, given: list[str]) -> list[dict[str, Any]]:
    from clearformer.spec import EncoderOnly, Patches

    spec = speaker.spec
    if isinstance(spec, EncoderOnly) and isinstance(spec.encoder.input, Patches):
        from clearformer.errors import UsageError
        from clearformer.model import EncoderOnly as EncoderModel
        from clearformer.tasks.image_classifier import classify_image, looking_of

        if speaker.path is None:
            raise UsageError(say.NO_FOLDER_OF_RUN, name=speaker.name)
        assert isinstance(speaker.model, EncoderModel)
        looking = looking_of(speaker.path, spec)
        verdicts = [classify_image(speaker.model, looking, Path(path)) for path in given]
        return [
            {"input": path, "output": verdict.label, "score": verdict.score, "scores": dict(verdict.scores)}
            for path, verdict in zip(given, verdicts, strict=True)
        ]
    from clearformer.tasks.classifier import classify as judge

    return [
        {"input": each.text, "output": each.label, "score": each.score, "scores": dict(each.scores)}
        for each in judge(speaker, given)
    ]

"""`clearformer lens MODEL TEXT`: what each layer would say next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.attention import answer
from clearformer.cli.drawing import Out, note_missing
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, cells_wide, columns, visible
from clearformer.cli.source import text_file, text_or_stdin
from clearformer.cli.speaking import COMPUTING, Computing, Model, Text, loaded
from clearformer.errors import UsageError
from clearformer.messages import Message
from clearformer.messages import lens as say
from clearformer.spec import EncoderDecoder

if TYPE_CHECKING:
    from clearformer.inspect.lens import LensReading
    from clearformer.inspect.tuned_lens import TunedLens
    from clearformer.load import Loaded

Target = Annotated[
    str | None,
    Parameter(help="What an encoder-decoder should write; without it, what the model itself writes is looked at."),
]
Tune = Annotated[
    Path | None, Parameter(help="Tune the lens on this text first: a learnt map a layer; the model is not changed.")
]
Save = Annotated[Path | None, Parameter(help="Keep the lens that --tune makes in this file, for --tuned.")]
Kept = Annotated[Path | None, Parameter(help="Look through a lens that --save kept; another model's is refused.")]
TuneSteps = Annotated[int | None, Parameter(help="Updates of the tuned lens [50].")]

_PIPED = 120
_ANSWER = 32


def lens(
    model: Model,
    text: Text = None,
    /,
    *,
    target: Target = None,
    tune: Tune = None,
    tune_steps: TuneSteps = None,
    save: Save = None,
    tuned: Kept = None,
    out: Out = None,
    flags: Computing = COMPUTING,
    language: Spoken = "en",
) -> None:
    """Print each layer's likeliest next token, and the rank that it gives to the true one."""
    from clearformer.inspect.canvas import checked_format

    if out is not None:
        checked_format(out)
    _require_sense(tune, tune_steps, save, tuned)
    learnt = None if tune is None else text_file(tune)
    read, screen = text_or_stdin(text, "TEXT"), Screen(language, flags)
    speaker = loaded(model, flags, screen)

    import clearformer.inspect.lens as room
    from clearformer.inspect.lens_file import read_lens, save_lens

    through = None if tuned is None else read_lens(tuned, speaker)
    given, written = sides(speaker, read, target)
    if learnt is not None:
        through = learning(speaker, given, learnt, tune_steps, screen)
    if save is not None and through is not None:
        save_lens(save, through, speaker)
        screen.note(say.SAVED, path=save)
    found = room.lens(speaker, given, target=written, through=through)
    files = [] if out is None else [draw(found, out, speaker.name, screen)]
    if screen.as_json:
        screen.json({**contents(found, files), "saved": None if save is None else str(save)})
        return
    show(found, screen)
    for file in files:
        print(file)


def _require_sense(tune: Path | None, steps: int | None, save: Path | None, tuned: Path | None) -> None:
    """Raises UsageError for flags that contradict each other, and for a file that --save must not write over."""
    if steps is not None and tune is None:
        raise UsageError(say.STEPS_WITHOUT_TEXT)
    if save is not None and tune is None:
        raise UsageError(say.SAVE_WITHOUT_TUNE)
    if tuned is not None and tune is not None:
        raise UsageError(say.TUNE_OR_TUNED)
    if save is not None:
        from clearformer.inspect.lens_file import require_place

        require_place(save)


def sides(speaker: Loaded, text: str, target: str | None) -> tuple[str | list[int], list[int] | None]:
    """What is read and, where there are two sides, what the decoder reads."""
    from clearformer.generate.speaker import prompt_ids, start_ids, tokenizer_of

    if not isinstance(speaker.spec, EncoderDecoder):
        if target is not None:
            raise UsageError(say.NO_TARGET_HERE, found=type(speaker.spec).__name__)
        return text, None
    new = answer(speaker, text, _ANSWER) if target is None else tokenizer_of(speaker).encode(target)
    return prompt_ids(speaker, text), [*start_ids(speaker), *new]


def learning(speaker: Loaded, given: str | list[int], text: str, steps: int | None, screen: Screen) -> TunedLens:
    """A lens tuned on the text; an encoder-decoder learns to write it beside what it was given."""
    from clearformer.generate.speaker import tokenizer_of
    from clearformer.inspect.tuned_lens import STEPS, tune

    ids = tokenizer_of(speaker).encode(text)
    source = given if isinstance(given, list) else None
    with screen.progress(say.TUNING) as advance:
        found = tune(speaker, ids, source=source, steps=STEPS if steps is None else steps, progress=advance)
    screen.note(say.TUNED, steps=say.steps_of(found.steps), tokens=found.tokens, before=found.before, after=found.after)
    return found.lens


def draw(found: LensReading, out: Path, name: str, screen: Screen) -> Path:
    """The picture, with a note about letters that it cannot show."""
    from clearformer.inspect.lens_picture import draw as picture

    path, missing = picture(out, found, name, language=screen.language)
    note_missing(missing, out, screen)
    return path


def contents(found: LensReading, files: Sequence[Path] = ()) -> dict[str, Any]:
    """The object that `--json` prints; `values` is the true token's probability by layer and position."""
    known = [token is not None for token in found.truth]
    return {
        "tokens": found.tokens,
        "truth": found.truth,
        "layers": found.layers,
        "heads": [],
        "files": [str(path) for path in files],
        "values": [
            [p if there else None for p, there in zip(row, known, strict=True)] for row in found.probability.tolist()
        ],
        "ranks": [[r if there else None for r, there in zip(row, known, strict=True)] for row in found.rank.tolist()],
        "top": [[[asdict(guess) for guess in guesses] for guesses in row] for row in found.top],
        "settled": [found.settled(position) for position in range(len(found.tokens))],
        "tuned": found.tuned,
    }


def show(found: LensReading, screen: Screen) -> None:
    """Two tables under the tokens read: what each layer says, and the rank of the true token."""
    stars = [["*" if rank == 1 else "" for rank in row] for row in found.rank.tolist()]
    said = [
        [f"{_plain(guesses[0].token)}{star}" for guesses, star in zip(row, marks, strict=True)]
        for row, marks in zip(found.top, stars, strict=True)
    ]
    ranks = [[str(rank) if rank else "–" for rank in row] for row in found.rank.tolist()]
    head = [
        (say.READS, [_plain(token) for token in found.tokens]),
        (say.TRUE, ["–" if token is None else _plain(token) for token in found.truth]),
    ]
    screen.say(say.LIKELIEST)
    shown = _table(found, head, said, screen)
    print()
    screen.say(say.RANKS)
    shown = min(shown, _table(found, head, ranks, screen))
    if shown < len(found.tokens):
        screen.note(say.ONLY_LAST, shown=shown, count=len(found.tokens))


def _table(
    found: LensReading, head: Sequence[tuple[Message, list[str]]], cells: list[list[str]], screen: Screen
) -> int:
    """Print as many of the last positions as fit, and tell how many."""
    names = [say.EMBED.text(screen.language) if layer is None else str(layer) for layer in found.layers]
    rows = [(word.text(screen.language), line) for word, line in head]
    rows += list(zip(reversed(names), reversed(cells), strict=True))
    widths = [max(cells_wide(line[place]) for _, line in rows) for place in range(len(found.tokens))]
    free = columns(_PIPED) - max(cells_wide(name) for name, _ in rows)
    shown = 0
    while shown < len(widths) and free >= widths[-shown - 1] + 2:
        free -= widths[-shown - 1] + 2
        shown += 1
    shown = max(1, shown)
    print("\n".join(aligned([[name, *line[-shown:]] for name, line in rows], [False] * (shown + 1))))
    return shown


def _plain(token: str) -> str:
    """A token without the blank that it begins with; line ends as escapes."""
    return visible(token).strip(" ") or "␣"

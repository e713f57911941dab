"""`clearformer verify MODEL`: does it compute what the original computes, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Advance, Screen, aligned, visible
from clearformer.cli.source import argument
from clearformer.cli.speaking import Model
from clearformer.cli.trace import chosen_layer
from clearformer.messages import cli as say_of_cli
from clearformer.messages import verify as say

if TYPE_CHECKING:
    from clearformer.verify.verifying import Progress, Stage, Verification


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Verifying(Progressing):
    """What is compared, and how much of it is shown."""

    against: str = "hf"
    """The reference: hf (transformers reads the same files), numpy (the twin), or another checkpoint's folder."""
    text: str | None = None
    """The text that both read, at most 256 tokens of it; a sentence of our own if left out."""
    layer: str | None = None
    """In the table, open this block, counted from 0, or all. The one at fault is always open."""
    threads: int | None = None
    """Processor threads to compute with; one a core if left out."""


def verify(model: Model, /, *, flags: Verifying = Verifying(), language: Spoken = "en") -> int:
    """Compare every tensor with the reference's; where they part, try what would mend it."""
    opened = opened_by(flags.layer)
    text = None if flags.text is None else argument(flags.text, "--text")
    import clearformer.machine as machine
    from clearformer.verify.report import facts
    from clearformer.verify.verifying import verify as compare

    machine.use_threads(flags.threads)
    screen = Screen(language, flags)
    with stages(model, screen) as progress:
        found = compare(model, against=flags.against, text=text, progress=progress)
    if screen.as_json:
        screen.json(facts(found, language))
    else:
        show(found, opened, screen)
    return 1 if found.verdict == "bug" else 0


def show(found: Verification, opened: list[int] | None, screen: Screen) -> None:
    """The table, the verdict, and under it what was not compared."""
    from clearformer.verify.report import HEADINGS, after, cells, heading

    rows = cells(found, opened)
    print(visible(heading(found, screen.language)))
    table = [[each.text(screen.language) for each in HEADINGS] + [""], *rows]
    print("\n".join(aligned([[visible(cell) for cell in row] for row in table], [False, *[True] * 4, False])))
    print()
    print("\n".join(visible(line) for line in after(found, screen.language)))
    if opened is not None:
        screen.note(say.FOLDED)


@contextmanager
def stages(model: str, screen: Screen) -> Iterator[Progress]:
    """A bar for each stage in its turn."""
    now: list[tuple[Stage, Advance]] = []
    with ExitStack() as bars:

        def progress(stage: Stage, done: int, total: int) -> None:
            if not now or now[-1][0] != stage:
                bars.close()
                message = say_of_cli.LOADING if stage == "loading" else say.STAGES[stage]
                now.append(
                    (stage, bars.enter_context(screen.progress(message, in_bytes=stage == "loading", name=model)))
                )
            if total:
                now[-1][1](done, total)

        yield progress


def opened_by(layer: str | None) -> list[int] | None:
    """Blocks to open beside the one at fault; None for all. Raises UsageError for what is no number."""
    if layer is None:
        return []
    number = chosen_layer(layer)
    return None if number is None else [number]

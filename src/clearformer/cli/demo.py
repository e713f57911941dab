"""`clearformer demo [N]`: the seven demonstrations."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter

from clearformer.cli.flags import Printing, Spoken
from clearformer.cli.screen import Screen
from clearformer.errors import UsageError
from clearformer.lab.demos import DEMOS, Fault, Outcome
from clearformer.messages import cli as say

Number = Annotated[int | None, Parameter(help="Which demonstration, 1 to 7; all of them if left out.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Demonstrating(Printing):
    """How to run them."""

    fault: Annotated[Fault | None, Parameter(name="--break")] = None
    """Plant this fault, to see which check catches it and why."""


def demo(n: Number = None, /, *, flags: Demonstrating = Demonstrating(), language: Spoken = "en") -> int:
    """Print every step; 0 if every check passed, 1 if one caught something."""
    if n is not None and n not in DEMOS:
        raise UsageError(say.NO_SUCH_DEMO, number=n, known=", ".join(map(str, DEMOS)))
    screen = Screen(language, flags)
    outcomes = []
    for chosen in DEMOS.values() if n is None else [DEMOS[n]]:
        outcomes.append(chosen.run(flags.fault, language))
        if not screen.as_json:
            screen.text("\n".join(outcomes[-1].lines) + "\n")
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if screen.as_json:
        screen.json({"passed": not failed, "demos": [_entry(outcome) for outcome in outcomes]})
    else:
        _verdict(screen, flags.fault, failed)
    return 1 if failed else 0


def _verdict(screen: Screen, fault: Fault | None, failed: list[Outcome]) -> None:
    if fault:
        screen.say(say.CAUGHT_BY if failed else say.NOT_TOUCHED, fault=fault)
        for outcome in failed:
            if outcome.caught:
                screen.say(say.CAUGHT, n=outcome.n, law=outcome.caught.law)
    if failed:
        screen.say(say.SOME_FAILED, names=", ".join(str(outcome.n) for outcome in failed))
    else:
        screen.say(say.ALL_PASSED)


def _entry(outcome: Outcome) -> dict[str, object]:
    caught = asdict(outcome.caught) if outcome.caught else None
    facts = {"n": outcome.n, "name": outcome.name, "passed": outcome.passed, "figures": outcome.figures}
    return {**facts, "caught": caught}

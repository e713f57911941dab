"""`clearformer doctor TARGET`: which laws a Transformer breaks, anybody's, and why."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clearformer.cli import boundary
from clearformer.cli.doctor_flags import EXAMINING, Examining
from clearformer.cli.flags import Spoken
from clearformer.cli.screen import Screen, aligned, visible
from clearformer.errors import UsageError
from clearformer.messages import Language
from clearformer.messages import doctor_process as say_of_process
from clearformer.messages import doctor_report as say
from clearformer.messages import doctor_symptoms as say_of_symptoms

if TYPE_CHECKING:
    from clearformer.doctor.diagnosis import Diagnosis
    from clearformer.doctor.report import Told
    from clearformer.doctor.telling import Teller

Target = Annotated[
    str | None,
    Parameter(help="my_model.py:build, package.module:build, a run's or a model's folder, or a Hub id."),
]


def doctor(target: Target = None, /, *, flags: Examining = EXAMINING, language: Spoken = "en") -> int:
    """Find which laws a Transformer breaks, name the cause, and say what mends it."""
    from clearformer.cli.doctor_symptom import explain, facts_of
    from clearformer.cli.doctor_target import request_for
    from clearformer.doctor.apart.running import BrokenOff, examine_apart
    from clearformer.doctor.symptoms import symptom

    screen = Screen(language, flags)
    seen = None if flags.symptom is None else symptom(flags.symptom)
    if not (target or "").strip():
        target = None
    if target is None and seen is None:
        raise UsageError(say_of_symptoms.NOTHING_GIVEN)
    check_files(target, flags)
    if seen is not None and not screen.as_json:
        explain(seen, target, screen)
    if target is None:
        assert seen is not None
        if screen.as_json:
            screen.json(facts_of(seen, language))
        return 0
    if flags.watch:
        from clearformer.cli.doctor_watching import follow

        return follow(target, flags, screen)
    request = request_for(target, flags, screen, seen)
    code = None
    try:
        with bar(target, screen) as tell:
            found = examine_apart(request, target, tell)
    except BrokenOff as broken:
        found, code = broken.found, boundary.explain(broken.by, language).exit_code
    if not screen.as_json:
        show(found, screen)
    write_files(target, found, flags, screen)
    if screen.as_json:
        from clearformer.doctor.report import facts

        screen.json(facts(found, language) | facts_of(seen, language))
    if code is not None:
        return code
    return 0 if found.healthy and (found.passed or found.findings) else 1


def show(found: Diagnosis, screen: Screen) -> None:
    """Each finding with its evidence and mend; then what holds, and what was not checked and why."""
    from clearformer.doctor.report import skipped_by_reason, told, verdict

    language = screen.language
    if found.called is not None:
        floor = () if found.floor is None else (say.FLOOR.text(language, floor=found.floor),)
        print(visible(found.called.text(language)), *floor)
        print()
    for finding in found.findings:
        print("\n".join(visible(line) for line in lines(told(finding, language), language)))
        print()
    if found.passed:
        print(say.PASSED.text(language, checks=", ".join(found.passed)))
    if found.skipped:
        print(say.SKIPPED.text(language))
        print("\n".join(visible(f"  {checks}: {why}") for checks, why in skipped_by_reason(found, language)))
    for note in found.notes:
        print(visible(note.text(language)))
    print()
    print(verdict(found, language))


def lines(finding: Told, language: Language) -> Iterator[str]:
    """A finding on the terminal: what is broken, then why, in two columns."""
    from clearformer.doctor.report import named

    name = f" {finding.name}" if finding.name else ""
    yield f"{say.SEVERITIES[finding.severity].text(language)}  {finding.check}{name}: {finding.law}"
    rows = [(say.CAUSE, named(finding, language))]
    rows += [(say.RIVALS, ", ".join(finding.rivals))] if finding.rivals else []
    rows += [(say.EVIDENCE, each) for each in finding.evidence]
    rows += [(say.WHERE, finding.where)] if finding.where is not None else []
    rows.append((say.FIX, finding.fix))
    labels = [label if place == 0 or rows[place - 1][0] is not label else None for place, (label, _) in enumerate(rows)]
    cells = [
        (f"  {'' if label is None else label.text(language)}", row[1]) for label, row in zip(labels, rows, strict=True)
    ]
    yield from aligned(cells, (False, False))


def check_files(target: str | None, flags: Examining) -> None:
    """A diagnosis takes a minute: what cannot be written is said before. Raises UsageError and OSError."""
    for option in ("html", "sarif"):
        if (name := getattr(flags, option)) is None:
            continue
        if target is None:
            raise UsageError(say_of_process.WITHOUT_TARGET, option=f"--{option}")
        path = Path(name)
        if not name.strip() or path.is_dir():
            raise UsageError(say_of_process.NO_FILE, option=f"--{option}", found=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)


def write_files(target: str, found: Diagnosis, flags: Examining, screen: Screen) -> None:
    """The page and the SARIF log, where they are asked for."""
    if flags.html is not None:
        from clearformer.doctor.page import write_page

        screen.note(say.WRITTEN, path=write_page(Path(flags.html), found, target, screen.language))
    if flags.sarif is not None:
        from clearformer.doctor.sarif import write_sarif

        screen.note(say.WRITTEN, path=write_sarif(Path(flags.sarif), found, target))


@contextmanager
def bar(target: str, screen: Screen) -> Iterator[Teller]:
    """A bar over the checks, with the name of the one under way."""
    from clearformer.doctor.registry import BY_ID
    from clearformer.doctor.telling import Called, Checked, Deciding, Starting
    from clearformer.doctor.telling import Told as Event

    with ExitStack() as bars:
        renamed = bars.enter_context(screen.stages(say_of_process.STARTING, target=target))

        def tell(told: Event) -> None:
            match told:
                case Starting():
                    name = BY_ID[told.check].name if told.check in BY_ID else ""
                    renamed(say_of_process.EXAMINING, told.done, told.total, check=told.check, name=name)
                case Deciding():
                    renamed(say_of_process.DECIDING, 0, 0)
                case Called() | Checked():
                    pass

        yield tell

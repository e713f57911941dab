"""`clearformer doctor RUN --watch`: a run's metrics, followed while it trains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from clearformer.cli.doctor import write_files
from clearformer.cli.doctor_flags import Examining
from clearformer.cli.doctor_symptom import facts_of
from clearformer.cli.screen import Screen, visible
from clearformer.doctor.causes.deciding import undecided
from clearformer.doctor.course import Course, metrics_file, read_course
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import Breach
from clearformer.doctor.report import facts
from clearformer.doctor.watching import Watcher, sentence
from clearformer.errors import UsageError
from clearformer.messages import doctor_runs as say
from clearformer.messages.doctor_process import NOT_WATCHED

USED = ("watch", "vocab", "time_limit", "html", "sarif", "symptom", "json", "quiet")
PAUSE = 1.0
"""Seconds between two looks at the file."""


def follow(target: str, flags: Examining, screen: Screen) -> int:
    """Tell each newly broken law at once, until the run has ended. Returns 1 where there was an ERROR."""
    unused(flags)
    folder = Path(target).expanduser()
    if not folder.is_dir():
        raise UsageError(say.NO_RUN, path=target)
    screen.note(say.WATCHING, path=folder)
    watcher = Watcher(flags.vocab)
    breaches: list[Breach] = []
    for course in _seen(folder, flags.time_limit):
        watcher.course = course
        course.choices = flags.vocab or course.choices
        for breach in watcher.judge():
            breaches.append(breach)
            if not screen.as_json:
                print(visible(sentence(breach, screen.language)), flush=True)
    found = Diagnosis(undecided(breaches), (), ())
    write_files(target, found, flags, screen)
    if screen.as_json:
        screen.json(facts(found, screen.language) | facts_of(None, screen.language))
    else:
        screen.note(say.WATCHED_END, seconds=flags.time_limit)
    return 0 if found.healthy else 1


def unused(flags: Examining) -> None:
    """Raises UsageError for an option that a run's metrics have no use for."""
    for each in fields(Examining):
        if each.name not in USED and getattr(flags, each.name) != each.default:
            raise UsageError(NOT_WATCHED, option="--" + each.name.replace("_", "-"))


def _seen(folder: Path, patience: float) -> Iterator[Course]:
    """The course each time its file has changed, until it rests or its run has ended."""
    last: tuple[int, int] | None = None
    since = time.monotonic()
    while time.monotonic() - since < patience:
        path = metrics_file(folder)
        now = None if path is None else (path.stat().st_size, path.stat().st_mtime_ns)
        if now is not None and now != last:
            last, since = now, time.monotonic()
            if (course := read_course(folder)) is not None:
                yield course
        elif last is not None and _ended(folder):
            return
        time.sleep(PAUSE)


def _ended(folder: Path) -> bool:
    """One of our runs has ended when nobody holds its lock, whose file then is empty."""
    lock = folder / "lock"
    return lock.is_file() and lock.stat().st_size == 0

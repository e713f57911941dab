"""A symptom on the terminal: what is true about it, which checks come first, and what shows it."""

from __future__ import annotations

import textwrap

from clearformer.cli.screen import Screen, cells_wide, columns
from clearformer.doctor.registry import BY_ID
from clearformer.doctor.symptom import Symptom
from clearformer.messages import Language
from clearformer.messages import doctor_symptoms as say


def explain(seen: Symptom, target: str | None, screen: Screen) -> None:
    """Name, truth, path; without a target also how to go on."""
    print(say.HEADING.text(screen.language, number=seen.number, name=seen.name.text(screen.language)))
    print("\n".join(wrapped(seen.truth.text(screen.language))))
    if seen.checks:
        screen.say(say.PATH, checks=" → ".join(named(check) for check in seen.checks))
    if seen.commands:
        screen.say(say.COMMANDS, commands="; ".join(seen.commands))
    if target is None and seen.checks:
        screen.say(say.WITH_TARGET, number=seen.number)
    print()


def named(check: str) -> str:
    return f"{check} {BY_ID[check].name}" if check in BY_ID else check


def wrapped(text: str) -> list[str]:
    """Lines of the terminal's width, two blanks in; Chinese may break anywhere."""
    room = max(40, min(columns(100), 120)) - 2
    if cells_wide(text) == len(text):
        return textwrap.wrap(text, room, initial_indent="  ", subsequent_indent="  ")
    lines, line = [], ""
    for letter in text:
        if cells_wide(line + letter) > room and letter not in "，。、；：）”":
            lines.append("  " + line)
            line = ""
        line += letter
    return [*lines, "  " + line]


def facts_of(seen: Symptom | None, language: Language) -> dict[str, object]:
    """What `--json` prints of it."""
    if seen is None:
        return {"symptom": None}
    return {
        "symptom": {
            "number": seen.number,
            "name": seen.name.text(language),
            "truth": seen.truth.text(language),
            "checks": list(seen.checks),
            "commands": list(seen.commands),
        }
    }

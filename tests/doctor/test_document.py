"""docs/doctor.md and its Chinese: the tables are those of the code, and both name the same commands.

`python tests/doctor/test_document.py` writes the tables anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clearformer.doctor.registry import CHECKS
from clearformer.doctor.symptoms import DOOR
from clearformer.messages import Language

DOCS = Path(__file__).parents[2] / "docs"
PAGES: dict[Language, Path] = {"en": DOCS / "doctor.md", "zh": DOCS / "doctor.zh-CN.md"}
HEADINGS: dict[Language, tuple[str, str]] = {
    "en": (
        "| check | law | when an alarm would be false |",
        "| number | what is seen or said | what is true | looked at by |",
    ),
    "zh": ("| 检查 | 定律 | 何时会误报 |", "| 编号 | 现象或说法 | 实情 | 由什么查看 |"),
}


def checks(language: Language) -> str:
    rows = [
        f"| {check.id} {check.name} | {cell(check.law.text(language))} | {cell(check.risk.text(language))} |"
        for check in sorted(CHECKS, key=lambda check: check.id)
    ]
    return "\n".join([HEADINGS[language][0], "|---|---|---|", *rows])


def symptoms(language: Language) -> str:
    rows = []
    for each in DOOR:
        commands = [f"`{command}`" for command in each.commands]
        looked = ", ".join([*each.checks, *commands])
        rows.append(
            f"| {each.number} | {cell(each.name.text(language))} | {cell(each.truth.text(language))} | {looked} |"
        )
    return "\n".join([HEADINGS[language][1], "|---|---|---|---|", *rows])


def cell(text: str) -> str:
    return text.replace("|", "\\|")


@pytest.mark.parametrize("language", PAGES)
def test_the_tables_are_those_of_the_code(language: Language) -> None:
    text = PAGES[language].read_text(encoding="utf-8")
    assert checks(language) in text
    assert symptoms(language) in text


def test_both_languages_name_the_same_commands_and_options() -> None:
    spans = re.compile(r"`(clearformer [^`\n]+|--[^`\n ]+)`|^\$ (.*?)$", re.MULTILINE)
    english, chinese = ([found for found in spans.findall(path.read_text(encoding="utf-8"))] for path in PAGES.values())
    assert english == chinese


@pytest.mark.parametrize("path", PAGES.values())
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def rewrite() -> None:
    for language, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        for heading, table, mark in zip(
            HEADINGS[language], (checks(language), symptoms(language)), ("CHECKS", "SYMPTOMS"), strict=True
        ):
            old = re.search(re.escape(heading) + r"\n(\|.*\n)*", text)
            text = text.replace(old[0] if old else f"{mark}\n", table + "\n")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()

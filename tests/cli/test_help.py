"""Help pages: every verb has one, and every sentence on it has its Chinese."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from cyclopts import App

from clearformer.cli.help import written
from clearformer.cli.main import VERBS, build_app
from clearformer.messages import help as messages


def pages(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    yield path, app
    for name in app:
        if not name.startswith("-"):
            yield from pages(app[name], (*path, name))


def sentences() -> Iterator[tuple[tuple[str, ...], str]]:
    program = build_app("en")
    for path, _ in pages(program):
        for _, panel in program._assemble_help_panels(list(path), "plaintext"):
            yield path, str(panel.title)
            for entry in panel.entries:
                yield path, written(entry.description)


def test_every_sentence_of_every_page_has_its_chinese() -> None:
    known = {message.en for message in (*messages.SENTENCES, *messages.VERBS.values())}
    found = set(sentences())
    assert {(path, text) for path, text in found if text not in known} == set()
    assert {message.en for message in messages.SENTENCES} <= {text for _, text in found}


def test_every_verb_is_described_and_every_description_is_a_verb() -> None:
    assert set(VERBS) <= set(messages.VERBS)


@pytest.mark.parametrize("path", [[], ["tokenizer"], ["tokenizer", "train"], ["pull"], ["env"]])
def test_a_chinese_page_has_a_chinese_sentence_for_each_row(clearformer, path) -> None:
    ended = clearformer("--lang", "zh", *path, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("用法：clearformer")
    rows = [line for line in ended.out.splitlines() if line.startswith(("--", "train", "encode"))]
    assert rows
    assert all(any(unicodedata.name(c, "").startswith("CJK") for c in row) for row in rows)


@pytest.mark.parametrize("verb", ["generate", "trace", "bench"])
def test_a_narrow_page_breaks_its_lines_and_cuts_none(clearformer, monkeypatch, verb) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in clearformer("--lang", "zh", verb, "--help").out


def test_a_page_shows_defaults_and_choices(clearformer) -> None:
    page = clearformer("tokenizer", "train", "--help").out
    assert "[default: 8192]" in page
    assert "()" not in page
    assert "[one of: wheel, hub]" in " ".join(clearformer("pull", "--help").out.split())


def test_the_program_alone_prints_its_help(clearformer) -> None:
    assert clearformer().out == clearformer("--help").out

"""Where output goes, and that values cannot steer the terminal."""

from __future__ import annotations

import sys

import pytest
from rich.cells import cell_len

from clearformer.cli.flags import Printing, Progressing
from clearformer.cli.screen import Screen, aligned, visible
from clearformer.messages import Message

NOTE = Message("Doing {name}", "正在处理 {name}")


def screen(**flags: bool) -> Screen:
    return Screen("en", Progressing(**flags))


def test_notes_go_to_stderr_and_results_to_stdout(capsys) -> None:
    screen().note(NOTE, name="x")
    screen().text("result")
    assert capsys.readouterr() == ("result\n", "Doing x\n")


@pytest.mark.parametrize("flags", [{"quiet": True}, {"json": True}])
def test_quiet_and_json_silence_notes_and_bars(capsys, monkeypatch, flags) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    screen(**flags).note(NOTE, name="x")
    with screen(**flags).progress(NOTE, name="x") as advance:
        advance(1, 2)
    assert capsys.readouterr().err == ""


def test_a_bar_is_for_a_terminal_only(capsys, monkeypatch) -> None:
    with screen().progress(NOTE, name="[bold]x") as advance:
        advance(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with screen().progress(NOTE, name="[bold]x") as advance:
        advance(1, 2)
    assert "[bold]x" in capsys.readouterr().err


def test_text_is_untouched_in_a_pipe_and_harmless_on_a_terminal(capsys, monkeypatch) -> None:
    text = "a\x1b]0;title\x07\n\t中"
    screen().text(text)
    assert capsys.readouterr().out == text + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    screen().text(text)
    assert capsys.readouterr().out == "a\\x1b]0;title\\x07\n\t中\n"


def test_nan_is_no_json() -> None:
    with pytest.raises(ValueError):
        screen().json({"x": float("nan")})


def test_columns_are_aligned_by_what_is_seen() -> None:
    lines = aligned([["中文", "1", "x"], ["a", "10", "[red]y"]], [False, True, False])
    assert lines == ["中文   1  x", "a     10  [red]y"]
    assert cell_len(lines[0][:4]) - 2 == cell_len(lines[1][:4])
    assert aligned([], []) == []


def test_a_table_escapes_its_cells(capsys) -> None:
    Screen("en", Printing()).table([("a\x1b[2J", 1.5), ("\udcff", 20)], headings=("name", "n"))
    assert capsys.readouterr().out.splitlines() == ["name        n", r"a\x1b[2J  1.5", r"\udcff     20"]


def test_visible_keeps_what_it_is_told_to_keep() -> None:
    assert visible("é中\n\u202e", keep="\n") == "é中\n\\u202e"

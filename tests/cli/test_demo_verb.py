"""`demo`: all of them, one of them, and with a fault planted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clearformer.lab.demos import DEMOS, FAULTS

WITHOUT_TORCH = (
    "import sys; sys.modules['torch'] = None; from clearformer.cli.main import main; sys.exit(main(['demo', '1']))"
)


def test_all_of_them_pass_and_say_so_at_the_end(clearformer) -> None:
    ended = clearformer("demo")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == "ALL CHECKS PASSED"
    assert all(f"{n}. {demo.name.en}" in ended.out for n, demo in DEMOS.items())


def test_one_alone_in_chinese_and_as_json(clearformer) -> None:
    ended = clearformer("--lang", "zh", "demo", "1")
    assert ended.out.startswith(f"1. {DEMOS[1].name.zh}")
    assert ended.out.rstrip().endswith("ALL CHECKS PASSED")
    (only,) = clearformer("demo", "1", "--json").json["demos"]
    assert (only["n"], only["passed"], only["caught"]) == (1, True, None)
    assert only["figures"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught_and_explained(clearformer, fault) -> None:
    ended = clearformer("demo", "--break", fault, "--json")
    assert ended.code == 1
    assert ended.json["passed"] is False
    caught = [demo["caught"] for demo in ended.json["demos"] if not demo["passed"]]
    assert caught
    assert all(text for catch in caught for text in catch.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_at_the_end_the_checks_that_caught_the_fault_stand_together(clearformer, fault) -> None:
    told = clearformer("demo", "--break", fault, "--json").json["demos"]
    caught = [f"  ✗ {demo['n']}. {demo['caught']['law']}" for demo in told if demo["caught"]]
    numbers = ", ".join(str(demo["n"]) for demo in told if demo["caught"])
    *_, blank, title = (lines := clearformer("demo", "--break", fault).out.splitlines())[: -1 - len(caught)]
    assert (blank, fault in title) == ("", True)
    assert lines[-1 - len(caught) :] == [*caught, f"CHECKS FAILED in demonstrations: {numbers}"]


def test_a_fault_that_a_demonstration_does_not_have_is_named(clearformer) -> None:
    ended = clearformer("demo", "1", "--break", "zero-fill")
    assert ended.code == 0
    assert "zero-fill does not touch this demonstration" in ended.out


ABSENT = [(["8"], "there are 1, 2, 3"), (["0"], "no demonstration 0"), (["--break", "x"], "no-scale")]


@pytest.mark.parametrize(("arguments", "words"), ABSENT)
def test_what_there_is_none_of_is_refused(clearformer, arguments, words) -> None:
    ended = clearformer("demo", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err


def test_it_runs_where_torch_is_not_installed() -> None:
    ended = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr

"""The doctor's verb: what it prints and writes, what a symptom alone gives, and how it is called wrongly."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clearformer.doctor.apart import running
from clearformer.doctor.apart.request import Request
from clearformer.doctor.apart.wire import NotOurs, diagnosis_line, read, read_diagnosis
from clearformer.doctor.diagnosis import Diagnosis
from clearformer.doctor.finding import Breach, Finding, Said, Skipped
from clearformer.messages import Message

EVIDENCE = Said(Message("it moves by {size:.1f}", "变动为 {size:.1f}"), {"size": 3.0})
HOSTILE = Said(Message("<script>alert(1)</script>\x1b[31m", "<script>"))
BREACH = Breach("K01", "ERROR", (EVIDENCE, HOSTILE), ("mask inverted", "no causal mask"), "blocks.0 (my model.py:41)")
FOUND = Diagnosis(
    findings=(Finding("mask inverted", "ERROR", (BREACH,), ("no causal mask",)),),
    skipped=(
        Skipped("K04", Said(Message("No window.", "没有窗口。"))),
        Skipped("K03", Said(Message("No window.", "没有窗口。"))),
    ),
    passed=("K07",),
    called=Said(Message("model(ids)", "model(ids)")),
    floor=1e-7,
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The requests that would have been examined; each gets the same diagnosis, as it arrives from the process."""
    requests: list[Request] = []

    def examine(request: Request, target: str, tell: object) -> Diagnosis:
        requests.append(request)
        return read_diagnosis(read(diagnosis_line(FOUND))[1])

    monkeypatch.setattr(running, "examine_apart", examine)
    return requests


class Page(HTMLParser):
    """The tags of a page, and what it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]


def test_a_diagnosis_on_the_terminal_in_both_languages(clearformer, asked) -> None:
    ended = clearformer("doctor", "m.py:build", "--kind", "decoder")
    assert ended.code == 1
    assert "ERROR  K01 causality" in ended.out
    assert "it moves by 3.0" in ended.out
    assert "blocks.0 (my model.py:41)" in ended.out
    assert "K03, K04: No window." in ended.out
    assert "\x1b" not in ended.out
    chinese = clearformer("doctor", "m.py:build", "--lang", "zh")
    assert "变动为 3.0" in chinese.out
    assert "没有窗口" in chinese.out
    assert asked[0].code == {"model": "m.py:build"}
    assert asked[0].kind == "decoder"


def test_the_page_opens_alone_and_runs_nothing_of_the_users(clearformer, asked) -> None:
    clearformer("doctor", "m.py:build", "--html", "deep/page.html", "--quiet")
    text = Path("deep/page.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.fetched == []
    assert "script" not in page.tags
    assert "it moves by 3.0" in text
    assert "attn_mask=~mask" in text


def test_the_sarif_log_points_at_the_line(clearformer, asked) -> None:
    clearformer("doctor", "m.py:build", "--sarif", "log.sarif", "--quiet")
    (run,) = json.loads(Path("log.sarif").read_text(encoding="utf-8"))["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "K01"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20model.py"
    assert place["region"]["startLine"] == 41
    assert {each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]} == {
        "K04: No window.",
        "K03: No window.",
    }


def test_the_sarif_log_names_the_file_that_was_examined_and_those_beside_it(clearformer, asked) -> None:
    def uri(target: str) -> str:
        clearformer("doctor", target, "--sarif", "log.sarif", "--quiet")
        (run,) = json.loads(Path("log.sarif").read_text(encoding="utf-8"))["runs"]
        return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]

    assert uri("deep/my model.py:build") == "deep/my%20model.py"
    assert uri("deep/other.py:build") == "my%20model.py"
    Path("deep").mkdir()
    Path("deep/my model.py").touch()
    assert uri("deep/other.py:build") == "deep/my%20model.py"


def test_the_sarif_log_has_what_the_standard_requires(clearformer, asked) -> None:
    """SARIF 2.1.0 (OASIS, 2020), sections 3.13.2, 3.14.6, 3.19.8, 3.20.14, 3.27.11, 3.28.4, 3.30 and 3.49.3."""
    clearformer("doctor", "m.py:build", "--sarif", "log.sarif", "--quiet")
    log = json.loads(Path("log.sarif").read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(set(ids)) == len(ids)
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)
            assert all(each["message"]["text"] for each in invocation["toolExecutionNotifications"])
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            assert 0 <= result.get("rank", -1) <= 100 or "rank" not in result
            assert ids[result["ruleIndex"]] == result["ruleId"]
            for location in result["locations"]:
                physical = location["physicalLocation"]
                assert re.fullmatch(r"[^\s\\]+", physical["artifactLocation"]["uri"])
                assert physical["region"]["startLine"] >= 1


def test_a_symptom_alone_is_explained_and_with_a_model_its_checks_come_first(clearformer, asked) -> None:
    ended = clearformer("doctor", "--symptom", "loss near zero but output is garbage")
    assert ended.code == 0
    assert "K01 causality" in ended.out
    assert asked == []
    clearformer("doctor", "m.py:build", "--symptom", "8")
    assert asked[0].first[0] == "K15"
    told = clearformer("doctor", "--symptom", "m12", "--json").json
    assert told["symptom"]["commands"] == ["clearformer cost smollm2-135m --generate 512+128"]


def test_what_was_broken_off_is_told_with_its_own_exit_code(clearformer, monkeypatch) -> None:
    def examine(request: Request, target: str, tell: object) -> Diagnosis:
        raise running.BrokenOff(replace(FOUND, findings=()), KeyboardInterrupt())

    monkeypatch.setattr(running, "examine_apart", examine)
    ended = clearformer("doctor", "m.py:build", "--json")
    assert ended.code == 130
    assert [each["check"] for each in ended.json["passed"]] == ["K07"]


def test_where_nothing_could_be_checked_the_exit_code_is_no_success(clearformer, monkeypatch) -> None:
    monkeypatch.setattr(running, "examine_apart", lambda *_: Diagnosis((), FOUND.skipped, ()))
    ended = clearformer("doctor", "m.py:build")
    assert ended.code == 1
    assert "Nothing could be checked" in ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "my_model.py:build"),
        ([""], "my_model.py:build"),
        (["--symptom", "1", "--html", "x.html"], "--html needs something to examine"),
        (["m.py:build", "--html", "."], "--html: expected a file"),
        (["m.py:build", "--sarif", ""], "--sarif: expected a file"),
        ([".", "--watch", "--loss", "m.py:loss"], "--loss has no meaning with --watch"),
        (["m.py:build", "--loss", "my_train.py"], "--loss: expected FILE.py:NAME"),
        (["m.py:build", "--only", "K99"], "There is no check K99"),
        (["m.py:build", "--symptom", "hello"], "--symptom"),
        (["m.py:build", "--time-limit", "0"], "--time-limit"),
        (["m.py:build", "--vocab", "0"], "--vocab: expected 1"),
        (["m.py:build", "--window", "-4"], "--window: expected 1"),
        (["m.py:build", "--pad", "40", "--vocab", "40"], "--pad: expected an id from 0 to 39, got 40"),
        (["m.py:build", "--memory-limit", "much"], "much"),
        (["no-such-model"], "no-such-model"),
    ],
)
def test_what_is_asked_wrongly(clearformer, asked, arguments, said) -> None:
    ended = clearformer("doctor", *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert asked == []


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["findings"][0].update(cause="no cause of ours"),
        lambda found: found["findings"][0].update(severity="FATAL"),
        lambda found: found["findings"][0].update(breaches=[]),
        lambda found: found.update(findings=7),
        lambda found: found.update(floor="low"),
        lambda found: found["passed"].append(["K01"]),
    ],
)
def test_what_a_process_makes_up_is_refused(change) -> None:
    _, content = read(diagnosis_line(FOUND))
    change(content)
    with pytest.raises(NotOurs):
        read_diagnosis(content)


def test_what_a_process_says_is_harmless() -> None:
    found = read_diagnosis(read(diagnosis_line(FOUND))[1])
    assert not re.search(r"[\x00-\x1f]", found.findings[0].breaches[0].evidence[1].text())
    assert found.findings[0].breaches[0].evidence[0].text("zh") == "变动为 3.0"

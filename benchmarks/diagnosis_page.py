"""docs/doctor-results.md: the figures of the doctor over its corpus, its peers' beside them, and every case."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from doctor.scoring import Outcome, Score

Peers = dict[str, dict[str, Any]]
"""Case → {"torchtest2": alarms or None, "trainproof": alarms or None}, or {"unavailable": package}."""
PEERS = ("torchtest2", "trainproof")
GOALS = {"detection": 0.95, "right": 0.85, "warnings": 0.05}

HEAD = """\
Written by `make bench-doctor`. The cases are the functions of `tests/doctor/corpus`: each builds a model, a loss, a
collator, a loop, a sampler or files from a fixed seed, and says which cause is to be named. Faulty ones are kinds of
public reports (`M1`, `L3`, …) written afresh, and mutations of sound ones."""
BESIDE = """\
Default settings and all that each can take: torchtest2 a batch, targets and a loss; trainproof the labels from the
collator and whether the loss shifts them, the tokenizer, and the log of a run. An alarm is a FAIL or WARN of theirs,
an ERROR or WARN of the doctor. Neither claims the laws of attention, padding or caches."""


def page(score: Score, peers: Peers | None) -> str:
    return "\n".join([*_head(score, peers), *_figures(score), *_beside(score, peers), *_cases(score, peers), ""])


def _head(score: Score, peers: Peers | None) -> Iterable[str]:
    yield "# What the doctor finds"
    yield ""
    yield HEAD
    yield ""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "transformers"))
    yield f"{datetime.now(UTC):%Y-%m-%d}, {versions}."
    absent = sorted({each.unavailable for each in score.outcomes if each.unavailable})
    if absent:
        count = sum(bool(each.unavailable) for each in score.outcomes)
        yield f"Left out, for want of a package ({', '.join(absent)}): {count} cases."
    if peers is None:
        yield "torchtest2 and trainproof are not installed here: their columns are left out."


def _figures(score: Score) -> Iterable[str]:
    false_errors, seconds = len(score.false_errors), [each.seconds for each in score.outcomes if not each.unavailable]
    yield "\n## Figures\n"
    yield "| figure | here | wanted |"
    yield "|---|---|---|"
    yield f"| faulty cases | {len(score.faulty)} | ≥ 60 |"
    yield f"| healthy cases | {len(score.healthy)} | ≥ 40 |"
    yield f"| detected | {score.detection:.1%} | ≥ {GOALS['detection']:.0%} |"
    yield f"| right cause named first | {score.right_first:.1%} | ≥ {GOALS['right']:.0%} |"
    yield f"| false ERROR on a healthy case | {false_errors} | 0 |"
    yield f"| false WARN on a healthy case | {score.false_warnings:.1%} | ≤ {GOALS['warnings']:.0%} |"
    yield f"| seconds a case, mean and worst | {sum(seconds) / len(seconds):.1f}, {max(seconds):.1f} | |"


def _beside(score: Score, peers: Peers | None) -> Iterable[str]:
    if peers is None:
        return
    yield "\n## Beside torchtest2 and trainproof\n"
    yield BESIDE
    yield ""
    yield "| tool | cases it could look at | faulty with an alarm | healthy with an alarm |"
    yield "|---|---|---|---|"
    alarmed = sum(each.alarmed("ERROR") or each.alarmed("WARN") for each in score.faulty)
    false = sum(each.alarmed("ERROR") or each.alarmed("WARN") or bool(each.raised) for each in score.healthy)
    looked = len(score.faulty) + len(score.healthy)
    yield f"| doctor | {looked} | {alarmed} of {len(score.faulty)} | {false} of {len(score.healthy)} |"
    for tool in PEERS:
        faulty = [said for each in score.faulty if (said := _said(peers, each, tool)) is not None]
        healthy = [said for each in score.healthy if (said := _said(peers, each, tool)) is not None]
        yield (
            f"| {tool} | {len(faulty) + len(healthy)} | {sum(map(_alarming, faulty))} of {len(faulty)} | "
            f"{sum(map(_alarming, healthy))} of {len(healthy)} |"
        )
    unasked = sum(each.case.name not in peers for each in score.outcomes)
    if unasked:
        yield f"\nThe peers were not asked about {unasked} cases here."


def _said(peers: Peers, outcome: Outcome, tool: str) -> list[str] | None:
    answer: list[str] | None = peers.get(outcome.case.name, {}).get(tool)
    return answer


def _alarming(said: list[str]) -> bool:
    """Whether there is an alarm; a tool that hung has given none."""
    return any(not each.startswith("no answer") for each in said)


def _cases(score: Score, peers: Peers | None) -> Iterable[str]:
    beside = "".join(f" {tool} |" for tool in PEERS) if peers else ""
    lines = "---|" * (len(PEERS) if peers else 0)
    yield "\n## Faulty cases\n"
    yield f"| case | report | wanted | named first | by | s |{beside}"
    yield f"|---|---|---|---|---|---|{lines}"
    yield from (_row(each, peers) for each in score.faulty)
    yield "\n## Healthy cases\n"
    yield f"| case | alarm | by | s |{beside}"
    yield f"|---|---|---|---|{lines}"
    yield from (_healthy_row(each, peers) for each in score.healthy)


def _row(outcome: Outcome, peers: Peers | None) -> str:
    case = outcome.case
    cause, severity, check = outcome.named[0] if outcome.named else ("nothing", "", "")
    mark = "" if outcome.right else " ✗"
    wanted = " or ".join(case.causes)
    named = f"{severity} {cause}{mark}" if not outcome.raised else "raised ✗"
    return (
        f"| {case.name} | {case.report} | {wanted} | {named} | {check} | {outcome.seconds:.1f} |{_told(outcome, peers)}"
    )


def _healthy_row(outcome: Outcome, peers: Peers | None) -> str:
    alarms = [each for each in outcome.named if each[1] != "INFO"]
    named = "; ".join(f"{severity} {cause}" for cause, severity, _ in alarms) or ("raised" if outcome.raised else "–")
    by = ", ".join(check for _, _, check in alarms)
    return f"| {outcome.case.name} | {named} | {by} | {outcome.seconds:.1f} |{_told(outcome, peers)}"


def _told(outcome: Outcome, peers: Peers | None) -> str:
    if not peers:
        return ""
    if outcome.case.name not in peers:
        return " not asked |" * len(PEERS)
    told = (_said(peers, outcome, tool) for tool in PEERS)
    return "".join(f" {', '.join(each) if each else '–' if each == [] else 'cannot look'} |" for each in told)

"""The doctor over its corpus: a fixed part on every run, the whole in `make test-long`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clearformer.doctor.causes.table import CAUSES
from doctor.corpus import CASES, Case
from doctor.corpus.case import Unavailable
from doctor.scoring import Score, score

# What users hand in warns; here only what the doctor says counts.
pytestmark = pytest.mark.filterwarnings("ignore")

REPORTS = """
    M1 M2 M3 M4 M6 M7 M8 M9 M10 P1 P2 N1 N3 N4 N5 N6 L1 L3 L4 L5 L6 C1 C2 C4 C5 C6 B1 B3 B4 B5 T1 T2 F1 F2 F4
    I1 I3 I4 I5 I6 I7 D1 D2 D4 D5 D6 D7 S1 S3 G1 G3 G4 G5
"""
FAULTY = (
    "no causal mask, decoder", "mask inverted, encoder-decoder", "mask shows the next token, decoder",
    "fill of -1e4, decoder", "softmax over queries, encoder-decoder", "heads merged by reshape, decoder",
    "no scale, decoder", "encoder forgets its padding mask", "every step at position zero", "layers in a list",
    "head is a copy of the embedding", "collator and loss both shift", "every pad id is ignored and eos is pad",
    "clipped while scaled", "top p keeps less than p", "negative logits divided", "scaled by the whole series",
    "epoch not told to the sampler", "sampler never told the epoch", "every key has another prefix",
)  # fmt: skip
HEALTHY = (
    "plain decoder", "plain encoder decoder", "decoder with rotary positions", "decoder with norms after",
    "decoder with a cache", "translator of the whole transformer", "Hugging Face Llama", "Hugging Face T5",
    "loss shifts and collator does not", "accumulating loop", "sampler of everything", "beams", "run that learns",
)  # fmt: skip


def test_there_are_as_many_cases_as_promised() -> None:
    faulty = [case for case in CASES.values() if not case.healthy]
    assert len(faulty) >= 60
    assert len(CASES) - len(faulty) >= 40
    assert {case.report for case in faulty} >= set(REPORTS.split())


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_every_case_can_be_handed_in(case: Case, tmp_path: Path) -> None:
    try:
        assert case.parts(tmp_path)
    except Unavailable as package:
        pytest.skip(f"needs {package}")


def test_every_cause_that_must_be_named_can_be() -> None:
    unknown = {case.name: case.causes for case in CASES.values() if case.causes and case.causes[0] not in CAUSES}
    assert not unknown


def wrong(found: Score) -> dict[str, tuple[tuple[str, str, str], ...]]:
    return {each.case.name: each.named for each in found.faulty if not each.right}


def test_the_figures_hold_on_a_part() -> None:
    found = score([CASES[name] for name in (*FAULTY, *HEALTHY)])
    assert not [(each.case.name, each.named, each.raised) for each in found.false_errors]
    assert found.false_warnings <= 0.05
    assert found.detection >= 0.95, wrong(found)
    assert found.right_first >= 0.85, wrong(found)


@pytest.mark.long
@pytest.mark.timeout(5400)
def test_the_figures_hold_on_the_whole() -> None:
    found = score(list(CASES.values()))
    assert not [(each.case.name, each.named, each.raised) for each in found.false_errors]
    assert found.false_warnings <= 0.05
    assert found.detection >= 0.95, wrong(found)
    assert found.right_first >= 0.85, wrong(found)


def test_the_page_of_results_has_every_case() -> None:
    page = (Path(__file__).parents[2] / "docs" / "doctor-results.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| ([^|]+) \|", page, re.M))
    absent = re.search(r"want of a package", page) is not None
    missing = [name for name in CASES if name not in rows]
    assert not missing or (absent and all("transformers" in name for name in missing)), json.dumps(missing)

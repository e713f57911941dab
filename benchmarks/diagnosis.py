"""The doctor over its corpus, and torchtest2 and trainproof beside it: docs/doctor-results.md.

    export PYTHONPATH=tests                              the corpus is the tests' package `doctor`
    python benchmarks/diagnosis.py                       the page on the terminal
    python benchmarks/diagnosis.py --out docs/doctor-results.md
    python benchmarks/diagnosis.py --only softmax --without-peers

The peers run in an environment of their own: the interpreter that CLEARFORMER_DOCTOR_PEERS names, or one that is made
in build/doctor-peers with pip. Where that does not succeed, their columns are left out, and the page says so.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from diagnosis_page import Peers, page

from doctor.corpus import CASES
from doctor.scoring import Outcome, Score, judged

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("torch==2.13.0", "transformers==5.24.0", "torchtest2==0.1.0", "trainproof==0.22.0")


def main() -> None:
    arguments = _arguments()
    names = [name for name in CASES if arguments.only in name]
    outcomes = []
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=40) as pool:
        for done, outcome in enumerate(pool.imap_unordered(_one, names), 1):
            print(f"{done}/{len(names)} {_mark(outcome)} {outcome.case.name}", file=sys.stderr)
            outcomes.append(outcome)
    order = list(CASES)
    score = Score(tuple(sorted(outcomes, key=lambda outcome: order.index(outcome.case.name))))
    text = page(score, _peers(names) if not arguments.without_peers else None)
    if arguments.out is None:
        print(text)
    else:
        arguments.out.write_text(text, encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--out", type=Path, help="where the page is written")
    return parser.parse_args()


def _one(name: str) -> Outcome:
    """A case by its name, in a process of the pool; the function that builds it cannot be sent back."""
    torch.set_num_threads(1)
    outcome = judged(CASES[name])
    return replace(outcome, case=replace(outcome.case, build=dict))


def _mark(outcome: Outcome) -> str:
    if outcome.unavailable:
        return "not here"
    if outcome.case.healthy:
        return "FALSE" if outcome.raised or outcome.alarmed("ERROR") or outcome.alarmed("WARN") else "ok"
    return "ok" if outcome.right else "cause" if outcome.detected else "MISSED"


def _peers(names: list[str]) -> Peers | None:
    """Case → what each peer said; None where there is no environment for them."""
    interpreter = os.environ.get("CLEARFORMER_DOCTOR_PEERS") or _made()
    if interpreter is None:
        return None
    return {answer.pop("case"): answer for answer in _asked(interpreter, names)}


def _asked(interpreter: str, names: list[str]) -> Iterator[dict[str, Any]]:
    command = [interpreter, str(ROOT / "benchmarks" / "doctor_peers.py"), *names]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stdout is not None
        for line in running.stdout:
            answer = json.loads(line)
            print(f"peers: {answer['case']}", file=sys.stderr)
            yield answer


def _made() -> str | None:
    folder = ROOT / "build" / "doctor-peers"
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        venv.create(folder, with_pip=True)
    ready = subprocess.run([interpreter, "-c", "import torchtest2, trainproof"], check=False, capture_output=True)
    if ready.returncode:
        installing = subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *PACKAGES], check=False)
        if installing.returncode:
            print("torchtest2 and trainproof could not be installed: their columns are left out", file=sys.stderr)
            return None
    return str(interpreter)


if __name__ == "__main__":
    main()

"""The doctor over its corpus, and torchtest2 and trainproof beside it: docs/doctor-results.md.

    export PYTHONPATH=tests                              the corpus is the tests' package `doctor`
    python benchmarks/diagnosis.py                       the page on the terminal
    python benchmarks/diagnosis.py --out docs/doctor-results.md
    python benchmarks/diagnosis.py --only softmax --without-peers

The peers run in an environment of their own: the interpreter that CLEARFORMER_DOCTOR_PEERS names, or one that is made
in build/doctor-peers with pip. Where that does not succeed, their columns are left out, and the page says so.
Answers are kept in build/doctor-answers.jsonl: what is broken off goes on where it stood, unless the code has changed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from diagnosis_asking import Answer, Tool, answers
from diagnosis_kept import Kept, fingerprint
from diagnosis_page import Peers, page

from doctor.corpus import CASES
from doctor.scoring import Outcome, Score

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
PACKAGES = ("torch==2.13.0", "transformers==5.24.0", "torchtest2==0.1.0", "trainproof==0.22.0")
READ = ("src/clearformer/doctor/**/*.py", "tests/doctor/corpus/*.py", "benchmarks/doctor_*.py")
DOCTOR_SECONDS, PEERS_SECONDS = 300.0, 150.0
NO_ANSWER = "no answer: it hung, or ended its process"


def main() -> None:
    arguments = _arguments()
    names = [name for name in CASES if arguments.only in name]
    if not names:
        sys.exit(f"No case has {arguments.only!r} in its name.")
    tools = [_doctor(), *([] if arguments.without_peers else _peers())]
    kept = Kept(arguments.kept, _fingerprint())
    if arguments.fresh:
        kept.forget()
    work = [(tool, name) for tool in tools for name in names if (tool.name, name) not in kept.answers]
    if len(work) < len(tools) * len(names):
        _say(f"{len(tools) * len(names) - len(work)} answers are kept from before (--fresh asks anew)")
    began = time.monotonic()
    for done, found in enumerate(answers(work, arguments.jobs), 1):
        kept.add(found.tool.name, found.case, found.answer)
        left = (time.monotonic() - began) / done * (len(work) - done)
        mark = _mark(found.case, found.answer) if found.tool.name == "doctor" else _heard(found.answer)
        _say(f"{done}/{len(work)}  {left / 60:.0f} min left  {found.tool.name}: {found.case}: {mark}")
    score = Score(tuple(_outcome(name, kept.answers["doctor", name]) for name in names))
    peers: Peers | None = None
    if len(tools) > 1:
        peers = {name: kept.answers["peers", name] or _unanswered() for name in names}
    text = page(score, peers)
    if arguments.out is None:
        print(text)
    else:
        arguments.out.write_text(text, encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has it")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="ask again what was answered before")
    parser.add_argument(
        "--kept", type=Path, default=ROOT / "build" / "doctor-answers.jsonl", help="where answers are kept"
    )
    parser.add_argument("--out", type=Path, help="where the page is written")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fingerprint() -> str:
    versions = {name: metadata.version(name) for name in ("torch", "transformers")}
    peers = {"peers": os.environ.get("CLEARFORMER_DOCTOR_PEERS", "")}
    return fingerprint((path for each in READ for path in ROOT.glob(each)), versions | peers)


def _doctor() -> Tool:
    command = (sys.executable, str(HERE / "doctor_cases.py"))
    return Tool("doctor", command, _environment(), DOCTOR_SECONDS)


def _peers() -> Iterator[Tool]:
    """The peers as one tool; none where there is no environment for them."""
    interpreter = os.environ.get("CLEARFORMER_DOCTOR_PEERS") or _made()
    if interpreter is not None:
        yield Tool("peers", (interpreter, str(HERE / "doctor_peers.py")), _environment(), PEERS_SECONDS)


def _environment() -> dict[str, str]:
    """The corpus and our own models can be imported, by the peers' interpreter too."""
    path = [str(ROOT / "tests"), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}


def _outcome(name: str, answer: Answer | None) -> Outcome:
    if answer is None:
        return Outcome(CASES[name], seconds=DOCTOR_SECONDS, raised=NO_ANSWER)
    named = tuple((cause, severity, check) for cause, severity, check in answer["named"])
    rest: dict[str, Any] = {each: answer[each] for each in ("seconds", "raised", "unavailable", "skipped")}
    return Outcome(CASES[name], named, **rest)


def _unanswered() -> dict[str, Any]:
    return {"torchtest2": [NO_ANSWER], "trainproof": [NO_ANSWER]}


def _mark(name: str, answer: Answer | None) -> str:
    outcome = _outcome(name, answer)
    if outcome.unavailable:
        return "not here"
    if outcome.case.healthy:
        return "FALSE" if outcome.raised or outcome.alarmed("ERROR") or outcome.alarmed("WARN") else "ok"
    return "ok" if outcome.right else "cause" if outcome.detected else "MISSED"


def _heard(answer: Answer | None) -> str:
    return "no answer" if answer is None else ", ".join(name for name, said in answer.items() if said) or "–"


def _made() -> str | None:
    folder = ROOT / "build" / "doctor-peers"
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        venv.create(folder, with_pip=True)
    ready = subprocess.run([interpreter, "-c", "import torchtest2, trainproof"], check=False, capture_output=True)
    if ready.returncode:
        installing = subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *PACKAGES], check=False)
        if installing.returncode:
            _say("torchtest2 and trainproof could not be installed: their columns are left out")
            return None
    return str(interpreter)


if __name__ == "__main__":
    main()

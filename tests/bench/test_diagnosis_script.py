"""The long run over the doctor's corpus: a tool that hangs or ends costs one case, and what was answered is kept."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPT = """
import json, os, sys, time
for name in sys.argv[1:]:
    if name == "hangs":
        time.sleep(1000)
    if name == "ends":
        os._exit(3)
    print(json.dumps({"case": name, "said": name.upper()}), flush=True)
"""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_a_case_that_hangs_or_ends_its_process_is_left_behind(tmp_path: Path) -> None:
    asking = script("diagnosis_asking")
    (tmp_path / "tool.py").write_text(SCRIPT, encoding="utf-8")
    tool = asking.Tool("tool", (sys.executable, str(tmp_path / "tool.py")), os.environ, 1.0)
    names = ["a", "hangs", "b", "ends", "c"]
    found = {each.case: each.answer for each in asking.answers([(tool, name) for name in names], 2)}
    assert found == {"a": {"said": "A"}, "b": {"said": "B"}, "c": {"said": "C"}, "hangs": None, "ends": None}


def test_answers_are_kept_for_the_code_that_gave_them(tmp_path: Path) -> None:
    kept = script("diagnosis_kept")
    path = tmp_path / "build" / "answers.jsonl"
    first = kept.Kept(path, "this code")
    first.add("doctor", "a", {"named": []})
    first.add("peers", "a", None)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"of": "this co')
    assert kept.Kept(path, "this code").answers == {("doctor", "a"): {"named": []}, ("peers", "a"): None}
    assert kept.Kept(path, "other code").answers == {}


def test_a_fingerprint_changes_with_the_code(tmp_path: Path) -> None:
    kept = script("diagnosis_kept")
    file = tmp_path / "check.py"
    file.write_text("a = 1\n")
    before = kept.fingerprint([file], {"torch": "2"})
    assert before == kept.fingerprint([file], {"torch": "2"})
    assert before != kept.fingerprint([file], {"torch": "3"})
    file.write_text("a = 2\n")
    assert before != kept.fingerprint([file], {"torch": "2"})

"""Answers that a run has had, so that one which is broken off goes on where it stood."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Answer = dict[str, Any]


def fingerprint(files: Iterable[Path], facts: Mapping[str, str]) -> str:
    """Of the code that answers and is asked about: an answer of other code is no answer."""
    digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode())
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


class Kept:
    """A file of lines, each an answer of one tool to one case."""

    def __init__(self, path: Path, of: str) -> None:
        self._path, self._of = path, of
        self.answers: dict[tuple[str, str], Answer | None] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def _read(self, line: str) -> None:
        try:
            found = json.loads(line)
        except ValueError:  # the line under way when it was broken off
            return
        if found["of"] == self._of:
            self.answers[found["tool"], found["case"]] = found["answer"]

    def add(self, tool: str, case: str, answer: Answer | None) -> None:
        self.answers[tool, case] = answer
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            print(json.dumps({"of": self._of, "tool": tool, "case": case, "answer": answer}), file=file)

    def forget(self) -> None:
        self.answers.clear()
        self._path.unlink(missing_ok=True)

"""A case: something to hand to the doctor, and what it must say about it. Torch alone: peers run it too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

Parts = dict[str, Any]
"""The keywords of `diagnose`."""
Build = Callable[..., Parts]


class Unavailable(Exception):  # noqa: N818 – an answer, not an error
    """A package that the case needs is not installed here."""


@dataclass(frozen=True)
class Case:
    """`causes` are the names of which the first finding must bear one; a healthy case has none."""

    name: str
    build: Build
    causes: tuple[str, ...] = ()
    report: str = ""
    """The report of which it is the kind (`M1`), or where a mutation was planted."""

    @property
    def healthy(self) -> bool:
        return not self.causes

    def parts(self, folder: Path) -> Parts:
        """What is handed in, built anew from a fixed seed. `folder` is empty and the case's own."""
        torch.manual_seed(0)
        return self.build(folder) if "folder" in inspect.signature(self.build).parameters else self.build()


CASES: dict[str, Case] = {}


def enter(name: str, build: Build, causes: tuple[str, ...] = (), report: str = "") -> None:
    assert name not in CASES, f"two cases are called {name}"
    CASES[name] = Case(name, build, causes, report)


def faulty(*causes: str, report: str = "") -> Callable[[Build], Build]:
    """Enters the function as a case named after it."""

    def entering(build: Build) -> Build:
        enter(build.__name__.replace("_", " "), build, causes, report)
        return build

    return entering


def healthy(build: Build) -> Build:
    """Enters the function as a case in which nothing is wrong."""
    enter(build.__name__.replace("_", " "), build)
    return build

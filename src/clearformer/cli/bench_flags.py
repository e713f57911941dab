"""Flags that every bench has, and how its object is written into a file.

Annotations are read here and now: as text they would be looked up where a verb's own flags extend these.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing
from clearformer.cli.screen import Screen
from clearformer.errors import MachineError
from clearformer.messages import bench as say


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Repeating(Progressing):
    """How it is measured."""

    runs: int = 5
    """Runs of each program; medians are taken over them."""
    threads: int | None = None
    """Processor threads to compute with; one a core if left out."""
    busy_ok: bool = False
    """Measure on a busy machine too; the result says so."""
    out: Path | None = None
    """Write the JSON object into this file as well."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Timing(Repeating):
    """How it is measured, and in which numbers."""

    dtype: Literal["float32", "bfloat16"] = "float32"
    """Compute in this number type."""


TIMING = Timing()
"""As it is measured where no flag is given."""


def names_in(text: str) -> list[str]:
    """Names with commas between, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def keep(told: dict[str, Any], flags: Repeating, screen: Screen) -> None:
    """Write the object where `--out` says, and name the file. Raises MachineError."""
    if flags.out is None:
        return
    try:
        text = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1)
        flags.out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise MachineError(say.CANNOT_WRITE, path=flags.out, detail=error.strerror or error) from error
    if not screen.as_json:
        screen.text(str(flags.out))

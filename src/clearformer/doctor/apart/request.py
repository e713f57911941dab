"""What the doctor is asked, as data that can be handed to another process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from clearformer.doctor.finding import Said
from clearformer.doctor.parts import Declared
from clearformer.messages import verbatim

SECONDS = 180.0
"""By the clock, the import of the user's libraries included; an examination itself ends itself much earlier."""


@dataclass(frozen=True, kw_only=True)
class Request(Declared):
    """`code` names the parts that the user's code makes: {"model": "my_model.py:build", "loss": "my_train.py:loss"}."""

    code: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    """A run or a checkpoint whose files are looked at."""
    checkpoint: str | None = None
    """What is loaded as the model: a folder or a GGUF file."""
    tokenizer: str | None = None
    """A tokenizer's file or folder; one that code makes stands in `code`."""
    quick: bool = False
    only: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    seconds: float = SECONDS
    memory: int | None = None
    """Bytes that the process may take beyond its own start; None for most of what is free."""
    network: bool = False
    environment: tuple[str, ...] = ()
    """Variables of the environment that the user's code may see beside the harmless ones."""

    without: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Checks that ended an earlier process, each with why it is left out, in both languages."""

    def left_out(self) -> dict[str, Said]:
        return {check: Said(verbatim(*why)) for check, why in self.without.items()}

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Request:
        """What `text` wrote."""
        found: dict[str, Any] = json.loads(text)
        lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
        return cls(**(found | lists))

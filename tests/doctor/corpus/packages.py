"""Packages that a case may need, and that are not everywhere."""

from __future__ import annotations

import importlib
from typing import Any

from doctor.corpus.case import Unavailable


def needed(name: str) -> Any:
    """The package; Unavailable, with its name, where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unavailable(name) from error

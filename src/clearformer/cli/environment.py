"""Recipe fields from environment variables: CLEARFORMER__OPTIMIZER__LR=3e-4 is --optimizer.lr 3e-4.

They go before a recipe file and behind the command line, so that a batch system can set what all its jobs share.
"""

from __future__ import annotations

from collections.abc import Mapping

_PREFIX = "CLEARFORMER__"


def recipe_overrides(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Dotted names with their values; two underscores part the levels, and names are small letters. An empty value is
    none, as shells have it."""
    return [
        (name.removeprefix(_PREFIX).lower().replace("__", "."), value)
        for name, value in sorted(environment.items())
        if name.startswith(_PREFIX) and value
    ]

"""The law for one file, in this process: an error of ours, soon, with little memory, and nothing else touched."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from clearformer.errors import ClearformerError
from hostile.watch import Watch

SECONDS = 2.0
BYTES = 256 << 20


@cache
def watch() -> Watch:
    """An audit hook stays until the process ends: one is enough."""
    return Watch()


def refused(read: Callable[[], object], path: Path, *errors: type[ClearformerError]) -> ClearformerError:
    """What `read` raises for the file at `path`, which is one of `errors`."""
    size = path.stat().st_size
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(errors) as caught:
            read()
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert time.process_time() - started < SECONDS * 3  # tracemalloc slows Python about threefold
    assert peak < BYTES + 2 * size
    for language in ("en", "zh"):
        assert "\n" not in caught.value.cause(language) + caught.value.remedy(language)
        assert len(caught.value.cause(language)) < 3000
    # Once more, as the first time may have imported something.
    with watch().armed(path.parent), suppress(*errors):
        read()
    assert watch().seen == []
    return caught.value

"""What a hostile file may do: raise CheckpointError, soon, having allocated little. Nothing else."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

SECONDS = 2.0
BYTES = 256 << 20


def _read_all(opener: Callable[[Path], object], path: Path) -> None:
    file = opener(path)
    for name in file.names():
        file.tensor(name)


@pytest.fixture
def refused(tmp_path):
    """`refused(opener, content)`: the file is refused with CheckpointError, within the bounds; returns the error."""

    def check(opener: Callable[[Path], object], content: bytes) -> CheckpointError:
        path = tmp_path / "bomb"
        path.write_bytes(content)
        tracemalloc.start()
        started = time.process_time()
        try:
            with pytest.raises(CheckpointError) as caught:
                _read_all(opener, path)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert time.process_time() - started < SECONDS * 3  # tracemalloc slows Python about threefold
        assert peak < BYTES + 2 * len(content)
        assert caught.value.failure is not say.FOREIGN  # our check, before the library's
        assert "\n" not in caught.value.cause("en") + caught.value.remedy("zh")
        return caught.value

    return check


@pytest.fixture
def mutations(tmp_path):
    """`mutations(opener, content, count, seed)`: each damaged copy is read whole or refused; returns how many were."""

    def check(opener: Callable[[Path], object], content: bytes, count: int, seed: int) -> int:
        rng, path, refusals = random.Random(seed), tmp_path / "mutant", 0
        for _ in range(count):
            path.write_bytes(_mutate(content, rng))
            started = time.process_time()
            try:
                _read_all(opener, path)
            except CheckpointError:
                refusals += 1
            assert time.process_time() - started < SECONDS
        return refusals

    return check


def _mutate(content: bytes, rng: random.Random) -> bytes:
    """Damage where it hurts: half of the blows fall on the first 400 bytes, where the header's counts are."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(min(400, len(data)) if rng.random() < 0.5 else len(data))
        match rng.randrange(6):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice(b'\x00\xff\x7f\x80"{}[]:,-0')
            case 2:
                del data[at + 1 :]
            case 3:
                extreme = rng.choice([0, 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1])
                data[at : at + 8] = struct.pack("<Q", extreme)
            case 4:
                data[at:at] = data[at : at + rng.randint(1, 40)]
            case _:
                del data[at : at + rng.randint(1, 20)]
        if not data:
            return b""
    return bytes(data)

"""What a hostile file may do: raise CheckpointError, soon, having allocated little. Nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clearformer.errors import CheckpointError, ClearformerError
from clearformer.messages import checkpoint as say
from hostile import law


@pytest.fixture
def refused(tmp_path):
    """`refused(opener, content)`: the file is refused with CheckpointError, within the bounds; returns the error."""

    def check(opener: Callable[[Path], object], content: bytes) -> ClearformerError:
        path = tmp_path / "bomb"
        path.write_bytes(content)
        error = law.refused(lambda: _read_all(opener, path), path, CheckpointError)
        assert error.failure is not say.FOREIGN  # our check, before the library's
        return error

    return check


def _read_all(opener: Callable[[Path], object], path: Path) -> None:
    file = opener(path)
    for name in file.names():
        file.tensor(name)

"""`import clearformer` costs nothing, and its names are the functions whatever was imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest

import clearformer


def run(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, clearformer; print([m for m in ('torch', 'numpy', 'tokenizers', 'rich') if m in sys.modules])"
    assert run(code) == "[]"


def test_every_public_name_is_there() -> None:
    for name in clearformer.__all__:
        assert getattr(clearformer, name).__name__ == name
        assert name in dir(clearformer)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = clearformer.no_such_name  # type: ignore[attr-defined]


def test_a_name_is_listed_once() -> None:
    assert clearformer.ClearformerError
    assert len(dir(clearformer)) == len(set(dir(clearformer)))


@pytest.mark.parametrize(
    "first",
    [
        "import clearformer.load; import clearformer as cf",
        "import clearformer as cf; cf.load; import clearformer.load",
    ],
)
def test_a_function_wins_over_the_room_of_its_name(first) -> None:
    code = (
        f"{first}; from clearformer.load import load; assert cf.load is load; assert callable(cf.load); print('same')"
    )
    assert run(code) == "same"

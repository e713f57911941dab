"""`--backend` and `--dtype` of `generate` and `chat`: which computes, and what is said where it is another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clearformer.native.library import found
from drawing.folders import llama_folder

built = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    place: Path = tmp_path_factory.mktemp("backend") / "model"
    llama_folder(place)
    return str(place)


def written(clearformer: Any, folder: str, *flags: str) -> Any:
    ended = clearformer("generate", folder, "the cat sat", "--max-new-tokens", "12", "--json", *flags)
    assert ended.code == 0
    return ended.json


@built
def test_the_kernels_write_what_pytorch_writes(clearformer: Any, folder: str) -> None:
    plain = written(clearformer, folder, "--backend", "torch")
    assert plain["backend"] == "torch"
    for flags in ((), ("--backend", "native"), ("--backend", "auto", "--threads", "1")):
        fast = written(clearformer, folder, *flags)
        assert fast["backend"] == f"native-{found().paths[0]}"
        assert fast["token_ids"] == plain["token_ids"]


@built
@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "int4"])
def test_the_type_is_the_one_asked_for(clearformer: Any, folder: str, dtype: str) -> None:
    told = written(clearformer, folder, "--dtype", dtype)
    assert told["dtype"] == dtype
    assert told["backend"].startswith("native")


@built
def test_what_the_kernels_lack_falls_back_and_is_named(clearformer: Any, folder: str) -> None:
    for flags, word in ((("--no-cache",), "--no-cache"), (("--dtype", "float64"), "float64")):
        ended = clearformer("generate", folder, "the cat", "--max-new-tokens", "3", *flags)
        assert ended.code == 0
        assert "Computing with PyTorch: the native backend does not do" in ended.err
        assert word in ended.err


@pytest.mark.parametrize(
    ("flags", "word"),
    [(("--backend", "torch", "--dtype", "int4"), "--backend torch"), (("--dtype", "int8", "--no-cache"), "--no-cache")],
)
def test_what_cannot_be_is_refused_in_both_languages(
    clearformer: Any, folder: str, flags: tuple[str, ...], word: str
) -> None:
    for language in ("en", "zh"):
        ended = clearformer("generate", folder, "the cat", "--lang", language, *flags)
        assert ended.code == 2
        assert word in ended.err
        assert len(ended.err.splitlines()) == 2


@built
def test_more_threads_than_cores_are_said(clearformer: Any, folder: str) -> None:
    ended = clearformer("generate", folder, "the cat", "--max-new-tokens", "3", "--threads", "1000")
    assert ended.code == 0
    assert "instead of 1000" in ended.err


def test_env_says_whether_they_are_there(clearformer: Any) -> None:
    told = clearformer("env", "--json").json["native"]
    assert set(told) == {"paths", "why", "stale"}
    assert (told["why"] is None) == bool(told["paths"])
    assert "native" in clearformer("env").out

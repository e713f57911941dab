"""Ids on the disk: what was encoded, encoded once, and never mixed up with another text's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data import ids as ids_module
from clearformer.data.ids import IdFile
from clearformer.errors import DataError

END = 9


def spelled(text: str) -> list[int]:
    return [ord(c) for c in text]


def build(path: Path, texts: list[str], encode: Callable[[str], list[int]] = spelled) -> IdFile:
    return IdFile.build(path, lambda: texts, encode, END)


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), min_size=1, max_size=6))
def test_each_document_lies_between_ends(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    found = build(tmp_path_factory.mktemp("ids") / "a.ids", texts)
    starts = [0, *found.ends[:-1].tolist()]
    parts = [found.ids[a:b].tolist() for a, b in zip(starts, found.ends, strict=True)]
    assert parts == [[*spelled(text), END] for text in texts]
    largest = max(max(part) for part in parts)
    assert found.ids.dtype == (np.uint16 if largest < 65536 else np.uint32)


@pytest.mark.parametrize("largest", [65535, 65536])
def test_the_narrowest_kind_holds_the_largest_id(tmp_path: Path, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrowed in place, in pieces that do not divide the whole."""
    monkeypatch.setattr(ids_module, "_PIECE", 7)
    texts = ["".join(chr(1000 + 10 * n + k) for k in range(10)) for n in range(10)]
    found = build(tmp_path / "a.ids", [*texts, chr(largest)])
    assert found.ids.dtype == (np.uint16 if largest == 65535 else np.uint32)
    assert isinstance(found.ids, np.memmap)
    assert found.ids.tolist() == [i for text in [*texts, chr(largest)] for i in (*spelled(text), END)]
    assert (tmp_path / "a.ids").stat().st_size == found.ids.nbytes


def test_the_same_text_is_not_encoded_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def counting(text: str) -> list[int]:
        calls.append(len(text))
        return spelled(text)

    texts = ["a" * 9000, "b" * 9000, "c" * 9000]
    first = build(tmp_path / "a.ids", texts, counting)
    encoded = sum(calls)
    calls.clear()
    again = build(tmp_path / "a.ids", texts, counting)
    assert again.ids.tolist() == first.ids.tolist()
    assert sum(calls) <= 10_000 < encoded


@pytest.mark.parametrize("texts", [["", "ab"], ["ab", "c"], ["abc"]])
def test_another_text_or_tokenizer_is_encoded_anew(tmp_path: Path, texts: list[str]) -> None:
    build(tmp_path / "a.ids", ["a", "bc"])
    assert len(build(tmp_path / "a.ids", texts).ids) == sum(map(len, texts)) + len(texts)
    other = build(tmp_path / "a.ids", texts, lambda text: [i + 1 for i in spelled(text)])
    assert other.ids[other.ids != END].tolist() == [i + 1 for text in texts for i in spelled(text)]
    assert IdFile.build(tmp_path / "a.ids", lambda: texts, spelled, 7).ids[-1] == 7


@pytest.mark.parametrize("when", range(5))
def test_cut_off_while_building_it_is_built_again(tmp_path: Path, when: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old text's description never stands beside the new text's ids, nor the other way round."""
    monkeypatch.setattr(ids_module, "_PROBE", 0)
    old, new = ["one", "two"], ["three", "four", "five", "six"]
    build(tmp_path / "a.ids", old)

    class Killed(BaseException):
        pass

    def dying(text: str) -> list[int]:
        if text in new[when:]:
            raise Killed
        return spelled(text)

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        # The last moment lies between the ids' rename and the description's.
        patch.setattr(ids_module, "write_bytes", killed)
        with pytest.raises(Killed):
            build(tmp_path / "a.ids", new, dying)
    for texts in (old, new, old):
        assert build(tmp_path / "a.ids", texts).ids.tolist() == [i for t in texts for i in (*spelled(t), END)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ids", "a.json"]


def test_a_damaged_cache_is_built_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ids"
    expected = build(path, ["some text"]).ids.tolist()
    path.write_bytes(path.read_bytes()[:-3])
    assert build(path, ["some text"]).ids.tolist() == expected
    path.unlink()
    assert build(path, ["some text"]).ids.tolist() == expected
    for damage in ("", "[]", "{", json.dumps({"digest": 5})):
        path.with_suffix(".json").write_text(damage)
        assert build(path, ["some text"]).ids.tolist() == expected


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.ids cannot be written: "):
        build(tmp_path / "nowhere" / "a.ids", ["text"])

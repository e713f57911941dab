"""Parallel text: read line by line, padded on the right, every pair once an epoch."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import pytest
import torch

from clearformer.data.batches import randomness
from clearformer.data.loader import Loader
from clearformer.data.padding import padded
from clearformer.data.parallel import PairBatch, Pairs, read_pairs
from clearformer.data.spelling import Fixed
from clearformer.errors import DataError

PADS = (7, 8)


def put(path: Path, *texts: str) -> Path:
    content = "".join(f"{text}\n" for text in texts).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_pairs_are_read_line_by_line(tmp_path: Path) -> None:
    source = put(tmp_path / "a.de.gz", "ein Hund", "", "zwei \u2028 Katzen", "drei")
    target = put(tmp_path / "a.en", "a dog", "nothing", "two \u2028 cats", "  ")
    assert read_pairs(source, target) == (["ein Hund", "zwei \u2028 Katzen"], ["a dog", "two \u2028 cats"])


@pytest.mark.parametrize(("shorter", "counts"), [("a.en", (3, 2)), ("a.de", (2, 3))])
def test_unequal_files_are_told_apart(tmp_path: Path, shorter: str, counts: tuple[int, int]) -> None:
    source = put(tmp_path / "a.de", *"abc"[: counts[0]])
    target = put(tmp_path / "a.en", *"abc"[: counts[1]])
    with pytest.raises(DataError, match=rf"has {counts[0]} lines .* has {counts[1]};.*shorter file is .*{shorter}"):
        read_pairs(source, target)


def test_files_of_nothing_are_refused(tmp_path: Path) -> None:
    for texts in ((), ("", " ")):
        with pytest.raises(DataError, match="holds no text"):
            read_pairs(put(tmp_path / "a.de", *texts), put(tmp_path / "a.en", *texts))


def made(count: int = 200) -> tuple[list[list[int]], list[list[int]]]:
    """Pairs that tell their own number; ids 7 and 8 occur as real ones, too."""
    lengths = randomness(0).integers(1, 20, (count, 2))
    return tuple([[n, *([7, 8] * 10)[: lengths[n, side]]] for n in range(count)] for side in (0, 1))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", [None, 3])
def test_every_pair_once_and_whole(seed: int | None) -> None:
    source, target = made()
    pairs = Pairs(Fixed(source), Fixed(target), budget=128, pads=PADS, seed=seed)
    for epoch in (0, 1):
        seen = []
        for number in range(pairs.count(epoch)):
            batch = pairs.batch(epoch, number)
            assert batch.source.numel() + batch.target.numel() <= 128
            for row in range(len(batch.source)):
                found = [batch.source[row], batch.source_real[row], batch.target[row], batch.target_real[row]]
                n = int(found[0][0])
                seen.append(n)
                assert found[0][found[1]].tolist() == source[n]
                assert found[2][found[3]].tolist() == target[n]
            assert (batch.source[~batch.source_real] == PADS[0]).all()
            assert (batch.target[~batch.target_real] == PADS[1]).all()
        assert sorted(seen) == list(range(len(source)))


def test_padding_is_on_the_right_and_no_wider_than_needed() -> None:
    ids, real = padded([[5, 6, 7], [9], []], 1)
    assert ids.tolist() == [[5, 6, 7], [9, 1, 1], [1, 1, 1]]
    assert real.tolist() == [[True, True, True], [True, False, False], [False, False, False]]
    assert (real.int().diff(dim=1) <= 0).all()
    assert ids.dtype == torch.int64


def test_batches_are_asked_for_in_any_order() -> None:
    one, other = (Pairs(*map(Fixed, made()), budget=128, pads=PADS, seed=3) for _ in range(2))
    asked = [(2, 1), (0, 0), (2, 1), (1, 3), (0, 0)]
    forward = {place: one.batch(*place) for place in asked}
    for place in reversed(asked):
        assert all(map(torch.equal, forward[place], other.batch(*place)))
    first, second = ([one.batch(epoch, n).source[:, 0].tolist() for n in range(one.count(epoch))] for epoch in (0, 1))
    assert sum(rows in second for rows in first) < 0.8 * len(first)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_resumes_within_an_epoch_of_pairs(workers: int) -> None:
    def start(**where: object) -> Loader[PairBatch]:
        return Loader(Pairs(*map(Fixed, made(60)), budget=128, pads=PADS, seed=3), **where)  # type: ignore[arg-type]

    whole = list(islice(start(), 30))
    first = start(workers=workers)
    before = list(islice(first, 17))
    position = first.position
    first.close()
    second = start(workers=workers, position=position)
    after = list(islice(second, 13))
    second.close()
    assert position.epoch >= 1
    assert all(all(map(torch.equal, a, b)) for a, b in zip(whole, before + after, strict=True))

"""Folders and arrays of images, their splits, and their augmentation as a function of (seed, epoch, sample)."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.augmentation import Augmentation, augmented
from clearformer.data.images import ImageBatches, Standard, array_pictures, folder_pictures, stratified
from clearformer.data.made import digits
from clearformer.errors import DataError

NONE = Augmentation(0, 0, 0)


def folder(path: Path, counts: dict[str, int], *, grey: bool = False, size: tuple[int, int] = (6, 8)) -> Path:
    draw = np.random.default_rng(0)
    for name, count in counts.items():
        (path / name).mkdir(parents=True)
        for index in range(count):
            pixels = draw.integers(0, 256, size if grey else (*size, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(path / name / f"{index:02}.png")
    return path


def test_a_folder_of_classes(tmp_path: Path) -> None:
    path = folder(tmp_path / "pets", {"dog": 3, "cat": 4})
    (path / ".hidden").mkdir()
    (path / "cat" / "notes.txt").write_text("not an image")
    found = folder_pictures(path, None, tmp_path / "cache")
    assert (found.names, found.labels.tolist()) == (("cat", "dog"), [0] * 4 + [1] * 3)
    assert found.images.shape == (7, 6, 8, 3)
    with Image.open(path / "dog" / "01.png") as image:
        np.testing.assert_array_equal(found.images[5], np.asarray(image))
    assert folder_pictures(path, (4, 4), tmp_path / "cache").images.shape == (7, 4, 4, 3)


def test_the_cache_serves_again_and_notices_a_change(tmp_path: Path) -> None:
    path = folder(tmp_path / "pets", {"dog": 3, "cat": 4}, grey=True)
    first = folder_pictures(path, None, tmp_path / "cache")
    assert first.images.shape[3] == 1
    kept = list((tmp_path / "cache").iterdir())
    assert len(kept) == 1
    state = kept[0].stat().st_mtime_ns
    np.testing.assert_array_equal(folder_pictures(path, None, tmp_path / "cache").images, first.images)
    assert kept[0].stat().st_mtime_ns == state
    Image.fromarray(np.zeros((6, 8), np.uint8)).save(path / "cat" / "00.png")
    assert folder_pictures(path, None, tmp_path / "cache").images[0].max() == 0


def test_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    path = folder(tmp_path / "pets", {"dog": 3, "cat": 4})
    first = np.array(folder_pictures(path, (4, 4), tmp_path / "cache").images)
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1]):
        kept.unlink()
        kept.write_bytes(damaged)
        np.testing.assert_array_equal(folder_pictures(path, (4, 4), tmp_path / "cache").images, first)
        assert kept.read_bytes() == whole


def test_a_full_disk_is_an_error_and_no_signal(tmp_path: Path) -> None:
    path = folder(tmp_path / "pets", {"dog": 3, "cat": 4})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        with pytest.raises(DataError, match="cannot be written"):
            folder_pictures(path, (64, 64), tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list((tmp_path / "cache").iterdir())


def test_a_broken_image_leaves_no_cache(tmp_path: Path) -> None:
    path = folder(tmp_path / "pets", {"dog": 3, "cat": 4})
    broken = path / "dog" / "01.png"
    broken.write_bytes(broken.read_bytes()[:60])
    with pytest.raises(DataError, match=r"01\.png cannot be read"):
        folder_pictures(path, None, tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_folders_that_are_no_classes(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no images"):
        folder_pictures(tmp_path / "empty", None, tmp_path / "cache")
    with pytest.raises(DataError, match="one class alone: dog"):
        folder_pictures(folder(tmp_path / "dogs", {"dog": 3}), None, tmp_path / "cache")


def save(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path / "x.npz", **arrays)
    return path / "x.npz"


def test_arrays(tmp_path: Path) -> None:
    pixels = np.arange(4 * 5 * 6, dtype=np.uint8).reshape(4, 5, 6)
    found = array_pictures(save(tmp_path, images=pixels, labels=np.array([0, 1, 2, 1])))
    assert (found.names, found.images.shape) == (("0", "1", "2"), (4, 5, 6, 1))
    half = array_pictures(save(tmp_path, images=pixels / 255, labels=np.array([0, 1, 1, 0])))
    np.testing.assert_array_equal(half.images, found.images)


@pytest.mark.parametrize(
    ("arrays", "named"),
    [
        ({"labels": np.array([0, 1])}, "expected images"),
        ({"images": np.zeros((2, 4, 4))}, "expected images"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, 1, 1])}, "as many labels"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0.5, 1])}, "float64"),
        ({"images": np.zeros((2, 4, 4, 2)), "labels": np.array([0, 1])}, "4, 2"),
        ({"images": np.full((2, 4, 4), 1.5), "labels": np.array([0, 1])}, "pixels from 0 to 1; found 1.5"),
        ({"images": np.full((2, 4, 4), np.nan), "labels": np.array([0, 1])}, "pixels from 0 to 1; found nan"),
        ({"images": np.full((2, 4, 4), -1), "labels": np.array([0, 1])}, "pixels from 0 to 255; found -1"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, -1])}, "label from 0 to 0, found -1"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, 5]), "names": np.array(["a", "b"])}, "image 1"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, 0])}, "one class alone"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, 10**15])}, "label from 0 to 1, found 1000000000000000"),
        ({"images": np.zeros((2, 4, 4)), "labels": np.array([0, 2**64 - 1], np.uint64)}, "found 18446744073709551615"),
        ({"images": np.zeros((2, 4, 4), "M8[s]"), "labels": np.array([0, 1])}, "expected images"),
        ({"images": np.zeros((2, 4, 4), complex), "labels": np.array([0, 1])}, "expected images"),
    ],
)
def test_bad_arrays_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray], named: str) -> None:
    with pytest.raises(DataError) as caught:
        array_pictures(save(tmp_path, **arrays))
    assert named in caught.value.cause()


def test_every_class_is_in_every_split_and_no_image_in_two() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(4), [50, 30, 3, 17]))
    parts = stratified(labels, (0.1, 0.2), 0, tuple("abcd"))
    assert sorted(np.concatenate(parts)) == list(range(100))
    assert np.bincount(labels[parts[2]]).tolist() == [10, 6, 1, 3]
    assert np.bincount(labels[parts[1]]).tolist() == [5, 3, 1, 2]
    for part, again in zip(parts, stratified(labels, (0.1, 0.2), 0, tuple("abcd")), strict=True):
        np.testing.assert_array_equal(part, again)
    assert not np.array_equal(parts[2], stratified(labels, (0.1, 0.2), 1, tuple("abcd"))[2])
    with pytest.raises(DataError, match="Class b has 2 images"):
        stratified(np.array([0, 0, 0, 1, 1]), (0.1, 0.2), 0, ("a", "b"))
    with pytest.raises(DataError, match="shares"):
        stratified(labels, (0.5, 0.5), 0, tuple("abcd"))


def test_standard_units_against_numpy() -> None:
    images = np.random.default_rng(0).integers(0, 256, (20, 4, 5, 3), dtype=np.uint8)
    found = Standard.fitted(images).tensor(images).double()
    assert found.shape == (20, 3, 4, 5)
    np.testing.assert_allclose(found.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(found.std((0, 2, 3), correction=0), 1, atol=1e-5)
    assert Standard.fitted(np.zeros_like(images)).deviation == (1.0, 1.0, 1.0)


def test_augmentation_is_a_function_of_the_place_and_leaves_what_it_is_told_to_leave() -> None:
    images, samples = torch.rand(6, 1, 9, 9), np.arange(6)
    chosen = Augmentation(0.2, 20, 0.2)
    found = augmented(images, chosen, 1, 2, samples)
    assert torch.equal(augmented(images[3:], chosen, 1, 2, samples[3:]), found[3:])
    assert not torch.equal(augmented(images, chosen, 1, 3, samples), found)
    assert augmented(images, NONE, 1, 2, samples) is images
    flat = torch.full_like(images, 0.3)
    torch.testing.assert_close(augmented(flat, chosen, 1, 2, samples), flat)


def test_flips_mirror_about_half_of_the_images() -> None:
    images = torch.rand(200, 1, 4, 6)
    found = augmented(images, Augmentation(0, 0, 0, flip=True), 0, 0, np.arange(200))
    mirrored = [bool(torch.allclose(one, other.flip(-1), atol=1e-5)) for one, other in zip(found, images, strict=True)]
    same = [bool(torch.allclose(one, other, atol=1e-5)) for one, other in zip(found, images, strict=True)]
    assert all(a != b for a, b in zip(mirrored, same, strict=True))
    assert 70 < sum(mirrored) < 130


def test_a_shift_moves_by_its_share() -> None:
    """A bright column, moved by at most a quarter of eight pixels."""
    images = torch.zeros(50, 1, 8, 8)
    images[..., 4] = 1
    found = augmented(images, Augmentation(0.25, 0, 0), 0, 0, np.arange(50))
    centre = (found.mean(2)[:, 0] * torch.arange(8.0)).sum(1) / found.mean(2)[:, 0].sum(1)
    assert (centre - 4).abs().max() <= 2.001
    assert (centre - 4).abs().max() > 1.5


def test_what_comes_into_view_is_the_edge_or_black() -> None:
    images, samples = torch.full((40, 1, 8, 8), 0.6), np.arange(40)
    moved = Augmentation(0.25, 0, 0, beyond="black")
    black = augmented(images, moved, 0, 0, samples)
    assert (black[:, :, 3:5, 3:5] - 0.6).abs().max() < 1e-5
    # A whole pixel or more came from outside in nearly every image.
    assert (black.flatten(1).min(1).values < 0.3).float().mean() > 0.8
    assert black.min() >= 0


def test_a_share_is_left_untouched_to_the_bit_and_the_others_move_as_without_it() -> None:
    images, samples = torch.rand(400, 1, 8, 8), np.arange(400)
    all_moved, some_moved = (augmented(images, Augmentation(untouched=share), 3, 0, samples) for share in (0.0, 0.3))
    left = (some_moved == images).flatten(1).all(1)
    assert 0.22 < left.float().mean() < 0.38
    assert torch.equal(some_moved[~left], all_moved[~left])
    assert not (all_moved == images).flatten(1).all(1).any()


def test_batches_are_pure(tmp_path: Path) -> None:
    pictures = digits()
    batches = ImageBatches(pictures, np.arange(100, 200), Standard((0.5,), (0.5,)), Augmentation(), size=30, seed=1)
    assert batches.count(0) == 3
    late = batches.batch(4, 2)
    batches.batch(0, 0)
    assert torch.equal(batches.batch(4, 2).images, late.images)
    labels = torch.cat([batches.batch(4, number).labels for number in range(3)])
    assert len(labels) == 90


def test_digits_are_scikit_learns() -> None:
    pictures = digits()
    assert pictures.images.shape == (1797, 8, 8, 1)
    assert np.bincount(pictures.labels).min() >= 174


def test_digits_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match=r"pip install scikit-learn"):
        digits()

"""Pictures and their classes: from folders, from arrays, cut into three splits that each hold every class."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from clearformer.checkpoint.atomic import new_file
from clearformer.data.augmentation import Augmentation, augmented
from clearformer.data.batches import order, randomness
from clearformer.data.image_files import SUFFIXES, Stretch, image_facts, read_arrays, read_image
from clearformer.errors import CheckpointError, DataError
from clearformer.messages import data as data_say
from clearformer.messages import images as say


class ImageBatch(NamedTuple):
    """Images in standard units, and their classes."""

    images: Float[Tensor, "B C height width"]
    labels: Int[Tensor, " B"]


@dataclass(frozen=True)
class Pictures:
    """Images of one size, perhaps mapped from a file, their classes and the classes' names."""

    images: UInt8[np.ndarray, "count height width C"]
    labels: Int[np.ndarray, " count"]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Standard:
    """Each channel's mean and deviation over the training images, pixels from 0 to 1."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def fitted(cls, images: UInt8[np.ndarray, "count height width C"]) -> Standard:
        channels = range(images.shape[-1])
        means = [float(images[..., c].mean()) / 255 for c in channels]
        deviations = [float(images[..., c].std()) / 255 for c in channels]
        return cls(tuple(means), tuple(deviation or 1.0 for deviation in deviations))

    def tensor(self, images: UInt8[np.ndarray, "B height width C"]) -> Float[Tensor, "B C height width"]:
        """Images as the model reads them."""
        return self.of(shares(images))

    def of(self, pixels: Float[Tensor, "B C height width"]) -> Float[Tensor, "B C height width"]:
        """Pixels from 0 to 1 in these units."""
        mean, deviation = torch.tensor(self.mean), torch.tensor(self.deviation)
        return (pixels - mean[:, None, None]) / deviation[:, None, None]


def shares(images: UInt8[np.ndarray, "B height width C"]) -> Float[Tensor, "B C height width"]:
    """Pixels from 0 to 1; copied, since a mapped file must not be written to."""
    return torch.from_numpy(np.array(images)).permute(0, 3, 1, 2).float() / 255


def folder_pictures(path: Path, size: tuple[int, int] | None, cache: Path) -> Pictures:
    """A folder with one folder of images a class, all scaled to `size` (None: the first image's).

    Every image is decoded once, into an array under `cache` that is mapped from then on: a broken file is found before
    training and not in the middle of it. Raises DataError.
    """
    classes = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))
    found = [(file, label) for label, folder in enumerate(classes) for file in _images_in(folder)]
    if not found:
        raise DataError(say.NO_IMAGES, path=path)
    names = tuple(folder.name for folder in classes)
    facts = [image_facts(file) for file, _ in found]
    size = size or facts[0][0]
    channels = 1 if all(grey for _, grey in facts) else 3
    decoded = _decoded([file for file, _ in found], size, channels, cache)
    return _checked(decoded, np.array([label for _, label in found]), names, path)


def array_pictures(path: Path) -> Pictures:
    """An .npz file: `images` uint8 or 0 … 1 floats, whole `labels` from 0, perhaps `names`. Raises DataError."""
    found = read_arrays(path, ("images", "labels", "names"))
    images, labels = found.get("images", np.zeros(0)), found.get("labels", np.zeros(0))
    fits = images.ndim == 3 or (images.ndim == 4 and images.shape[3] in (1, 3))
    whole = np.issubdtype(labels.dtype, np.integer)
    fits = fits and images.dtype.kind in "buif"
    if not fits or not images.size or not whole or labels.shape != images.shape[:1]:
        shapes = [f"{array.dtype} {array.shape}" for array in (images, labels)]
        raise DataError(say.BAD_ARRAYS, path=path, images=shapes[0], labels=shapes[1])
    # Without names a class has at least one image: a label of 10¹² is a mistake and no reason to count so far.
    count = min(int(labels.max()) + 1, len(labels))
    names = tuple(map(str, found["names"].tolist())) if "names" in found else tuple(map(str, range(count)))
    pixels = _bytes(images, path).reshape(*images.shape[:3], -1)
    return _checked(pixels, labels, names, path)


def stratified(
    labels: Int[np.ndarray, " count"], shares: tuple[float, float], seed: int, names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(training, validation, test) samples, every class in every split by the shares of (validation, test).

    Raises DataError for a class too small to be in all three.
    """
    validation, test = shares
    if not 0 < validation < 1 or not 0 < test < 1 or validation + test >= 1:
        raise DataError(say.BAD_SHARES, validation=validation, test=test)
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    for label, name in enumerate(names):
        members = np.flatnonzero(labels == label)
        if len(members) < 3:
            raise DataError(say.TOO_FEW_IMAGES, name=name, found=len(members), expected=3)
        members = randomness(seed, label).permutation(members)
        tested = min(max(1, round(test * len(members))), len(members) - 2)
        watched = min(max(1, round(validation * len(members))), len(members) - tested - 1)
        for part, chosen in zip(parts, np.split(members, [tested, tested + watched]), strict=True):
            part.append(chosen)
    tested_, watched_, trained = (np.sort(np.concatenate(part)) for part in parts)
    return trained, watched_, tested_


@dataclass(frozen=True)
class ImageBatches:
    """Batches of augmented images, in a new order each epoch. The few that fill no batch are left to other epochs."""

    pictures: Pictures
    chosen: Int[np.ndarray, " samples"]
    standard: Standard
    augmentation: Augmentation
    size: int
    seed: int

    def count(self, epoch: int) -> int:
        return max(1, len(self.chosen) // self.size)

    def batch(self, epoch: int, number: int) -> ImageBatch:
        places = order(self.seed, epoch, len(self.chosen))[number * self.size : (number + 1) * self.size]
        samples = self.chosen[places]
        images = shares(self.pictures.images[samples])
        images = augmented(images, self.augmentation, self.seed, epoch, samples)
        return ImageBatch(self.standard.of(images), torch.from_numpy(self.pictures.labels[samples]))


def _images_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())


def _decoded(
    files: list[Path], size: tuple[int, int], channels: int, cache: Path
) -> UInt8[np.ndarray, "count height width C"]:
    """The images as one mapped array, named after the files' states, so that a changed file is read again."""
    states = [(str(file), (state := file.stat()).st_size, state.st_mtime_ns) for file in files]
    name = hashlib.sha256(repr((states, size, channels)).encode()).hexdigest()[:16]
    kept = cache / f"images-{name}.npy"
    shape = (len(files), *size, channels)
    if (whole := _mapped(kept, shape)) is not None:
        return whole
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with new_file(kept) as temporary, temporary.open("wb") as file:
            # Written and not mapped: a mapping of a full disk ends the process without a word (SIGBUS).
            about = {"descr": "|u1", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, about)
            for each in files:
                file.write(read_image(each, Stretch(size), channels).tobytes())
    except (CheckpointError, OSError) as error:
        detail = error.values["detail"] if isinstance(error, CheckpointError) else error.strerror or error
        raise DataError(data_say.CACHE_FAILED, path=kept, detail=detail) from error
    whole = _mapped(kept, shape)
    assert whole is not None
    return whole


def _mapped(path: Path, shape: tuple[int, ...]) -> UInt8[np.ndarray, "count height width C"] | None:
    """What `_decoded` wrote; None where it is gone, or no longer whole."""
    try:
        found: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.shape == shape and found.dtype == np.uint8 else None


def _bytes(images: np.ndarray, path: Path) -> UInt8[np.ndarray, "..."]:
    if images.dtype == np.uint8:
        return images
    limit = 1 if np.issubdtype(images.dtype, np.floating) else 255
    low, high = images.min(), images.max()
    if not (low >= 0 and high <= limit):
        raise DataError(say.BAD_PIXELS, path=path, limit=limit, low=low, high=high)
    return np.round(images.astype(np.float64) * (255 / limit)).astype(np.uint8)


def _checked(images: np.ndarray, labels: np.ndarray, names: tuple[str, ...], path: Path) -> Pictures:
    wrong = np.flatnonzero((labels < 0) | (labels >= len(names)))
    if len(wrong):
        raise DataError(say.LABEL_RANGE, path=path, index=wrong[0], last=len(names) - 1, found=labels[wrong[0]])
    if len(np.unique(labels)) < 2:
        raise DataError(say.SINGLE_CLASS, path=path, found=names[int(labels[0])])
    return Pictures(images, labels.astype(np.int64), names)

"""Pixels from files that nobody vouches for: a picture is opened only if its size and kind are bounded."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from numpy.lib import format as npy
from PIL import Image

from clearformer.errors import DataError
from clearformer.messages import images as say

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".ppm", ".pgm"})
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "PPM")
_MOST_PIXELS = 50_000_000
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Stretch:
    """The whole image, scaled to (height, width) whatever its own proportions."""

    size: tuple[int, int]
    filter: Image.Resampling = Image.Resampling.BILINEAR

    def __call__(self, image: Image.Image) -> Image.Image:
        return image if image.size == self.size[::-1] else image.resize(self.size[::-1], self.filter)


@dataclass(frozen=True)
class Cover:
    """Scaled in its own proportions until the shorter edge is `edge` pixels; of that the middle (height, width)."""

    edge: int
    size: tuple[int, int]
    filter: Image.Resampling = Image.Resampling.BILINEAR

    def __call__(self, image: Image.Image) -> Image.Image:
        short, long = sorted(image.size)
        longer = int(self.edge * long / short)
        width, height = (self.edge, longer) if image.width <= image.height else (longer, self.edge)
        scaled = image.resize((width, height), self.filter)
        top, left = (height - self.size[0]) // 2, (width - self.size[1]) // 2
        return scaled.crop((left, top, left + self.size[1], top + self.size[0]))


Fitting = Stretch | Cover


def read_image(path: Path, fitting: Fitting, channels: int) -> UInt8[np.ndarray, "height width C"]:
    """The image, fitted to (height, width), in grey (1 channel) or RGB (3); transparency falls on black.

    Raises DataError for a file that is no image, is cut short, or unpacks to more than fifty million pixels.
    """
    try:
        with warnings.catch_warnings():
            # Pillow only warns of a bomb; the size is refused here, before a pixel is decoded.
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as image:
                _require_size(path, image.width * image.height)
                plain = image.convert("L" if channels == 1 else "RGB")
        fitted = fitting(plain)
    except Image.DecompressionBombError as error:
        raise DataError(say.TOO_LARGE, path=path, found=error, limit=_MOST_PIXELS) from error
    except (FileNotFoundError, IsADirectoryError) as error:
        raise DataError(say.NO_PICTURE, path=path) from error
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, TypeError, OverflowError, MemoryError) as error:
        raise DataError(say.UNREADABLE, path=path, detail=str(error).rstrip(".") or type(error).__name__) from error
    return np.asarray(fitted, np.uint8).reshape(*fitting.size, channels)


def image_facts(path: Path) -> tuple[tuple[int, int], bool]:
    """((height, width), without colour) by the file's header alone. Raises DataError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as image:
                return (image.height, image.width), image.mode in ("1", "L", "LA", "I", "I;16", "F")
    except Image.DecompressionBombError as error:
        raise DataError(say.TOO_LARGE, path=path, found=error, limit=_MOST_PIXELS) from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise DataError(say.UNREADABLE, path=path, detail=str(error).rstrip(".")) from error


def read_arrays(path: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Arrays of an .npz file, those that it has. Nothing is unpickled, and no array is larger than it says or than four
    gigabytes. Raises DataError."""
    try:
        with zipfile.ZipFile(path) as archive:
            held = set(archive.namelist())
            return {name: _member(archive, f"{name}.npy") for name in names if f"{name}.npy" in held}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(say.BAD_ARCHIVE, path=path, detail=str(error).rstrip(".")) from error


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or fortran or not 0 <= size <= _MOST_BYTES:
            raise ValueError(f"{name} is {dtype} {shape}, which is not read")
        data = file.read(size)
    if len(data) != size:
        raise ValueError(f"{name} holds {len(data)} bytes and not {size}")
    return np.frombuffer(data, dtype).reshape(shape)


def _require_size(path: Path, pixels: int) -> None:
    if pixels > _MOST_PIXELS:
        raise DataError(say.TOO_LARGE, path=path, found=pixels, limit=_MOST_PIXELS)

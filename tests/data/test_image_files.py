"""Files that nobody vouches for: bombs, cut files, text called .png, arrays that lie about their size."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from clearformer.data.image_files import Stretch, image_facts, read_arrays, read_image
from clearformer.errors import DataError

DRAW = np.random.default_rng(0)
PIXELS = DRAW.integers(0, 256, (9, 12, 3), dtype=np.uint8)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def claimed(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says how large it is."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(b"\0" * 100)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("suffix", ["png", "bmp", "ppm", "webp", "gif"])
def test_images_are_read_as_pillow_reads_them(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    Image.fromarray(PIXELS).save(path, **({"lossless": True} if suffix == "webp" else {}))
    with Image.open(path) as image:
        expected = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(read_image(path, Stretch((9, 12)), 3), expected)
    assert image_facts(path)[0] == (9, 12)
    grey = read_image(path, Stretch((5, 4)), 1)
    assert grey.shape == (5, 4, 1)
    assert not image_facts(path)[1] or suffix == "gif"


def test_an_image_stored_without_colour_is_grey(tmp_path: Path) -> None:
    Image.fromarray(PIXELS[..., 0]).save(tmp_path / "x.png")
    assert image_facts(tmp_path / "x.png") == ((9, 12), True)
    np.testing.assert_array_equal(read_image(tmp_path / "x.png", Stretch((9, 12)), 1)[..., 0], PIXELS[..., 0])


@pytest.mark.parametrize("size", [(8000, 8000), (12000, 12000), (60000, 60000), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_by_its_header(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(claimed(*size))
    with pytest.raises(DataError, match="pixels large"):
        read_image(path, Stretch((8, 8)), 3)


BROKEN = [b"", b"GIF89a", b"hello", claimed(10, 10), b"%!PS-Adobe-3.0 EPSF", b"P5 9 9 255\n"]


@pytest.mark.parametrize("content", BROKEN)
def test_what_is_no_image_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"broken\.png cannot be read as an image"):
        read_image(path, Stretch((8, 8)), 3)
    with pytest.raises(DataError):
        read_image(tmp_path / "absent.png", Stretch((8, 8)), 3)


@settings(max_examples=150)
@given(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM"]), st.data())
def test_a_damaged_image_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    held = io.BytesIO()
    Image.fromarray(PIXELS).save(held, form)
    content = bytearray(held.getvalue())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.png"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(DataError):
        assert read_image(path, Stretch((4, 4)), 3).shape == (4, 4, 3)


def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, images=PIXELS, labels=np.arange(9), names=np.array(["a", "ß"]))
    found = read_arrays(path, ("images", "labels", "names", "absent"))
    assert set(found) == {"images", "labels", "names"}
    np.testing.assert_array_equal(found["images"], PIXELS)
    assert found["names"].tolist() == ["a", "ß"]


def lying_array(shape: tuple[int, ...], held: int) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * held


def test_arrays_that_lie_or_carry_code_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for content in (lying_array((10**6, 10**6), 10), lying_array((100,), 10), lying_array((-1,), 10), b"junk"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("images.npy", content)
        with pytest.raises(DataError, match=r"x\.npz is no array file"):
            read_arrays(path, ("images",))
    np.savez(path, images=np.array([{"a": print}], dtype=object))
    with pytest.raises(DataError, match="object"):
        read_arrays(path, ("images",))
    path.write_bytes(b"no zip")
    with pytest.raises(DataError):
        read_arrays(path, ("images",))

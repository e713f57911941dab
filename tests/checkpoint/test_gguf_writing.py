"""GGUF files as we write them: every block as the gguf package makes it, every value as its reader finds it."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from gguf import quants
from hypothesis import given
from hypothesis import strategies as st

from clearformer.checkpoint.gguf_blocks import LAYOUTS, encode
from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.checkpoint.gguf_writing import Entry, save_gguf
from clearformer.errors import CheckpointError

KINDS = {"f16": Kind.F16, "bf16": Kind.BF16, "q8_0": Kind.Q8_0, "q4_0": Kind.Q4_0}


def rows() -> np.ndarray:
    """Weights of several sizes, and rows that rounding is hard on: zeros, equal numbers, halves, powers of two."""
    rng = np.random.default_rng(0)
    found = rng.standard_normal((24, 128)).astype(np.float32) * 10.0 ** rng.integers(-6, 3, (24, 1)).astype(np.float32)
    found[0] = 0
    found[1] = 0.5
    found[2] = np.arange(128) - 64
    found[3] = (np.arange(128) - 64) * np.float32(127 / 16)
    found[4] = np.round(found[4] * 4) / 8
    found[5, ::2] = -found[5, 1::2]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_block_is_the_packages(kind):
    found = b"".join(encode("w", torch.from_numpy(rows()), kind))
    assert found == quants.quantize(rows(), KINDS[kind]).tobytes()
    assert len(found) == LAYOUTS[kind].bytes_of((24, 128))


@given(st.lists(st.floats(-6e4, 6e4, width=32), min_size=32, max_size=32), st.sampled_from(sorted(KINDS)))
def test_any_block_is_the_packages(numbers, kind):
    row = np.array([numbers], np.float32)
    assert b"".join(encode("w", torch.from_numpy(row), kind)) == quants.quantize(row, KINDS[kind]).tobytes()


def test_types_narrower_and_wider_than_float32():
    wide = torch.from_numpy(rows()).double()
    assert b"".join(encode("w", wide, "q8_0")) == quants.quantize(rows(), Kind.Q8_0).tobytes()
    half = wide.to(torch.bfloat16)
    assert b"".join(encode("w", half, "f32")) == half.float().numpy().tobytes()


@pytest.mark.parametrize(
    ("number", "kind"),
    [(7e4, "f16"), (float("inf"), "q8_0"), (float("nan"), "q4_0"), (1e7, "q8_0"), (6e5, "q4_0")],
)
def test_a_weight_too_large_for_its_kind_is_refused_by_its_tensor(number, kind):
    row = torch.zeros(1, 32)
    row[0, 3] = number
    with pytest.raises(CheckpointError, match=r"blk\.0\.ffn_up\.weight"):
        b"".join(encode("blk.0.ffn_up.weight", row, kind))


VALUES = {
    "general.architecture": "llama",
    "count": 2**32 - 1,
    "eps": 1e-6,
    "flag": True,
    "text": "变换器 ✓",
    "words": ["<s>", "", "é", "▁the"],
    "ids": [1, -2, 3],
    "scores": [0.0, -1.25],
    "flags": [True, False],
}


def test_the_package_reads_what_is_written(tmp_path):
    tensors = {"token_embd.weight": rows(), "norm": rows()[0], "cube": rows().reshape(4, 6, 128)}
    kinds = {"token_embd.weight": "q8_0", "norm": "f32", "cube": "q4_0"}
    entries = [Entry(name, array.shape, kinds[name]) for name, array in tensors.items()]
    told: list[tuple[int, int]] = []
    contents = ((name, torch.from_numpy(array)) for name, array in tensors.items())
    save_gguf(tmp_path / "m.gguf", VALUES, entries, contents, lambda *at: told.append(at))
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    for key, value in VALUES.items():
        found = reader.fields[key].contents()
        assert found == pytest.approx(value) if isinstance(value, float) else found == value
    for tensor in reader.tensors:
        expected = tensors[tensor.name]
        plain = quants.dequantize(tensor.data, tensor.tensor_type)
        again = quants.dequantize(quants.quantize(expected, tensor.tensor_type), tensor.tensor_type)
        assert np.array_equal(plain, again)
        assert np.array_equal(open_gguf(tmp_path / "m.gguf").tensor(tensor.name).numpy(), plain)
    assert told[-1] == (sum(entry.size for entry in entries),) * 2


def test_a_large_tensor_is_turned_piece_by_piece():
    big = torch.linspace(-1, 1, (1 << 22) + 64)
    pieces = list(encode("w", big, "q8_0"))
    assert len(pieces) == 2
    assert b"".join(pieces) == quants.quantize(big.numpy(), Kind.Q8_0).tobytes()


def test_nothing_is_left_of_a_file_that_fails(tmp_path: Path):
    entries = [Entry("a", (2, 32), "f16"), Entry("b", (2, 32), "f16")]
    contents = [("a", torch.zeros(2, 32)), ("b", torch.full((2, 32), 1e6))]
    with pytest.raises(CheckpointError, match="Tensor b"):
        save_gguf(tmp_path / "m.gguf", {}, entries, contents)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_there_is_not_touched(tmp_path: Path):
    (tmp_path / "m.gguf").write_bytes(b"mine")
    with pytest.raises(CheckpointError, match="already exists"):
        save_gguf(tmp_path / "m.gguf", {}, [], [])
    assert (tmp_path / "m.gguf").read_bytes() == b"mine"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(CheckpointError, match="cannot be written"):
        save_gguf(tmp_path / "absent" / "m.gguf", {}, [], [])

"""GGUF: our parser and decoder against the gguf package's reader, for every type that the package decodes."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from gguf import quants

from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.errors import CheckpointError

PLAIN = (Kind.F64, Kind.F32, Kind.F16, Kind.I64, Kind.I32, Kind.I16, Kind.I8)
QUANTISED = tuple(sorted(quants._type_traits))
SHAPE = (6, 512)


def quantised(kind: Kind, rng: np.random.Generator) -> np.ndarray:
    """Blocks as the package writes them, or, where it cannot, any bytes: every byte string is some block."""
    try:
        return quants.quantize(rng.standard_normal(SHAPE, np.float32), kind)
    except NotImplementedError:
        return rng.integers(0, 256, quants.quant_shape_to_byte_shape(SHAPE, kind), np.uint8)


def bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(np.uint8)


@pytest.mark.parametrize("kind", QUANTISED, ids=lambda kind: kind.name)
def test_every_quantised_type_equals_the_package(kind, tmp_path):
    data = quantised(kind, np.random.default_rng(int(kind)))
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "test")
    writer.add_tensor("first", np.ones(3, np.float32))
    writer.add_tensor("w", data.view(np.uint8), raw_dtype=kind)
    finish(writer)
    (_, theirs) = gguf.GGUFReader(tmp_path / "m.gguf").tensors
    with np.errstate(all="ignore"):
        expected = quants.dequantize(theirs.data, theirs.tensor_type)
    file = open_gguf(tmp_path / "m.gguf")
    found = file.tensor("w")
    assert file.kind("w") == kind.name
    assert file.plain("w") == (kind == Kind.BF16)
    assert file.shape("w") == tuple(found.shape) == SHAPE
    assert file.dtype("w") == found.dtype == (torch.bfloat16 if kind == Kind.BF16 else torch.float32)
    assert np.array_equal(bits(found.float().numpy()), bits(expected))
    stored, name = file.raw("w")
    assert (name, stored.tobytes()) == (kind.name, data.tobytes())


def test_many_blocks_are_decoded_in_steps(tmp_path):
    values = np.random.default_rng(0).standard_normal((40, 8192), np.float32)
    data = quants.quantize(values, Kind.Q4_0)
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "test")
    writer.add_tensor("w", data, raw_dtype=Kind.Q4_0)
    finish(writer)
    assert np.array_equal(open_gguf(tmp_path / "m.gguf").tensor("w").numpy(), quants.dequantize(data, Kind.Q4_0))


def test_plain_types_and_shapes(tmp_path):
    rng = np.random.default_rng(0)
    dtypes = {
        Kind.F64: "f8",
        Kind.F32: "f4",
        Kind.F16: "f2",
        Kind.I64: "i8",
        Kind.I32: "i4",
        Kind.I16: "i2",
        Kind.I8: "i1",
    }
    arrays = {k.name: (rng.standard_normal((2, 3, 4, 5)) * 50).astype(dtypes[k]) for k in PLAIN}
    arrays |= {"vector": np.arange(7, dtype=np.float32), "matrix": np.arange(6, dtype=np.float32).reshape(2, 3)}
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "test")
    for name, array in arrays.items():
        writer.add_tensor(name, array)
    finish(writer)
    file = open_gguf(tmp_path / "m.gguf")
    assert file.names() == tuple(arrays)
    for name, array in arrays.items():
        found = file.tensor(name)
        assert file.dtype(name) == found.dtype
        assert np.array_equal(found.numpy(), array)
        assert found.numpy().dtype == array.dtype


def test_metadata_of_every_type(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama")
    values = {
        "uint8": 255, "int8": -128, "uint16": 65535, "int16": -32768, "uint32": 2**32 - 1, "int32": -(2**31),
        "uint64": 2**64 - 1, "int64": -(2**63), "float32": 0.5, "float64": 0.1, "bool": True, "string": "変換器 ✓",
    }  # fmt: skip
    for kind, value in values.items():
        getattr(writer, f"add_{kind}")(kind, value)
    arrays = {"tokens": ["<s>", "", "é"], "scores": [0.5, -1.25], "ids": [1, -2, 3], "flags": [True, False], "none": []}
    for key, array in arrays.items():
        writer.add_array(key, array)
    finish(writer)
    metadata = open_gguf(tmp_path / "m.gguf").metadata
    assert {key: metadata[key] for key in values} == values
    assert type(metadata["bool"]) is bool
    # The writer leaves out an empty array.
    assert {key: metadata[key] for key in arrays if key != "none"} == {k: v for k, v in arrays.items() if v}
    assert metadata["general.architecture"] == "llama"


def test_the_file_is_never_written_to(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "test")
    writer.add_tensor("w", np.ones(64, np.float32))
    finish(writer)
    before = (tmp_path / "m.gguf").read_bytes()
    open_gguf(tmp_path / "m.gguf").tensor("w").zero_()
    assert (tmp_path / "m.gguf").read_bytes() == before


def test_a_type_that_the_package_cannot_decode_is_named(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "test")
    writer.add_tensor("w", np.zeros((1, 40), np.uint8), raw_dtype=Kind.Q8_1)
    finish(writer)
    with pytest.raises(CheckpointError, match="cannot decode the type Q8_1 of tensor w"):
        open_gguf(tmp_path / "m.gguf").tensor("w")


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

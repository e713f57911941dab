"""safetensors: what the library writes is read back; everything else is refused before it can cost anything."""

from __future__ import annotations

import json
import os
import struct

import pytest
import torch
from safetensors.torch import save_file

from clearformer.checkpoint.safetensors_file import DTYPES, open_safetensors
from clearformer.errors import CheckpointError


def pack(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)) -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_reads_what_the_library_writes(tmp_path):
    tensors = {}
    for n, dtype in enumerate(DTYPES.values()):
        tensors[f"t{n}"] = torch.randint(0, 2, (3, n + 1)).to(dtype)
    tensors |= {"scalar": torch.tensor(2.5), "empty": torch.empty(0, 7)}
    save_file(tensors, tmp_path / "m.safetensors", {"format": "pt"})
    file = open_safetensors(tmp_path / "m.safetensors")
    assert set(file.names()) == set(tensors)
    assert file.metadata == {"format": "pt"}
    for name, tensor in tensors.items():
        assert (file.shape(name), file.dtype(name)) == (tuple(tensor.shape), tensor.dtype)
        assert file.tensor(name).dtype == tensor.dtype
        assert torch.equal(file.tensor(name).view(torch.uint8), tensor.view(torch.uint8)) if tensor.dim() else True
    with pytest.raises(CheckpointError, match="no tensor absent"):
        file.tensor("absent")


BOMBS = {
    "empty": b"",
    "seven bytes": b"\0" * 7,
    "header beyond file": pack({}, length=9),
    "header of 2^63": pack({}, length=1 << 63),
    "header above 10 MB": pack(b"{" + b" " * 10_000_001 + b"}"),
    "not utf-8": pack(b"\xff\xfe{}"),
    "not json": pack(b"{'a': 1}"),
    "an array": pack([1, 2]),
    "null": pack(None),
    "deep array": pack(b'{"a":' + b"[" * 4_000_000),
    "three million lists": pack(b'{"a":[' + b"[]," * 3_000_000 + b"[]]}"),
    "closed deep array": pack(b'{"a":' + b"[" * 500 + b"]" * 500 + b"}"),
    "a key twice": pack(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"dtype":"F32"}}'),
    "a tensor twice": pack(
        b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
    ),
    "100,001 tensors": pack({f"{n}": entry("U8", (0,), (0, 0)) for n in range(100_001)}),
    "unknown dtype": pack({"a": entry("F3")}, b"1234"),
    "dtype of dtype": pack({"a": entry(["F32"])}, b"1234"),
    "negative shape": pack({"a": entry(shape=(-1, -1))}, b"1234"),
    "boolean shape": pack({"a": entry(shape=(True,))}, b"1234"),
    "float shape": pack({"a": entry(shape=(1.0,))}, b"1234"),
    "text shape": pack({"a": {**entry(), "shape": "1"}}, b"1234"),
    "product overflows to 1": pack({"a": entry(shape=(2**32, 2**32))}, b""),
    "10^4000": pack(b'{"a":{"dtype":"F32","shape":[1' + b"0" * 4000 + b'],"data_offsets":[0,4]}}', b"1234"),
    "10^5000": pack(b'{"a":{"dtype":"F32","shape":[1' + b"0" * 5000 + b'],"data_offsets":[0,4]}}', b"1234"),
    "huge beside zero": pack({"a": entry(shape=(2**60, 2**60, 0), offsets=(0, 0))}),
    "17 dimensions": pack({"a": entry(shape=(1,) * 17)}, b"1234"),
    "shape and range differ": pack({"a": entry(shape=(2,))}, b"1234"),
    "range larger than shape": pack({"a": entry(offsets=(0, 8))}, b"12345678"),
    "range beyond file": pack({"a": entry(shape=(2**20,), offsets=(0, 2**22))}, b"1234"),
    "negative range": pack({"a": entry(offsets=(-4, 0))}, b"1234"),
    "three offsets": pack({"a": entry(offsets=(0, 4, 8))}, b"1234"),
    "overlap": pack({"a": entry(), "b": entry(offsets=(2, 6))}, b"123456"),
    "same bytes twice": pack({"a": entry(), "b": entry()}, b"1234"),
    "hole": pack({"a": entry(), "b": entry(offsets=(8, 12))}, b"1" * 12),
    "tail": pack({"a": entry()}, b"12345"),
    "metadata of numbers": pack({"__metadata__": {"a": 1}}),
    "metadata is a list": pack({"__metadata__": []}),
    "an extra field": pack({"a": {**entry(), "evil": 1}}, b"1234"),
    "a field missing": pack({"a": {"dtype": "F32", "shape": [1]}}, b"1234"),
    "tensor is a number": pack({"a": 7}, b"1234"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused(name, refused):
    refused(open_safetensors, BOMBS[name])


def test_errors_name_the_expected_and_the_found(refused):
    error = refused(open_safetensors, BOMBS["hole"])
    assert error.values["expected"] == 4
    assert error.values["found"] == 8
    assert "应从数据第 4 字节开始" in error.cause("zh")


def test_what_is_not_a_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent", tmp_path / "a\0b"):
        with pytest.raises(CheckpointError):
            open_safetensors(path)


def test_a_rust_panic_becomes_our_error(tmp_path, monkeypatch):
    class PanicException(BaseException):
        pass

    def panic(*_args, **_options):
        raise PanicException("index out of bounds")

    save_file({"a": torch.zeros(1)}, tmp_path / "m.safetensors")
    monkeypatch.setattr("clearformer.checkpoint.safetensors_file.safe_open", panic)
    with pytest.raises(CheckpointError, match="PanicException: index out of bounds"):
        open_safetensors(tmp_path / "m.safetensors").tensor("a")

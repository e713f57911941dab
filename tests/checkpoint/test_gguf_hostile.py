"""GGUF files made to hurt: each is refused by name, in time, within memory."""

from __future__ import annotations

import struct

import pytest
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFValueType as Value

from checkpoint.gguf_bytes import array, build, info, nested, pair, text, u32, u64
from clearformer.checkpoint.gguf_file import open_gguf

A = Value.ARRAY
D16 = b"\0" * 16
BOMBS = {
    "empty": b"",
    "magic alone": b"GGUF",
    "wrong magic": build(magic=b"GGML"),
    "version 0": build(version=0),
    "version 1": build(version=1),
    "version 4": build(version=4),
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "2^63 tensors": build(tensor_count=1 << 63),
    "2^63 keys": build(pair_count=1 << 63),
    "100,001 keys": build([pair(str(n), Value.UINT8, b"\0") for n in range(100_001)]),
    "100,000 claimed tensors": build(tensor_count=100_000),
    "key beyond file": build([u64(1 << 40)]),
    "key of 2^64-1": build([u64((1 << 64) - 1) + D16]),
    "string beyond file": build([pair("k", Value.STRING, u64(1 << 62))]),
    "array of 2^60 bytes": build([pair("k", A, array(Value.UINT8, 1 << 60))]),
    "array of 2^60 strings": build([pair("k", A, array(Value.STRING, 1 << 60))]),
    "array of 2^60 empty arrays": build([pair("k", A, array(A, 1 << 60))]),
    "array whose bytes overflow": build([pair("k", A, array(Value.UINT64, 1 << 61))]),
    "nested arrays": build([pair("k", A, nested(60))]),
    "nested arrays without end": build([pair("k", A, array(A, 1) * 200_000)]),
    "three million empty strings": build([pair("k", A, array(Value.STRING, 3_000_000, b"\0" * 24_000_000))]),
    "arrays of empty arrays": build([pair(str(n), A, array(A, 400_000, array(0, 0) * 400_000)) for n in range(6)]),
    "value type 13": build([pair("k", 13, b"\0")]),
    "array type 13": build([pair("k", A, array(13, 0))]),
    "boolean of 2": build([pair("k", Value.BOOL, b"\2")]),
    "a key twice": build([pair("k", Value.UINT8, b"\0"), pair("k", Value.UINT8, b"\0")]),
    "key not utf-8": build([text(b"\xff\xfe") + u32(0) + b"\0"]),
    "string not utf-8": build([pair("k", Value.STRING, text(b"\xc3("))]),
    "alignment 0": build([pair("general.alignment", Value.UINT32, u32(0))]),
    "alignment 3": build([pair("general.alignment", Value.UINT32, u32(3))]),
    "alignment of text": build([pair("general.alignment", Value.STRING, text("32"))]),
    "alignment of a list": build([pair("general.alignment", A, array(Value.UINT32, 1, u32(32)))]),
    "one of two parts": build([pair("split.count", Value.UINT16, b"\2\0")]),
    "tensor twice": build(tensors=[info("t"), info("t", start=32)], data=b"\0" * 48),
    "5 dimensions": build(tensors=[info("t", (1,) * 5)], data=D16),
    "2^32-1 dimensions": build(tensors=[text("t") + u32(2**32 - 1) + D16]),
    "size overflows to 0": build(tensors=[info("t", (2**32, 2**32))], data=D16),
    "2^63 numbers": build(tensors=[info("t", (1 << 63,))], data=D16),
    "huge beside zero": build(tensors=[info("t", (1 << 62, 0, 1 << 62))], data=D16),
    "type 4, removed": build(tensors=[info("t", kind=4)], data=D16),
    "type 2^31": build(tensors=[info("t", kind=1 << 31)], data=D16),
    "row not of whole blocks": build(tensors=[info("t", (33,), Kind.Q4_0)], data=b"\0" * 64),
    "offset not aligned": build(tensors=[info("t", start=4)], data=b"\0" * 64),
    "offset beyond file": build(tensors=[info("t", start=1 << 40)], data=D16),
    "offset wraps around": build(tensors=[info("t", start=(1 << 64) - 32)], data=D16),
    "data beyond file": build(tensors=[info("t", (1 << 30,))], data=D16),
    "data missing": build(tensors=[info("t")]),
    "overlap": build(tensors=[info("a", (16,)), info("b", (4,), start=32)], data=b"\0" * 64),
    "the same data 1000 times": build(tensors=[info(str(n)) for n in range(1000)], data=D16),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused(name, refused):
    refused(open_gguf, BOMBS[name])


def test_the_bombs_are_built_right(tmp_path):
    """The builder's file without a fault is read; so what refuses a bomb is its fault."""
    pairs = [pair("k", A, nested(2)), pair("s", Value.STRING, text("é")), pair("split.count", Value.UINT16, b"\1\0")]
    (tmp_path / "m.gguf").write_bytes(build(pairs, [info("t"), info("u", start=32)], b"\0" * 32 + b"\0\0\x80?" * 4))
    file = open_gguf(tmp_path / "m.gguf")
    assert (file.metadata["k"], file.metadata["s"]) == ([[[1]]], "é")
    assert file.tensor("u").tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("name", "said"), [("big-endian", "大端序"), ("version 1", "第 2 或 3 版"), ("one of two parts", "分片")]
)
def test_each_refusal_says_why(name, said, refused):
    assert said in refused(open_gguf, BOMBS[name]).cause("zh")

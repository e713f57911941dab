"""GGUF files part by part, right or wrong on purpose."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from gguf import GGMLQuantizationType as Kind
from gguf import GGUFValueType as Value


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


def u64(number: int) -> bytes:
    return struct.pack("<Q", number)


def text(value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return u64(len(value)) + value


def pair(key: bytes | str, kind: int, value: bytes) -> bytes:
    return text(key) + u32(kind) + value


def info(name: bytes | str, sizes: Sequence[int] = (4,), kind: int = Kind.F32, start: int = 0) -> bytes:
    return text(name) + u32(len(sizes)) + b"".join(map(u64, sizes)) + u32(kind) + u64(start)


def build(pairs=(), tensors=(), data=b"", *, version=3, tensor_count=None, pair_count=None, magic=b"GGUF") -> bytes:
    counts = u64(len(tensors) if tensor_count is None else tensor_count)
    counts += u64(len(pairs) if pair_count is None else pair_count)
    header = magic + u32(version) + counts + b"".join(pairs) + b"".join(tensors)
    return header + b"\0" * (-len(header) % 32) + data


def array(kind: int, count: int, content: bytes = b"") -> bytes:
    return u32(kind) + u64(count) + content


def nested(levels: int) -> bytes:
    return b"".join(array(Value.ARRAY, 1) for _ in range(levels)) + array(Value.UINT8, 1, b"\1")


def typed(value: object) -> bytes | None:
    """A Python value as GGUF types it, type and bytes; None for what GGUF has no type for."""
    if isinstance(value, list):
        parts = [typed(item) for item in value]
        if None in parts or len({part[:4] for part in parts if part}) > 1:
            return None
        kind = parts[0][:4] if parts and parts[0] else u32(Value.UINT8)
        return u32(Value.ARRAY) + kind + u64(len(parts)) + b"".join(part[4:] for part in parts if part)
    match value:
        case bool():
            return u32(Value.BOOL) + bytes([value])
        case int() if 0 <= value < 1 << 32:
            return u32(Value.UINT32) + u32(value)
        case int() if -(1 << 63) <= value < 1 << 63:
            return u32(Value.INT64) + struct.pack("<q", value)
        case float():
            return u32(Value.FLOAT64) + struct.pack("<d", value)
        case str():
            return u32(Value.STRING) + text(value.encode("utf-8", "surrogatepass"))
        case _:
            return None

"""Damage for files: to their bytes, and to what their bytes mean. A seed is a file."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Sequence
from typing import Any

EXTREMES = (0, 1, 2, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
_SPLICES = (b"-1", b"0", b"1e999", b"null", b"[]", b"{}", b"9" * 20, b"true", b'"x"', b"NaN", b"\xff" * 8, b"\0" * 8)
_SPLICES += (b'"\\ud800"', b"[" * 200, b'{"a":' * 100, b"\xef\xbb\xbf", b"//", b"-Infinity", b"1" * 5000, b"\r\n")
_AGAIN = "@again@"


def nasty(dice: random.Random) -> Any:
    """A value that a reader might not have thought of."""
    match dice.randrange(5):
        case 0:
            return dice.choice((None, True, False, [], {}, "", "x", "\ud800", "\0", "../../etc/passwd", "a" * 5000))
        case 1:
            return dice.choice((-1, 0, 1, 2, 3, 7, 10**9, 2**31 - 1, 2**31, 2**63, 2**64, 10**30, -(10**30), 10**400))
        case 2:
            return dice.choice(
                (0.0, -0.0, 0.5, -1.5, 1e-300, 1e38, 1e308, float("nan"), float("inf"), float("-inf"), 2.0)
            )
        case 3:
            return dice.choice(
                ([1], [[]], [None] * 3, ["x"] * 1000, [0] * 5000, {"rope_type": "yarn"}, {"type": "BPE"})
            )
        case _:
            inner: Any = dice.choice((0, "x", None))
            for _ in range(dice.choice((3, 30, 70, 400))):
                inner = [inner] if dice.random() < 0.5 else {"a": inner}
            return inner


def _another(number: float, dice: random.Random) -> float:
    """A number that may still be one: a little other, or of another order."""
    others = (number + 1, number - 1, number * 2, number * 1000, -number, 10**9, 2**31, 1e38, 1, 2, 7, 0.5, 1e-30, 64)
    return dice.choice(others)


def damaged(content: bytes, others: Sequence[bytes], dice: random.Random, head: int = 400) -> bytes:
    """One to four blows, half of them within the first `head` bytes, where counts and lengths are."""
    data = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 4))):
        if not data:
            return b""
        at = dice.randrange(min(head, len(data)) if dice.random() < 0.5 else len(data))
        match dice.randrange(9):
            case 0:
                data[at] ^= 1 << dice.randrange(8)
            case 1:
                data[at] = dice.choice(b'\x00\xff\x7f\x80"{}[]:,-0')
            case 2:
                del data[at + 1 :]
            case 3:
                layout = dice.choice(("<Q", "<I", ">Q"))
                size = struct.calcsize(layout)
                data[at : at + size] = struct.pack(layout, dice.choice(EXTREMES) % (1 << (8 * size)))
            case 4:
                data[at:at] = data[at : at + dice.randint(1, 60)]
            case 5:
                del data[at : at + dice.randint(1, 20)]
            case 6:  # two lengths change places
                other, size = dice.randrange(len(data)), dice.choice((1, 4, 8))
                first, second = data[at : at + size], data[other : other + size]
                data[at : at + size], data[other : other + size] = second, first
            case 7:
                donor = dice.choice(others)
                start = dice.randrange(len(donor))
                data[at : at + dice.randrange(40)] = donor[start : start + dice.randint(1, 200)]
            case _:
                splice = dice.choice(_SPLICES)
                data[at : at + len(splice)] = splice
    return bytes(data)


def changed(tree: Any, others: Sequence[Any], dice: random.Random) -> Any:
    """A copy with one to three of its values replaced, dropped, doubled, renamed, exchanged or taken from another."""
    tree = copy.deepcopy(tree)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = _places(tree, dice)
        if not places:
            return nasty(dice)
        holder, key = dice.choice(places)
        match dice.randrange(8):
            case 0 | 1 if isinstance(holder[key], int | float):
                holder[key] = _another(holder[key], dice)
            case 0 | 1 | 2:
                holder[key] = nasty(dice)
            case 3:
                del holder[key]
            case 4:
                other, place = dice.choice(places)
                holder[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(holder[key])
            case 5:
                donor_holder, donor_key = dice.choice(_places(dice.choice(others), dice) or [(holder, key)])
                value = copy.deepcopy(donor_holder[donor_key])
                holder[donor_key if isinstance(holder, dict) and isinstance(donor_key, str) else key] = value
            case 6 if isinstance(holder, dict):
                holder[_AGAIN + key] = nasty(dice) if dice.random() < 0.5 else holder[key]
            case _ if isinstance(holder, dict):
                holder[dice.choice((key + "_", key[:-1], key.upper(), "x", "\ud800", "__metadata__"))] = holder.pop(key)
            case _:
                holder.insert(key, nasty(dice))
    return tree


def written(tree: Any) -> bytes:
    """As JSON, with the keys that `changed` doubled standing twice."""
    return json.dumps(tree).replace(_AGAIN, "").encode("utf-8", "surrogatepass")


def _places(tree: Any, dice: random.Random) -> list[tuple[Any, Any]]:
    """Where a value may be changed: of long lists and tables only a few members, so that all parts have their turn."""
    found: list[tuple[Any, Any]] = []
    level = [tree]
    for _ in range(6):
        inner = []
        for holder in level:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            for key in dice.sample(keys, min(len(keys), 40)):
                found.append((holder, key))
                if isinstance(holder[key], dict | list) and holder[key]:
                    inner.append(holder[key])
        level = inner
    return found

"""The four kinds of file that come from others: how a valid one is damaged, and how all of it is read."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clearformer.checkpoint.safetensors_file import open_safetensors
from clearformer.cli.spec_source import spec_of_file
from clearformer.cost.pricing import cost
from clearformer.errors import CheckpointError, ClearformerError, SpecError, TokenizerError
from clearformer.families import family_of
from clearformer.families.generation import read_generation
from clearformer.load import look
from clearformer.store import Located
from clearformer.text.load import tokenizer_from_folder
from hostile import seeds
from hostile.mutating import changed, damaged, written

TEXT = "the cat  sat\non Ünïcode 12345 <s> 猫"


@dataclass(frozen=True)
class FileKind:
    """`draw` gives a damaged file; `read` reads every part of it; `refusals` are the errors that it may end with."""

    draw: Callable[[random.Random], bytes]
    read: Callable[[Path], None]
    refusals: tuple[type[ClearformerError], ...]


def read_safetensors(path: Path) -> None:
    file = open_safetensors(path)
    for name in file.names():
        file.tensor(name)


def read_gguf(path: Path) -> None:
    found = look(Located("gguf", path, "m"))
    for name in found.tensors.names():
        found.tensors.tensor(name)
    if found.tokenizer is not None:
        found.tokenizer.decode(found.tokenizer.encode(TEXT))


def read_config(path: Path) -> None:
    spec = spec_of_file(path)
    data = json.loads(path.read_bytes())
    if "model_type" in data:
        list(family_of(data).table(spec))
        read_generation({}, data, path)
    cost(spec)


def read_tokenizer(path: Path) -> None:
    tokenizer = tokenizer_from_folder(path.parent)
    ids = tokenizer.encode(TEXT)
    tokenizer.decode(ids)
    tokenizer.encode_literal("<s>")
    for token_id in ids[:4]:
        tokenizer.token(token_id)


def kind_of(name: str) -> FileKind:
    """The kind of that name, with its seeds."""
    match name:
        case "safetensors":
            return FileKind(partial(_safetensors, seeds.safetensors()), read_safetensors, (CheckpointError,))
        case "gguf":
            return FileKind(partial(_gguf, seeds.gguf_parts()), read_gguf, (CheckpointError, TokenizerError))
        case "config":
            return FileKind(partial(_json, seeds.configs()), read_config, (CheckpointError, SpecError))
        case "tokenizer":
            return FileKind(partial(_json, seeds.tokenizers_json()), read_tokenizer, (TokenizerError,))
    raise ValueError(name)


def _json(trees: list[Any], dice: random.Random) -> bytes:
    tree = dice.choice(trees)
    if dice.random() < 0.75:
        return written(changed(tree, trees, dice))
    content = [written(each) for each in (tree, dice.choice(trees))]
    return damaged(content[0], content, dice, head=600)


def _safetensors(files: list[bytes], dice: random.Random) -> bytes:
    content = dice.choice(files)
    if dice.random() < 0.5:
        return damaged(content, files, dice)
    headers = [json.loads(each[8 : 8 + int.from_bytes(each[:8], "little")]) for each in files]
    header = written(changed(headers[files.index(content)], headers, dice))
    data = content[8 + int.from_bytes(content[:8], "little") :]
    return struct.pack("<Q", len(header)) + header + data


def _gguf(parts: list[Any], dice: random.Random) -> bytes:
    metadata, tensors = dice.choice(parts)
    if dice.random() < 0.5:
        content = seeds.gguf_bytes(metadata, tensors)
        return damaged(content, [content], dice, head=dice.choice((300, 3000)))
    if dice.random() < 0.7:
        return seeds.gguf_bytes(changed(metadata, [each for each, _ in parts], dice), tensors)
    return seeds.gguf_bytes(metadata, _other_tensors(tensors, dice))


def _other_tensors(tensors: list[list[Any]], dice: random.Random) -> list[list[Any]]:
    """Names, sizes and types that were not meant; never so much data that the test itself would need memory."""
    found = [[name, list(sizes), kind] for name, sizes, kind in tensors]
    for _ in range(dice.randint(1, 3)):
        one = dice.choice(found)
        match dice.randrange(5):
            case 0:
                one[0] = dice.choice(("token_embd.weight", "rope_freqs.weight", "", "x" * 300, "\ud800", "a\0b"))
            case 1:
                one[1] = [dice.choice((0, 1, 2, 48, 107, 2**31, 2**40, 2**63)) for _ in range(dice.randint(0, 5))]
            case 2:
                one[2] = int(dice.choice((0, 1, 2, 3, 8, 12, 14, 16, 24, 30, 34, 39, 40, 99, 2**31)))
            case 3:
                found.append(list(one))
            case _ if len(found) > 1:
                found.remove(one)
    return found

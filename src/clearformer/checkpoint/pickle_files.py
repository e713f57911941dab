"""Folders whose weights are legacy pickles: which files those are, and the same weights as safetensors beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from clearformer.checkpoint.atomic import new_files
from clearformer.checkpoint.folder import INDEX, MAX_INDEX, WEIGHTS
from clearformer.checkpoint.pickle_process import convert_pickle
from clearformer.checkpoint.reading import given, inside, open_regular, read_json
from clearformer.checkpoint.writing import to_json
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say
from clearformer.messages import pickles

PICKLE = "pytorch_model.bin"
PICKLE_INDEX = "pytorch_model.bin.index.json"
_SHARD = re.compile(r"pytorch_model-\d{5}-of-\d{5}\.bin", re.ASCII)
_MOST_SHARDS = 1000


def pickles_of(folder: Path) -> tuple[Path, ...]:
    """The folder's pickles of weights, of which each is inside it; none where it has none. Raises CheckpointError."""
    if given(folder, PICKLE):
        return (inside(folder, PICKLE),)
    if not given(folder, PICKLE_INDEX):
        return ()
    path = inside(folder, PICKLE_INDEX)
    shards = read_json(path, MAX_INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise CheckpointError(say.BAD_INDEX, path=path, found=type(shards).__name__)
    for name in shards.values():
        if not isinstance(name, str) or not _SHARD.fullmatch(name):
            raise CheckpointError(say.BAD_INDEX, path=path, found=name)
    names = sorted(set(shards.values()))
    if len(names) > _MOST_SHARDS:
        raise CheckpointError(pickles.TOO_MANY, path=path, limit=_MOST_SHARDS, found=len(names))
    return tuple(inside(folder, name) for name in names)


def convert_folder(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    """Write the weights of the pickles in `source` as safetensors into the folder `target`, all files or none.

    `progress` is told bytes done and bytes in all. Raises CheckpointError.
    """
    if not (found := pickles_of(source)):
        raise CheckpointError(say.NO_WEIGHTS, path=source)
    sizes = [_size(path) for path in found]
    last = WEIGHTS if len(found) == 1 else INDEX
    with new_files(target, last=last) as shop:
        shard_of: dict[str, str] = {}
        for number, path in enumerate(found):
            progress(sum(sizes[:number]), sum(sizes))
            name = WEIGHTS if len(found) == 1 else f"model-{number + 1:05}-of-{len(found):05}.safetensors"
            for tensor in convert_pickle(path, shop / name).names():
                if shard_of.setdefault(tensor, name) != name:
                    raise CheckpointError(say.SHARD_TWICE, path=source, name=tensor)
        if last == INDEX:
            (shop / INDEX).write_bytes(to_json({"metadata": {}, "weight_map": shard_of}))
        progress(sum(sizes), sum(sizes))


def _size(path: Path) -> int:
    file, size = open_regular(path)
    file.close()
    return size

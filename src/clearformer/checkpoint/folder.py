"""A Hugging Face folder: config.json, safetensors in one file or in shards behind an index, generation_config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from clearformer.checkpoint.reading import given, inside, read_json
from clearformer.checkpoint.safetensors_file import SafetensorsFile, open_safetensors
from clearformer.checkpoint.tensor_file import MAX_TENSORS, TensorFile
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
GENERATION = "generation_config.json"
RECIPE = "recipe.yaml"
"""Beside a model that was trained here; such a folder is held to its manifest."""

# A config may carry the names of 21,841 classes; an index one line a tensor.
MAX_CONFIG = 10_000_000
MAX_INDEX = 20_000_000

# Pickles are converted when asked for; the others need a framework that we do not carry.
_LEGACY = {
    "pytorch_model.bin": say.LEGACY,
    "pytorch_model.bin.index.json": say.LEGACY,
    "tf_model.h5": say.FOREIGN_WEIGHTS,
    "flax_model.msgpack": say.FOREIGN_WEIGHTS,
    "consolidated.00.pth": say.FOREIGN_WEIGHTS,
}


@dataclass(frozen=True)
class Checkpoint:
    """A folder's contents: the foreign config as it stands, the weights unread, the generation defaults (or none)."""

    path: Path
    config: Mapping[str, object]
    tensors: TensorFile
    generation: Mapping[str, object]


@dataclass(frozen=True)
class ShardedFile:
    """Several safetensors files seen as one; see `TensorFile`."""

    path: Path
    metadata: Mapping[str, object]
    shard_of: Mapping[str, SafetensorsFile]

    def names(self) -> tuple[str, ...]:
        return tuple(self.shard_of)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._shard(name).shape(name)

    def dtype(self, name: str) -> torch.dtype:
        return self._shard(name).dtype(name)

    def tensor(self, name: str) -> torch.Tensor:
        return self._shard(name).tensor(name)

    def _shard(self, name: str) -> SafetensorsFile:
        if name not in self.shard_of:
            raise CheckpointError(say.NO_TENSOR, path=self.path, name=name)
        return self.shard_of[name]


def open_folder(path: Path | str) -> Checkpoint:
    """Read the configs and check the headers of the weights; no tensor is read yet. Raises CheckpointError."""
    path = Path(path)
    if not (path / CONFIG).is_file():
        raise CheckpointError(say.NOT_FOLDER, path=path)
    config = read_json(inside(path, CONFIG), MAX_CONFIG)
    generation: Mapping[str, object] = {}
    if given(path, GENERATION):
        generation = read_json(inside(path, GENERATION), MAX_CONFIG)
    return Checkpoint(path, config, open_weights(path), generation)


def open_weights(path: Path) -> TensorFile:
    """The weights of a folder. Raises CheckpointError, by name for pickles and other legacy formats."""
    if given(path, WEIGHTS):
        return open_safetensors(inside(path, WEIGHTS))
    if given(path, INDEX):
        return _open_shards(path)
    for name, failure in _LEGACY.items():
        if given(path, name):
            raise CheckpointError(failure, path=path, name=name)
    raise CheckpointError(say.NO_WEIGHTS, path=path)


def _open_shards(folder: Path) -> ShardedFile:
    index_path = inside(folder, INDEX)
    index = read_json(index_path, MAX_INDEX)
    weight_map = _weight_map(index.get("weight_map"), index_path)
    shards: dict[str, SafetensorsFile] = {}
    for name in sorted(set(weight_map.values())):
        if not (shard := inside(folder, name)).is_file():
            raise CheckpointError(say.SHARD_ABSENT, path=index_path, name=name)
        shards[name] = open_safetensors(shard)
    shard_of: dict[str, SafetensorsFile] = {}
    for name, shard_name in weight_map.items():
        if name not in shards[shard_name].entries:
            raise CheckpointError(say.SHARD_LACKS, path=index_path, name=name, shard=shard_name)
        shard_of[name] = shards[shard_name]
    # As Hugging Face does, take a shard's tensors even where the index forgot them.
    for file in shards.values():
        for name in file.names():
            if name not in weight_map and shard_of.setdefault(name, file) is not file:
                raise CheckpointError(say.SHARD_TWICE, path=index_path, name=name)
    metadata = index.get("metadata")
    return ShardedFile(folder, metadata if isinstance(metadata, dict) else {}, shard_of)


def _weight_map(value: object, path: Path) -> Mapping[str, str]:
    if not isinstance(value, dict) or not value:
        raise CheckpointError(say.BAD_INDEX, path=path, found=type(value).__name__)
    if len(value) > MAX_TENSORS:
        raise CheckpointError(say.TOO_MANY_TENSORS, path=path, limit=MAX_TENSORS, found=len(value))
    for name in value.values():
        if not isinstance(name, str) or not name.endswith(".safetensors"):
            raise CheckpointError(say.BAD_INDEX, path=path, found=name)
    return value

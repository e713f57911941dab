"""Writing weights and whole model folders, atomically, in the layout that transformers reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from clearformer.checkpoint.atomic import new_file, new_files, new_folder
from clearformer.checkpoint.folder import CONFIG, GENERATION, WEIGHTS
from clearformer.checkpoint.manifest import MANIFEST, write_manifest
from clearformer.checkpoint.reading import inside
from clearformer.errors import CheckpointError
from clearformer.messages import checkpoint as say


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> None:
    """Write one safetensors file, whole or not at all. Raises CheckpointError."""
    with new_file(path) as temporary:
        _save(temporary, tensors, metadata)


def save_folder(
    path: Path,
    config: Mapping[str, object],
    tensors: Mapping[str, Tensor],
    generation: Mapping[str, object] | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> None:
    """Write config.json, model.safetensors, the `extra` files by their path within, and a manifest of their SHA-256.

    The folder appears whole or not at all; it must not exist before. Raises CheckpointError.
    """
    with new_folder(path) as temporary:
        _fill(temporary, config, tensors, generation, extra)


def save_into(
    path: Path,
    config: Mapping[str, object],
    tensors: Mapping[str, Tensor],
    generation: Mapping[str, object] | None = None,
    extra: Mapping[str, bytes] | None = None,
) -> None:
    """The same into a folder that is there and whose other files stay, unlisted. Each file is whole, old or new, and
    everything is on the disk before the first is replaced; the manifest is the last. Raises CheckpointError."""
    with new_files(path, last=MANIFEST) as temporary:
        _fill(temporary, config, tensors, generation, extra)


def to_json(value: Mapping[str, object]) -> bytes:
    """JSON as Hugging Face writes it: indented, keys in order, UTF-8, a newline at the end."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")


def _fill(
    folder: Path,
    config: Mapping[str, object],
    tensors: Mapping[str, Tensor],
    generation: Mapping[str, object] | None,
    extra: Mapping[str, bytes] | None,
) -> None:
    (folder / CONFIG).write_bytes(to_json(config))
    if generation:
        (folder / GENERATION).write_bytes(to_json(generation))
    for name, content in (extra or {}).items():
        *inner, file = name.split("/")
        place = folder
        for part in inner:
            place = inside(place, part)
            place.mkdir(exist_ok=True)
        inside(place, file).write_bytes(content)
    _save(folder / WEIGHTS, tensors, None)
    write_manifest(folder)


def _save(target: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> None:
    whole = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    try:
        # transformers refuses a file whose metadata does not name the framework.
        save_file(whole, target, {"format": "pt", **(metadata or {})})
    except SafetensorError as error:  # what the library makes of a full disk
        raise CheckpointError(say.WRITE_FAILED, path=target, detail=error) from error

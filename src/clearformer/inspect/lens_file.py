"""A tuned lens in a file: safetensors, and in its metadata of which model it is. It is read for that model alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch

from clearformer.checkpoint.safetensors_file import open_safetensors
from clearformer.checkpoint.writing import save_tensors
from clearformer.errors import CheckpointError, UsageError
from clearformer.inspect.lens import asked_stack
from clearformer.inspect.subject import single_way
from clearformer.inspect.tuned_lens import TunedLens
from clearformer.load import Loaded
from clearformer.messages import lens as say
from clearformer.model import Model
from clearformer.spec.typed import write

FORMAT = "clearformer tuned lens 1"
_SAMPLE = 1024


def save_lens(path: Path, made: TunedLens, looked_at: Loaded | Model) -> None:
    """Write the maps, whole or not at all, with the fingerprint of the model. Raises CheckpointError."""
    require_place(path)
    name = looked_at.name if isinstance(looked_at, Loaded) else type(looked_at).__name__
    maps = {each: value.detach().cpu().contiguous() for each, value in made.named_parameters()}
    save_tensors(path, maps, {"format": FORMAT, "model": fingerprint(single_way(looked_at)), "name": name})


def require_place(path: Path) -> None:
    """Raises UsageError where a file lies that is no tuned lens: it would be lost."""
    if not path.exists():
        return
    try:
        kept = open_safetensors(path).metadata.get("format")
    except CheckpointError:
        kept = None
    if kept != FORMAT:
        raise UsageError(say.OTHER_FILE, path=path)


def read_lens(path: Path, looked_at: Loaded | Model) -> TunedLens:
    """The maps of a file, on the model's device.

    Raises CheckpointError for a file that is damaged, UsageError for one that holds no tuned lens, or another model's.
    """
    model = single_way(looked_at)
    stack, file = asked_stack(model), open_safetensors(path)
    if file.metadata.get("format") != FORMAT:
        raise UsageError(say.NO_LENS, path=path)
    made = TunedLens(len(stack.blocks) + 1, stack.spec.width)
    found = {}
    for name, parameter in made.named_parameters():
        shape = file.shape(name) if name in file.names() else ()
        if shape != tuple(parameter.shape):
            raise UsageError(say.OTHER_SIZE, path=path, expected=shape or "–", found=tuple(parameter.shape))
        found[name] = file.tensor(name).float()
        if not found[name].isfinite().all():
            raise UsageError(say.NOT_FINITE, path=path, name=name)
    if file.metadata.get("model") != fingerprint(model):
        raise UsageError(say.OTHER_WEIGHTS, path=path, name=file.metadata.get("name", "–"))
    made.load_state_dict(found)
    return made.to(next(model.parameters()).device).requires_grad_(False)


@torch.no_grad()
def fingerprint(model: Model) -> str:
    """The spec and a sample of every weight, rounded to bfloat16: the same for float32 and for what was rounded from
    it, another for another model or another step of training."""
    digest = hashlib.sha256(json.dumps(write(model.spec), sort_keys=True, default=str).encode())
    for name, weight in sorted(model.state_dict().items()):
        numbers = weight.flatten()
        sample = numbers[:: max(1, len(numbers) // _SAMPLE)].to(torch.bfloat16).view(torch.int16)
        digest.update(f"{name} {tuple(weight.shape)}".encode() + sample.cpu().numpy().tobytes())
    return digest.hexdigest()

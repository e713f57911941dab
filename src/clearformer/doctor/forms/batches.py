"""A batch, whatever its form: which tensor holds the ids, which the labels, which the mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.forms.arguments import role_of
from clearformer.doctor.forms.trial import UnfitError

IGNORED = -100


@dataclass(frozen=True)
class Batch:
    """`raw` is what is handed on; the views are None where it has no such tensor."""

    raw: Any
    ids: Tensor
    """(B T): what the model reads; an encoder-decoder's target side."""
    labels: Tensor | None = None
    """(B T) or (B T-1)."""
    mask: Tensor | None = None
    """(B T) as it stands in the batch."""

    @property
    def aim(self) -> Tensor:
        """The labels, or the ids where the loss makes its own labels of them."""
        return self.ids if self.labels is None else self.labels


class Lenient(dict[str, Any]):
    """A dictionary that answers to the usual other names of its keys: `batch["tokens"]` for `input_ids`."""

    def __missing__(self, key: str) -> Any:
        role = role_of(key, ["labels", "targets", "ids", "mask"])
        for name, value in self.items():
            if role is not None and role == role_of(name, ["labels", "targets", "ids", "mask"]):
                return value
        if role == "targets" and "labels" in self:
            return self["labels"]
        raise KeyError(key)


def read(raw: Any, *, target_side: bool = False) -> Batch:
    """Raises UnfitError where no tensor of ids is in it."""
    views = {name: tensor for name, tensor in _named(raw) if _looks_like_ids(tensor)}
    if not views:
        raise UnfitError("no integer tensor (B T) in the batch")
    if all(isinstance(name, int) for name in views):
        return _by_place(raw, list(views.values()), target_side)
    roles: dict[str, Tensor] = {}
    for name, tensor in views.items():
        role = role_of(str(name), ["labels", "targets", "mask"])
        if role is None and str(name).startswith(("decoder", "tgt", "target")):
            role = "decoder_mask" if "mask" in str(name) else ("targets" if "out" in str(name) else "decoder")
        if role is None and "mask" not in str(name):
            role = role_of(str(name), ["ids"]) or "other"
        if role is not None:
            roles.setdefault(role, tensor)
    labels = roles.get("labels", roles.get("targets"))
    ids = roles.get("decoder", roles.get("ids")) if target_side else roles.get("ids")
    ids = next((each for each in (ids, roles.get("other"), labels) if each is not None), None)
    if ids is None:
        raise UnfitError("no ids in the batch")
    return Batch(raw, ids, labels, roles.get("mask"))


def padded(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Rows of different lengths, filled at the right (B T)."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])


def _named(raw: Any) -> Iterator[tuple[str | int, Tensor]]:
    if isinstance(raw, Tensor):
        yield 0, raw
    elif isinstance(raw, Mapping):
        yield from ((str(name), _tensor(value)) for name, value in raw.items() if _tensor(value) is not None)
    elif isinstance(raw, (tuple, list)) and not hasattr(raw, "_fields"):
        for at, value in enumerate(raw):
            if isinstance(value, Mapping):
                yield from _named(value)
            elif (tensor := _tensor(value)) is not None:
                yield at, tensor
    else:
        held = raw._asdict() if hasattr(raw, "_asdict") else getattr(raw, "data", None) or getattr(raw, "__dict__", {})
        yield from _named(dict(held))


def _tensor(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array__") and not isinstance(value, (str, bytes)):
        return torch.as_tensor(value)
    if isinstance(value, list) and value and isinstance(value[0], list):
        try:
            return torch.tensor(value)
        except (ValueError, TypeError):
            return None
    return None


def _looks_like_ids(tensor: Tensor) -> bool:
    return tensor.ndim == 2 and not tensor.is_complex() and (not tensor.is_floating_point() or _zero_one(tensor))


def _zero_one(tensor: Tensor) -> bool:
    return bool(((tensor == 0) | (tensor == 1)).all())


def _by_place(raw: Any, tensors: list[Tensor], target_side: bool) -> Batch:
    masks = [each for each in tensors if _zero_one(each)]
    words = [each for each in tensors if not _zero_one(each)]
    if not words:
        raise UnfitError("no ids in the batch")
    mask = masks[0] if masks else None
    if target_side and len(words) >= 2:
        return Batch(raw, words[1], words[2] if len(words) > 2 else None, mask)
    return Batch(raw, words[0], words[1] if len(words) > 1 else None, mask)

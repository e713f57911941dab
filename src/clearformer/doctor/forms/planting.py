"""Logits put in the place of a model's own, so that a loss can be asked what it rewards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Plant = Callable[[Tensor], Tensor]
"""Ids that the model read (B T) → logits (B T V)."""


class Planted(nn.Module):
    """A stand-in for a language model: `form` is what its forward gives."""

    def __init__(self, form: str, vocab_size: int) -> None:
        super().__init__()
        self.form, self.vocab_size = form, vocab_size
        self.weight = nn.Parameter(torch.zeros(()))
        self.plant: Plant | None = None
        self.config = SimpleNamespace(vocab_size=vocab_size)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        assert self.plant is not None
        logits = self.plant(read_ids(inputs, named)) + self.weight
        labels = next((named[name] for name in ("labels", "targets") if name in named), None)
        loss = None if labels is None else _own_loss(logits, labels, shifted="targets" in named)
        if self.form == "tuple":
            return logits, loss
        return SimpleNamespace(logits=logits, loss=loss) if self.form == "object" else logits


def _own_loss(logits: Tensor, labels: Tensor, *, shifted: bool) -> Tensor:
    """Labels that are the ids are moved on by one here, as Hugging Face's models do."""
    if not shifted:
        logits, labels = logits[:, :-1], labels[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def read_ids(inputs: tuple[Any, ...], named: Mapping[str, Any]) -> Tensor:
    """The ids that a call hands to a model: an encoder-decoder's are those of the target side."""
    for batch in (each for each in inputs if isinstance(each, Mapping)):
        named = {**batch, **named}
    for each in (each for each in inputs if isinstance(each, tuple | list)):
        inputs = (*inputs, *each)
    for name, value in named.items():
        if name.startswith(("decoder_input", "tgt", "target_in", "decoder_ids")) and _is_ids(value):
            return value
    others = (value for name, value in named.items() if name not in ("labels", "targets") and "mask" not in name)
    found = [value for value in (*inputs, *others) if _is_ids(value)]
    if not found:
        raise ValueError("the model was called without ids")
    return found[0]


def _is_ids(value: Any) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.ndim == 2 and value.dtype in (torch.int64, torch.int32)


@contextmanager
def planted(model: nn.Module, vocab_size: int, plant: Plant, *, target_side: bool = False) -> Iterator[None]:
    """Within, the model's logits are the planted ones: at its output head where it has one, else in its output.

    `target_side`: the second tensor of ids is the one that the logits belong to.
    """
    if isinstance(model, Planted):
        model.plant = plant
        yield
        return
    seen: list[Tensor] = []

    def look(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        chosen = read_ids(inputs, named)
        masks_out = {name: value for name, value in named.items() if "mask" not in name}
        handed = [value for value in (*inputs, *masks_out.values()) if _is_ids(value)]
        ids: list[Tensor] = [value for value in handed if value is chosen or int(value.max()) > 1]
        if target_side and chosen is ids[0] and len(ids) > 1:
            # A model that takes labels alone reads them one place later.
            chosen = ids[1] if ids[1] is not named.get("labels") else ids[1].clamp(min=0).roll(1, 1)
        seen[:] = [chosen]

    def put(_: nn.Module, __: tuple[Any, ...], output: Any) -> Any:
        return _exchanged(output, plant(seen[0]), vocab_size)

    head = [each for each in model.modules() if isinstance(each, nn.Linear) and each.out_features == vocab_size]
    handles = [
        model.register_forward_pre_hook(look, with_kwargs=True),
        (head[-1] if head else model).register_forward_hook(put),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _exchanged(output: Any, logits: Tensor, vocab_size: int) -> Any:
    """The output with its logits exchanged; they are the tensor whose last dimension is the vocabulary."""
    if isinstance(output, Tensor):
        if output.shape[-1] != vocab_size:
            return output
        if output.shape[:2] == logits.shape[1::-1] and output.shape[:2] != logits.shape[:2]:
            logits = logits.transpose(0, 1)
        return (logits if logits.shape == output.shape else logits.reshape(output.shape)).to(output) + 0 * output
    if isinstance(output, tuple) and not hasattr(output, "_fields"):
        return tuple(_exchanged(each, logits, vocab_size) for each in output)
    if isinstance(output, dict):
        for name, value in output.items():
            if isinstance(value, Tensor) and value.ndim == 3 and value.shape[-1] == vocab_size:
                output[name] = _exchanged(value, logits, vocab_size)
        return output
    if is_dataclass(output) and not isinstance(output, type):
        changed = {f.name: _exchanged(getattr(output, f.name), logits, vocab_size) for f in fields(output)}
        return replace(output, **changed)
    return output


def logits_in(output: Any, vocab_size: int) -> Tensor | None:
    """The tensor of an output whose last dimension is the vocabulary."""
    if isinstance(output, Tensor):
        return output if output.ndim >= 2 and output.shape[-1] == vocab_size and output.is_floating_point() else None
    held = output.values() if isinstance(output, dict) else output
    held = vars(output).values() if hasattr(output, "__dict__") and not isinstance(output, dict) else held
    if not isinstance(held, (tuple, list)) and not hasattr(held, "__iter__"):
        return None
    return next(
        (
            each
            for each in (logits_in(value, vocab_size) for value in held if isinstance(value, Tensor))
            if each is not None
        ),
        None,
    )

"""The user's generating function, asked: whichever arguments it takes, ids go in and the new ids come out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.signature import innermost
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.examination import Examination

_GREEDY: dict[str, object] = {"do_sample": False, "top_k": 1, "num_beams": 1, "use_cache": True}
"""Switches that make a generating function take the best token each time."""
_LENGTHS = ("max_new_tokens", "n_tokens", "num_tokens", "max_tokens", "n", "steps", "length", "new_tokens")
_MASKS = ("attention_mask", "mask", "padding_mask")


@dataclass(frozen=True)
class Generating:
    """`function` is greedy under the switches that are handed to it."""

    function: Callable[..., Any]
    subject: Subject
    own: bool
    """A method of the module, which is not handed the module."""

    def new(self, ids: Tensor, count: int, mask: Tensor | None = None) -> Tensor:
        """The ids (B count) that follow; fewer where an end was written."""
        named = self._switches()
        if mask is not None and (name := self.mask_name) is not None:
            named[name] = mask.long()
        placed = [ids] if self.own else [self.subject.module, ids]
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            found = self._called(placed, named, count)
        if isinstance(found, list | tuple):
            found = found[0] if isinstance(found[0], Tensor) else torch.tensor(found)
        found = torch.as_tensor(found, device=ids.device)
        found = found[None] if found.ndim == 1 else found
        repeats = found.shape[1] >= ids.shape[1] and torch.equal(found[:, : ids.shape[1]], ids)
        return found[:, ids.shape[1] :] if repeats else found

    def _called(self, placed: list[Any], named: dict[str, object], count: int) -> Any:
        length = next((name for name in _LENGTHS if name in self._parameters), None)
        if length is None and any(each.kind is inspect.Parameter.VAR_KEYWORD for each in self._parameters.values()):
            length = _LENGTHS[0]
        if length is not None:
            return self.function(*placed, **{length: count}, **named)
        return self.function(*placed, count, **named)

    @property
    def mask_name(self) -> str | None:
        """The argument that takes a padding mask."""
        if self.own and "kwargs" in self._parameters:
            return _MASKS[0]
        return next((name for name in _MASKS if name in self._parameters), None)

    @property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.function).parameters)

    def _switches(self) -> dict[str, object]:
        named = {name: value for name, value in _GREEDY.items() if name in self._parameters}
        if self.own and "kwargs" in self._parameters:
            # Hugging Face: its switches live in a config, and an untrained model may write the end at once.
            named |= {"do_sample": False, "num_beams": 1, "eos_token_id": None, "pad_token_id": 0, "use_cache": True}
        return named


def generating(examination: Examination) -> Generating | None:
    """The function that was handed in, else the module's own `generate`."""
    subject = examination.asked
    if examination.parts.generate is not None:
        return Generating(examination.parts.generate, subject, own=False)
    own = getattr(innermost(subject.module), "generate", None)
    if not callable(own) or not _is_greedy(own):
        return None
    return Generating(own, subject, own=True)


def _is_greedy(function: Callable[..., Any]) -> bool:
    """A method of the user's draws unless it has a switch against it; one of Hugging Face's has."""
    names = inspect.signature(function).parameters
    return "kwargs" in names or any(name in names for name in ("do_sample", "top_k"))


def lengths_read(module: nn.Module, generate: Callable[[], Any]) -> list[int]:
    """How many positions of ids the module is handed at each call while `generate` runs."""
    seen: list[int] = []

    def note(_: nn.Module, placed: Any, named: dict[str, Any]) -> None:
        ids = [each for each in (*placed, *named.values()) if isinstance(each, Tensor) and each.ndim == 2]
        if ids:
            seen.append(ids[0].shape[1])

    hook = module.register_forward_pre_hook(note, with_kwargs=True)
    try:
        generate()
    finally:
        hook.remove()
    return seen

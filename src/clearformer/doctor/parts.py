"""What a user hands in: a module, and whatever else of his training and decoding is to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import nn

Kind = Literal["decoder", "encoder", "encoder-decoder", "forecaster"]
KINDS: tuple[Kind, ...] = ("decoder", "encoder", "encoder-decoder", "forecaster")


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a user says of his module. What he leaves out is found out, or what rests on it is not judged."""

    kind: Kind | None = None
    vocab_size: int | None = None
    context: int | None = None
    """The longest input, in tokens, where there is one."""
    window: int | None = None
    """Positions that a query sees, itself included, where that is declared."""
    heads: int | None = None
    tied: bool | None = None
    """Whether embedding and output head are meant to be one tensor."""
    pad_id: int | None = None
    bos_id: int | None = None
    eos_id: int | None = None
    call: str | None = None
    """How the module is called, where finding out does not succeed: `ids=input_ids mask=attention_mask:keep`."""

    def declared(self) -> dict[str, Any]:
        """These facts alone, by their names."""
        return {each.name: getattr(self, each.name) for each in fields(Declared)}


@dataclass(frozen=True, kw_only=True)
class Parts(Declared):
    """Each part may be missing; the checks that need it are then skipped, with that as the reason.

    The callables are called in whichever of the documented forms they take, found by signature and trial
    (`docs/doctor.md` has the forms).
    """

    model: nn.Module | None = None
    loss: Callable[..., Any] | None = None
    """(logits [B, T, V], labels [B, T]) → scalar, or (model, batch) → scalar."""
    collate: Callable[..., Any] | None = None
    """A list of examples → a batch: a dictionary or a tuple of tensors."""
    tokenizer: Any | None = None
    """A path, one of ours, or an object with `encode` and `decode`."""
    generate: Callable[..., Any] | None = None
    """(model, ids [B, T], max_new_tokens) → ids [B, T + n], greedy."""
    sample: Callable[..., Any] | None = None
    """(logits [B, V], temperature=…, top_k=…, top_p=…) → logits or probabilities with the excluded tokens out."""
    penalise: Callable[..., Any] | None = None
    """(logits [B, V], ids [B, T], penalty) → logits: a repetition penalty."""
    beam: Callable[..., Any] | None = None
    """(step, ids, beams, max_new_tokens, eos_id) → [(ids, score)], best first; `step(ids)` gives log-probabilities."""
    train: Callable[..., Any] | None = None
    """(model, batches, …) → anything: the user's loop, one optimizer step after another."""
    resume: Callable[..., Any] | None = None
    """(folder, steps) → losses: trains on to `steps` from what the folder holds, or from nothing."""
    loader: Callable[..., Any] | None = None
    """(epoch, rank, ranks) → an iterable of batches of sample numbers, or a DataLoader."""
    forecast: Callable[..., Any] | None = None
    """(series [T, C], cutoff) → forecasts from what lies before `cutoff`, scaling included."""
    folder: Path | None = None
    """A checkpoint or a training run."""
    reference: nn.Module | None = None
    """A module that is known to be right and takes the same weights."""

    def has(self, name: str) -> bool:
        return getattr(self, name) is not None

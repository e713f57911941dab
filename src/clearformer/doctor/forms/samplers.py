"""How a sampling function and a repetition penalty are asked, and what their answers keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.forms.arguments import called, roles_of
from clearformer.doctor.forms.trial import UnfitError, first_that_works

DRAWS = 1500
KNOBS = ("temperature", "top_k", "top_p")
_EXCLUDED = -1e4
"""Below this a logit counts as excluded: some write -1e9 or the type's smallest number instead of minus infinity."""


@dataclass(frozen=True)
class SamplerForm:
    """`ask(logits [B, V], knob=…)` gives the chances [B, V]: zero for what is excluded."""

    knobs: frozenset[str]
    drawn: bool
    """Whether the answer is ids, so that chances are counted from draws."""
    ask: Callable[..., Tensor]


def sampler_form(sample: Callable[..., Any], trial: Tensor) -> SamplerForm:
    """Raises NotApplicable where no form works on the trial logits [B, V]."""
    return first_that_works("sample", _sampler_forms(sample, trial))


def _sampler_forms(sample: Callable[..., Any], trial: Tensor) -> Iterator[tuple[str, Callable[[], SamplerForm]]]:
    words = trial.shape[-1]
    named = roles_of(sample, [*KNOBS, "probs", "logits"])
    knobs = frozenset(named) & frozenset(KNOBS)
    for ndim, off_k, off_p in product((2, 1), (words, 0, None), (1.0, None)):

        def form(ndim: int = ndim, off_k: int | None = off_k, off_p: float | None = off_p) -> SamplerForm:
            off = {"temperature": 1.0, "top_k": off_k, "top_p": off_p}

            def one(logits: Tensor, values: dict[str, Any]) -> Tensor:
                given = {"logits": logits, "probs": logits.softmax(-1)} | values
                first = "probs" if "probs" in named else "logits"
                answer = called(sample, given, spare={"generator": None, "device": "cpu"}, order=(first, "ids"))
                return _tensor(answer)

            off_values = {name: off[name] for name in knobs}
            rows = trial if ndim == 2 else trial[0]
            plain = one(rows.clone(), off_values)
            told = plain.is_floating_point() and _are_chances(plain)

            def of_row(row: Tensor, values: dict[str, Any]) -> Tensor:
                if plain.is_floating_point():
                    return _chances(one(row.clone(), values)[None], row[None], told)[0]
                if ndim == 2:
                    return _counted(one(row.expand(DRAWS, -1).clone(), values), words)
                return _counted(torch.stack([one(row.clone(), values).reshape(()) for _ in range(DRAWS // 3)]), words)

            def ask(logits: Tensor, **values: Any) -> Tensor:
                values = off_values | {name: value for name, value in values.items() if name in knobs}
                if ndim == 2 and plain.is_floating_point():
                    return _chances(one(logits.clone(), values), logits, told)
                return torch.stack([of_row(row, values) for row in logits])

            ask(trial)
            return SamplerForm(knobs, not plain.is_floating_point(), ask)

        yield f"sample(logits of {ndim} dimensions)", form


def _tensor(answer: Any) -> Tensor:
    if isinstance(answer, (tuple, list)) and answer and isinstance(answer[0], Tensor):
        answer = answer[0]
    if isinstance(answer, int):
        return torch.tensor(answer)
    if not isinstance(answer, Tensor):
        raise UnfitError(f"{type(answer).__name__} instead of logits, probabilities or ids")
    return answer


def _are_chances(answer: Tensor) -> bool:
    total = answer.sum(-1)
    return bool((answer >= 0).all()) and bool(((total > 0.01) & (total <= 1.001)).all())


def _chances(answer: Tensor, logits: Tensor, told: bool) -> Tensor:
    """`told`: the answer is probabilities as it stands. A row in which nothing is left becomes NaN."""
    if answer.shape != logits.shape:
        raise UnfitError(f"{tuple(answer.shape)} for logits {tuple(logits.shape)}")
    answer = answer.detach().double()
    if told:
        return answer / answer.sum(-1, keepdim=True)
    return answer.masked_fill(answer < _EXCLUDED, float("-inf")).softmax(-1)


def _counted(drawn: Tensor, words: int) -> Tensor:
    return torch.bincount(drawn.reshape(-1), minlength=words).double() / drawn.numel()


Penalty = Callable[[Tensor, Tensor, float], Tensor]


def penalty_form(penalise: Callable[..., Any], logits: Tensor, ids: Tensor) -> Penalty:
    """(logits [B, V], ids [B, T], penalty) → logits. Raises NotApplicable where no form works."""

    def form(shaped: str) -> Penalty:
        def ask(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
            if shaped == "rows":
                kept = logits.clone()
                given = {"logits": kept, "ids": ids.clone(), "penalty": penalty}
                return _like(called(penalise, given, order=("logits", "ids", "penalty")), kept)
            each = []
            for row, seen in zip(logits.clone(), ids.clone(), strict=True):
                given = {"logits": row, "ids": seen if shaped == "row" else seen.tolist(), "penalty": penalty}
                each.append(_like(called(penalise, given, order=("logits", "ids", "penalty")), row))
            return torch.stack(each)

        ask(logits, ids, 1.5)
        return ask

    shapes = ("rows", "row", "row and list")
    return first_that_works("penalise", ((f"penalise({s})", lambda s=s: form(s)) for s in shapes))  # type: ignore[misc]


def _like(answer: Any, logits: Tensor) -> Tensor:
    """The answer, or the logits themselves where they were changed in place."""
    answer = logits if answer is None else answer
    if not isinstance(answer, Tensor) or answer.shape != logits.shape:
        raise UnfitError(f"{type(answer).__name__} instead of logits")
    return answer.detach()

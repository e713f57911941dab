"""How a beam search is asked: on a small chain whose every sequence can be written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
from torch import Tensor

from clearformer.doctor.forms.arguments import called, roles_of
from clearformer.doctor.forms.trial import UnfitError, first_that_works

END = 4
WORDS = 5
Found = list[tuple[tuple[int, ...], float | None]]
"""(answer without its prompt, score), in the order in which they came back."""
Search = Callable[[Tensor, list[int], int, int], Found]
"""(log-probabilities of the chain [V, V], prompt, beams, new tokens) → results."""


def search_form(beam: Callable[..., Any], chain: Tensor, width: int, new_tokens: int) -> Search:
    """Raises NotApplicable where no form works."""
    return first_that_works("beam", _forms(beam, chain, width, new_tokens))


def _forms(
    beam: Callable[..., Any], chain: Tensor, width: int, new_tokens: int
) -> Iterator[tuple[str, Callable[[], Search]]]:
    whole = "model" in roles_of(beam, ["model", "step"])
    steps = ("every position", "last position") if whole else ("last position", "every position")
    for gives, prompt in product(steps, ("[1, T]", "[T]", "list")):

        def form(gives: str = gives, prompt: str = prompt) -> Search:
            def search(chain: Tensor, begin: list[int], beams: int, count: int) -> Found:
                def step(ids: Any, *_: Any, **__: Any) -> Tensor:
                    read = torch.as_tensor(ids)
                    return chain[read] if gives == "every position" else chain[read[..., -1]]

                ids: Any = {"[1, T]": torch.tensor([begin]), "[T]": torch.tensor(begin), "list": list(begin)}[prompt]
                given = {"step": step, "model": step, "ids": ids, "beams": beams, "new_tokens": count, "eos_id": END}
                spare = {"pad_id": END, "vocab_size": WORDS, "device": "cpu", "bos_id": begin[0]}
                order = ("model" if whole else "step", "ids", "beams", "new_tokens", "eos_id")
                if whole:
                    del given["step"]
                else:
                    del given["model"]
                with torch.no_grad():
                    return _read(called(beam, given, spare=spare, order=order), begin)

            search(chain, [1], width, new_tokens)
            return search

        yield f"beam(step giving {gives}, ids {prompt})", form


def _read(answer: Any, prompt: list[int]) -> Found:
    if isinstance(answer, Tensor):
        rows = answer if answer.ndim == 2 else answer[None]
        return [(_stripped(row.tolist(), prompt), None) for row in rows]
    if isinstance(answer, tuple) and len(answer) == 2:
        ids, scores = answer
        if isinstance(scores, (int, float)) or (isinstance(scores, Tensor) and scores.ndim == 0):
            return [(_stripped(_list(ids), prompt), float(scores))]
        if isinstance(scores, (Tensor, list)) and not isinstance(ids[0], tuple):
            return [(_stripped(_list(each), prompt), float(s)) for each, s in zip(ids, scores, strict=True)]
    if isinstance(answer, list) and answer:
        if all(isinstance(each, int) for each in answer):
            return [(_stripped(answer, prompt), None)]
        if all(isinstance(each, (tuple, list)) and len(each) == 2 and not isinstance(each[0], int) for each in answer):
            swapped = isinstance(answer[0][0], float)
            pairs = [(each[1], each[0]) if swapped else (each[0], each[1]) for each in answer]
            return [(_stripped(_list(ids), prompt), float(score)) for ids, score in pairs]
        return [(_stripped(_list(each), prompt), None) for each in answer]
    raise UnfitError(f"{type(answer).__name__} instead of (ids, score) pairs")


def _list(ids: Any) -> list[int]:
    return torch.as_tensor(ids).flatten().tolist()


def _stripped(ids: list[int], prompt: list[int]) -> tuple[int, ...]:
    return tuple(ids[len(prompt) :] if ids[: len(prompt)] == prompt else ids)

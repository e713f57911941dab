"""What a law is tested on: a model, its inputs, and how near two answers must be."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.cache.static import StaticCache
from clearformer.laws import Law
from clearformer.layers import experts
from clearformer.model import Model
from drawing.built import built, drawn
from drawing.inputs import batch
from drawing.models import CONTEXT, VOCABULARY
from law_testers.conditioning import Nudge

TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}
NEAR = {torch.float64: 1e-12, torch.float32: 1e-3}
"""A tie between experts: in float64 what no arithmetic decides, such as two that see the same zeros."""
END = VOCABULARY - 1
ROWS = 3

Pair = tuple[Tensor, Tensor]
"""An answer, and the one that a law says it equals."""


@dataclass(frozen=True)
class Subject:
    """A spec, its model, and for an encoder-decoder the source that every target here is read against."""

    spec: s.Spec
    model: Model
    dtype: torch.dtype
    rng: np.random.Generator
    source: Tensor | None = None
    source_real: Tensor | None = None
    nudge: Nudge = lambda values: values

    @property
    def stack(self) -> s.Stack:
        """The stack whose tokens a law moves about."""
        assert not isinstance(self.spec, s.TwoTowers)
        return self.spec.decoder if isinstance(self.spec, s.EncoderDecoder) else s.main_stack(self.spec)

    def answer(self, data: Tensor, *, rows: slice = slice(None), **how: object) -> Tensor:
        """The model's output; `rows` are those of the source that `data` goes with."""
        with torch.no_grad():
            if not isinstance(self.spec, s.EncoderDecoder):
                return self.model(data, **how)
            real = None if self.source_real is None else self.source_real[rows]
            memory = self.model.encode(self.source[rows], real=real)
            return self.model.decode(data, memory, **how)

    def ids(self, length: int) -> Tensor:
        """Random tokens; each row ends with the end token, which some poolings look for."""
        ids = self.rng.integers(0, END, (ROWS, length))
        ids[:, -1] = END
        return torch.from_numpy(ids)

    def tensor(self, array: np.ndarray | None) -> Tensor | None:
        made = None if array is None else torch.from_numpy(self.nudge(array))
        return made.to(self.dtype) if made is not None and made.is_floating_point() else made

    def nudged(self, nudge: Nudge, rng: np.random.Generator) -> Subject:
        """The subject in float64, its weights and real inputs nudged, with a copy of `rng` to draw the same again."""
        weights = {name: nudge(weight.detach().numpy()) for name, weight in self.model.named_parameters()}
        again = copy.deepcopy(rng)
        moved = replace(self, model=built(self.spec, weights), dtype=torch.float64, rng=again, nudge=nudge)
        return moved if self.source is None else replace(moved, source=moved.tensor(self.source.numpy()))

    def cache(self, terms: dict[str, Tensor]) -> StaticCache:
        bound = terms.get("length_bound")
        return StaticCache(self.stack, batch=ROWS, capacity=CONTEXT, dtype=self.dtype, length_bound=bound)


def make_subject(spec: s.Spec, seed: int, dtype: torch.dtype = torch.float64) -> Subject:
    rng = np.random.default_rng(seed)
    plain = Subject(spec, drawn(spec, seed, dtype), dtype, rng)
    if not isinstance(spec, s.EncoderDecoder):
        return plain
    source = batch(spec.encoder.input, rng)
    return Subject(spec, plain.model, dtype, rng, plain.tensor(source.data), plain.tensor(source.real))


def terms_of(law: Law, subject: Subject, *, prefix: Tensor | None = None) -> dict[str, Tensor]:
    """The arguments by which a call honours the law's conditions, and the given prefixes where the spec has them."""
    terms: dict[str, Tensor] = {}
    if "equal length bounds" in law.conditions:
        terms["length_bound"] = torch.from_numpy(subject.rng.integers(3, CONTEXT, ROWS))
    if prefix is not None and has_prefix(subject.stack):
        terms["prefix"] = prefix
    return terms


def has_prefix(stack: s.Stack) -> bool:
    seen = [block.attention.visibility for block in stack.blocks]
    return any(isinstance(visibility, s.Causal) and visibility.prefix for visibility in seen)


def gap(found: Tensor, expected: Tensor) -> float:
    assert found.shape == expected.shape
    assert torch.isfinite(found).all()
    assert torch.isfinite(expected).all()
    return float((found - expected).abs().max())


def extent(expected: Tensor) -> float:
    """The answers' range, or their size where two answers lie close together."""
    return max(float(expected.max() - expected.min()), float(expected.abs().max()), 1e-3)


@contextmanager
def margins() -> Iterator[list[float]]:
    """By how much each chosen expert won, over all choices made inside: a near tie falls either way by rounding."""
    seen: list[float] = []
    choose = experts.choose

    def judged(preference: Tensor, active: int, groups: s.RouterGroups | None) -> Tensor:
        allowed = preference
        if groups is not None:
            by_group = preference.unflatten(-1, (groups.count, -1))
            best = by_group.topk(1 if groups.judged_by == "best" else 2, -1).values.sum(-1)
            seen.append(_margin(best, groups.kept))
            kept = torch.zeros_like(best, dtype=torch.bool).scatter(-1, best.topk(groups.kept, -1).indices, True)
            allowed = by_group.masked_fill(~kept[..., None], -torch.inf).flatten(-2)
        seen.append(_margin(allowed, active))
        return choose(preference, active, groups)

    with mock.patch.object(experts, "choose", judged):
        yield seen


def _margin(preference: Tensor, chosen: int) -> float:
    if chosen == preference.shape[-1]:
        return float("inf")
    ranked = preference.sort(-1, descending=True).values
    return float((ranked[:, chosen - 1] - ranked[:, chosen]).min())

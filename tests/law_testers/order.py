"""Laws about what a position may see: causality, caches, windows."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from clearformer import spec as s
from clearformer.laws import Law
from drawing.models import CONTEXT, VOCABULARY
from law_testers.subject import ROWS, Pair, Subject, terms_of

LENGTH = 8


def causality(law: Law, subject: Subject) -> Iterator[Pair]:
    """Other tokens after a cut, or no tokens: the answers before it stay."""
    ids, prefix = subject.ids(LENGTH), _prefixes(subject)
    terms = terms_of(law, subject, prefix=prefix)
    first = int(prefix.max()) if "beyond the prefix" in law.conditions else 1
    cut = int(subject.rng.integers(max(first, 1), LENGTH))
    other = torch.cat((ids[:, :cut], (ids[:, cut:] + 1) % VOCABULARY), 1)
    before = subject.answer(ids, **terms)[:, :cut]
    yield subject.answer(other, **terms)[:, :cut], before
    yield subject.answer(ids[:, :cut], **terms), before


def cache_equality(law: Law, subject: Subject) -> Iterator[Pair]:
    return _cut_equals_whole(law, subject, one_by_one=True)


def chunk_equality(law: Law, subject: Subject) -> Iterator[Pair]:
    return _cut_equals_whole(law, subject, one_by_one=False)


def _cut_equals_whole(law: Law, subject: Subject, *, one_by_one: bool) -> Iterator[Pair]:
    """What a cache gives chunk by chunk is the full pass: for equal rows, or rows padded on either side."""
    rng = subject.rng
    ids, prefix = subject.ids(LENGTH), _prefixes(subject)
    terms = terms_of(law, subject, prefix=prefix)
    whole_prefix = int(prefix.max()) if "chunks keep prefixes whole" in law.conditions else 0
    places = torch.arange(max(whole_prefix, 1), LENGTH)
    cuts = places if one_by_one else places[torch.from_numpy(rng.random(len(places)) < 0.4)]
    ragged = torch.arange(LENGTH)[None] < torch.tensor([LENGTH, 6, 4])[:, None]
    # Left padding would move a prefix past the end of the first chunk.
    real = (None, ragged, ragged if whole_prefix else ragged.flip(1))[int(rng.integers(3))]
    whole = subject.answer(ids, **terms, **({} if real is None else {"real": real}))
    cache, parts = subject.cache(terms), []
    for chunk in torch.arange(LENGTH).tensor_split(cuts):
        padding = {} if real is None else {"real": real[:, chunk]}
        parts.append(subject.answer(ids[:, chunk], cache=cache, **_in_cache(terms), **padding))
    found = torch.cat(parts, 1)
    keep = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    yield found[keep], whole[keep]


def _in_cache(terms: dict[str, Tensor]) -> dict[str, Tensor]:
    """The cache itself holds the declared bounds."""
    return {name: value for name, value in terms.items() if name != "length_bound"}


def window_reach(law: Law, subject: Subject) -> Iterator[Pair]:
    """Every input out of one position's reach replaced: its answer stays."""
    assert law.reach is not None
    length = law.reach + 4
    assert length <= CONTEXT
    ids = subject.ids(length)
    terms = terms_of(law, subject)
    at = length - 1 if not _two_sided(subject.spec) else int(subject.rng.integers(length))
    far = (torch.arange(length) - at).abs() > law.reach
    other = torch.where(far, (ids + 1) % VOCABULARY, ids)
    yield subject.answer(other, **terms)[:, at], subject.answer(ids, **terms)[:, at]


def _two_sided(spec: s.Spec) -> bool:
    return isinstance(spec, s.EncoderOnly)


def _prefixes(subject: Subject) -> Tensor:
    return torch.from_numpy(subject.rng.integers(0, 4, ROWS))

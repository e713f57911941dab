"""Faults of the spec, undone: another number or type at one place, the weights as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clearformer.messages import Message
from clearformer.messages import verify as messages
from clearformer.spec import (
    DecoderOnly,
    EncoderDecoder,
    EncoderOnly,
    Language,
    LayerNorm,
    LinearScaling,
    Llama3Scaling,
    RMSNorm,
    RopeScaling,
    Rotary,
    Spec,
    YaRN,
)
from clearformer.verify.change import Change, Known, with_weights
from clearformer.verify.ours import Suspect
from clearformer.verify.places import rewritten, transplanted

_NORMS = (LayerNorm, RMSNorm)
_HEAD = "head.project.weight"

EPSILONS = (1e-5, 1e-6, 1e-12, 1e-8, 1e-7, 1e-3)
"""Those of published models, the commonest first."""
BASES = (1e4, 1e6, 5e5, 1e5, 1.5e5, 1.3e5, 1.6e5, 2e6, 5e6, 8e6, 1e7, 5e7, 1e3)
FACTORS = (2.0, 4.0, 8.0)
SCALINGS: tuple[RopeScaling | None, ...] = (
    None,
    *(LinearScaling(factor) for factor in FACTORS),
    *(Llama3Scaling(factor, 8192) for factor in (8.0, 32.0)),
    *(YaRN(factor, length) for factor in (4.0, 8.0, 16.0, 32.0, 40.0) for length in (4096, 8192, 32768)),
)


def rotary_layout(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Numbers paired with their neighbour where half a head away was meant, or the other way round."""

    def other(rotary: Rotary) -> Rotary:
        return replace(rotary, layout="interleaved" if rotary.layout == "halves" else "halves")

    yield from _if_new(suspect, rewritten(suspect.spec, Rotary, other), messages.LAYOUT_SAID)


def untied_head(suspect: Suspect, known: Known) -> Iterator[Change]:
    """A matrix of its own where the token table was meant, or the other way round."""
    spec = suspect.spec
    if not isinstance(spec, DecoderOnly | EncoderOnly | EncoderDecoder) or not isinstance(spec.head, Language):
        return
    if not spec.head.tied:
        yield Change(replace(suspect, spec=replace(spec, head=replace(spec.head, tied=True))), messages.HEAD_UNTIED)
    if known.head is not None and (_HEAD not in suspect.weights or not known.head.equal(suspect.weights[_HEAD])):
        own = replace(spec, head=replace(spec.head, tied=False))
        what = messages.HEAD_TIED if spec.head.tied else messages.HEAD_OTHER
        yield Change(with_weights(replace(suspect, spec=own), {_HEAD: known.head}), what)


def norm_offset(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Norms that multiply by w where 1 + w was meant, or the other way round."""

    def other(norm: RMSNorm) -> RMSNorm:
        return replace(norm, unit_offset=not norm.unit_offset)

    yield from _if_new(suspect, rewritten(suspect.spec, RMSNorm, other), messages.OFFSET_SAID)


def norm_eps(suspect: Suspect, known: Known) -> Iterator[Change]:
    """As the reference says, norm by norm; then each usual one for all norms."""
    if known.spec is not None:
        mended = transplanted(suspect.spec, known.spec, _NORMS, ("eps",))
        yield from _if_new(suspect, mended, messages.EPS_OF_REFERENCE, **_first_eps(suspect.spec, mended))
    for eps in EPSILONS:
        mended = _with(suspect.spec, _NORMS, eps=eps)
        yield from _if_new(suspect, mended, messages.EPS, **_first_eps(suspect.spec, mended))


def rope(suspect: Suspect, known: Known) -> Iterator[Change]:
    """As the reference says, layer by layer; then each usual base, and each usual scaling, for all layers."""
    if known.spec is not None:
        mended = transplanted(suspect.spec, known.spec, Rotary, ("base", "scaling"))
        yield from _if_new(suspect, mended, messages.ROPE_OF_REFERENCE, **_first_rope(suspect.spec, mended))
    for base in BASES:
        mended = _with(suspect.spec, Rotary, base=base)
        yield from _if_new(suspect, mended, messages.ROPE_BASE, **_first_rope(suspect.spec, mended))
    for scaling in SCALINGS:
        mended = _with(suspect.spec, Rotary, scaling=scaling)
        yield from _if_new(suspect, mended, messages.ROPE_SCALING, **_first_rope(suspect.spec, mended))


def _with(spec: Spec, kind: type | tuple[type, ...], **fields: object) -> Spec:
    """The spec with these fields in every part of the kind."""
    return rewritten(spec, kind, lambda part: replace(part, **fields))


def _if_new(suspect: Suspect, spec: Spec, what: Message, **values: object) -> Iterator[Change]:
    if spec != suspect.spec:
        yield Change(replace(suspect, spec=spec), what, values)


def _first_eps(found: Spec, expected: Spec) -> dict[str, object]:
    """The first norm whose eps was changed."""
    before, after = _each(found, _NORMS), _each(expected, _NORMS)
    pairs = ((a.eps, b.eps) for a, b in zip(before, after, strict=True))
    first, second = next(((a, b) for a, b in pairs if a != b), ("", ""))
    return {"found": f"{first:g}" if first else "", "expected": f"{second:g}" if second else ""}


def _first_rope(found: Spec, expected: Spec) -> dict[str, object]:
    pairs = zip(_each(found, Rotary), _each(expected, Rotary), strict=True)
    first, second = next(((a, b) for a, b in pairs if a != b), (None, None))
    return {"found": _said(first), "expected": _said(second)}


def _said(rotary: Rotary | None) -> str:
    if rotary is None:
        return ""
    return f"{rotary.base:g}" + ("" if rotary.scaling is None else f", {rotary.scaling}")


def _each(spec: Spec, kind: type | tuple[type, ...]) -> list[Any]:
    found = []

    def note(part: object) -> object:
        found.append(part)
        return part

    rewritten(spec, kind, note)
    return found

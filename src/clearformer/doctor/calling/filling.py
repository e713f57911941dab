"""The calls worth trying: what the inputs may be, and what each argument without a default may want."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from torch import nn

from clearformer.doctor.calling.call import Call, Mask, Number, Takes
from clearformer.doctor.calling.names import Role, convention
from clearformer.doctor.calling.signature import Signature, innermost
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.calling.widths import lengths, tables, vocabulary, widths
from clearformer.doctor.parts import Kind, Parts

MOST = 96
"""Calls that are tried at most."""

PADDING_SHAPES = ("B T", "B 1 1 T", "B 1 T")
SEEING_SHAPES = ("T T", "B 1 T T", "1 1 T T", "B T T", "1 T T")
NUMBERS: tuple[Number, ...] = ("bool", "int", "float")

Filling = dict[str, object]
"""Changes to a call, by field; `fixed` holds single pairs."""


def subjects(parts: Parts, signature: Signature, kind: Kind) -> Iterator[Subject]:
    """Likeliest first: as the names say, ids before vectors, batch first before sequence first."""
    assert parts.model is not None
    vocab_size = parts.vocab_size or vocabulary(parts.model) or 0
    start = Subject(parts.model, kind, Call(), vocab_size, context=parts.context)
    yield from islice(_tried(start, signature), MOST)


def _tried(start: Subject, signature: Signature) -> Iterator[Subject]:
    fillings = list(islice(_fillings(signature, start.kind), 24))
    for form in _forms(start, signature):
        for filling in fillings:
            yield replace(form, call=_filled(form.call, filling))
    first = _filled(_plain(signature), fillings[0])
    for form in _forms(start, signature):
        sideways = replace(first, takes=form.call.takes, source_takes=form.call.source_takes, batch_first=False)
        yield replace(form, call=sideways)
    if start.kind != "decoder":
        for form in islice(_forms(start, signature), 4):
            for length in lengths(innermost(start.module)):
                yield replace(form, call=_filled(form.call, fillings[0]), only_length=length)


def _forms(start: Subject, signature: Signature) -> Iterator[Subject]:
    """What the inputs may be."""
    two = signature.source is not None
    plain = _plain(signature)
    batch_first = _batch_first(start.module)
    for takes in _takes(start, signature):
        sources: tuple[Takes, ...] = ("ids", "vectors") if takes == "ids" and two else (takes,)
        for source_takes in sources:
            call = replace(plain, takes=takes, source_takes=source_takes, batch_first=batch_first)
            if takes == source_takes == "ids":
                yield replace(start, call=call)
                if two and tables(start.module):
                    yield replace(start, call=call, source_vocab_size=min(tables(start.module)))
                continue
            for width in widths(innermost(start.module)):
                yield replace(start, call=call, width=width)


def _plain(signature: Signature) -> Call:
    return Call(main=signature.main, source=signature.source, fixed=signature.fixed, packed=signature.packed)


def _takes(start: Subject, signature: Signature) -> tuple[Takes, ...]:
    if start.kind == "forecaster":
        return ("series", "ids") if start.vocab_size else ("series",)
    return ("ids", "vectors") if start.vocab_size > 1 else ("vectors",)


def _batch_first(module: nn.Module) -> bool:
    """PyTorch's own modules say it; every other is tried."""
    inner = innermost(module)
    if isinstance(inner, nn.Transformer):
        return bool(inner.batch_first)
    if isinstance(inner, nn.TransformerEncoder | nn.TransformerDecoder):
        return bool(inner.layers[0].self_attn.batch_first)
    if isinstance(inner, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        return bool(inner.self_attn.batch_first)
    return True


def _fillings(signature: Signature, kind: Kind) -> Iterator[Filling]:
    """Every combination of what the required arguments may want."""
    wanted = [(name, role) for name, role in signature.roles.items() if name in signature.required]
    for choice in product(*(list(_choices(name, role, kind)) for name, role in wanted)):
        yield {"needed": frozenset(name for name, _ in wanted), "given": choice}


def _choices(name: str, role: Role, kind: Kind) -> Iterator[tuple[str, object]]:
    match role:
        case "positions" | "documents" | "labels":
            yield role, name
        case "cache":
            yield "fixed", (name, None)
        case "switch":
            yield "fixed", (name, False)
        case "offset":
            yield "fixed", (name, 0)
        case "count":
            yield "padding", Mask(name, "count", number="int")
        case "padding" | "target padding" | "source padding" | "memory padding" | "source mask" | "memory mask":
            over_source = kind == "encoder-decoder" and role.startswith(("source", "memory"))
            field = "padding" if not over_source else f"{role.split()[0]}_padding"
            for shape in PADDING_SHAPES:
                plain = not over_source and role == "padding"
                yield _plain_field(kind) if plain else field, Mask(name, convention(name), shape)
        case "mask" | "target mask":
            seeing = [("seeing", Mask(name, convention(name), shape)) for shape in SEEING_SHAPES]
            padding = [("padding", Mask(name, convention(name), shape)) for shape in PADDING_SHAPES]
            yield from padding + seeing if kind == "encoder" else seeing + padding
        case _:
            yield "fixed", (name, None)
            yield _plain_field(kind), Mask(name, "keep")
            yield "positions", name
            yield "documents", name
            yield "labels", name


def _plain_field(kind: Kind) -> str:
    """Over whom a padding mask without a side in its name is: in an encoder-decoder, over the source."""
    return "source_padding" if kind == "encoder-decoder" else "padding"


def _filled(call: Call, filling: Filling) -> Call:
    changes: dict[str, object] = {"needed": filling["needed"]}
    fixed = list(call.fixed)
    given = filling["given"]
    assert isinstance(given, tuple)
    for field, value in given:
        if field == "fixed":
            fixed.append(value)
        else:
            changes[field] = value
    return replace(call, fixed=tuple(fixed), **changes)  # type: ignore[arg-type]

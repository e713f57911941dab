"""What each mask argument wants: its shape, its number type, and whether 1 means keep or hide, found by trial.

Polarity: other content at hidden places in the middle must not move the answers elsewhere. The middle, so that no
query is left without a key under causal attention. A name that leaves no doubt (attention_mask, key_padding_mask) is
believed even if the module acts otherwise, for then the module is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from clearformer.doctor.calling.call import Marking, Mask, Number
from clearformer.doctor.calling.filling import PADDING_SHAPES, SEEING_SHAPES
from clearformer.doctor.calling.names import binding, convention
from clearformer.doctor.calling.signature import Signature
from clearformer.doctor.calling.subject import Subject
from clearformer.doctor.calling.trying import LENGTH, ROWS, apart, asked, with_call

HOLE = slice(3, 5)


def with_masks(subject: Subject, signature: Signature) -> Subject:
    """The subject with every mask argument that it takes."""
    subject = _seeing(subject, signature)
    taken = subject.call.seeing.name if subject.call.seeing is not None else None
    ours, sources, memories = _sides(subject, signature, taken)
    for name in ours:
        if subject.call.padding is None or name == subject.call.padding.name:
            subject = _marked(subject, "padding", name, _moved_by_hole)
    for name in sources:
        if subject.call.source_padding is None or name == subject.call.source_padding.name:
            subject = _marked(subject, "source_padding", name, _moved_by_source_hole)
    for name in memories:
        if subject.call.memory_padding is None:
            subject = _marked(subject, "memory_padding", name, _moved_by_source_hole)
    return subject


def _sides(
    subject: Subject, signature: Signature, taken: str | None
) -> tuple[list[str], list[str], list[str]]:  # fmt: skip
    """Names of masks over the input itself, over the source, and over the source as the decoder reads it."""
    plain = [name for name in signature.named("padding") if name != taken]
    own = signature.named("target padding")
    loose = [name for name in signature.named("mask", "target mask") if name != taken]
    sources = [name for name in signature.named("source padding", "source mask") if name != taken]
    if subject.call.source is None:
        return [*plain, *own, *sources, *loose, *signature.named("count")], [], []
    return [*own, *loose], [*sources, *plain], [*signature.named("memory padding"), *signature.named("memory mask")]


def reads_ahead(subject: Subject, mask: Tensor | None = None) -> bool | None:
    """Whether a later token moves an earlier answer; None where the module raises, gives NaN or only whole answers."""
    if not subject.per_position:
        return None
    inputs = subject.inputs(ROWS, subject.length(LENGTH), torch.Generator().manual_seed(1))
    before = asked(subject, inputs, mask=mask)
    if before is None or not bool(before.isfinite().all()):
        return None
    for at in (inputs.shape[1] - 1, inputs.shape[1] // 2):
        after = asked(subject, subject.replaced(inputs, at, torch.Generator().manual_seed(2)), mask=mask)
        if after is None:
            return None
        if bool(apart(before[:, :at], after[:, :at]).any()):
            return True
    return False


def _seeing(subject: Subject, signature: Signature) -> Subject:
    """The subject with a mask of who sees whom, where it needs one to be causal."""
    if subject.kind not in ("decoder", "encoder-decoder"):
        return subject
    given = subject.call.seeing
    names = signature.named("mask", "target mask")
    if subject.call.source is None:
        names += signature.named("source mask")
    if given is None and reads_ahead(subject) is not True:
        names = [name for name in names if _takes_its_place(subject, name)]
    if given is None and _causal_once_padded(subject, [*names, *signature.named("padding", "target padding")]):
        return subject
    for name in names:
        for mask in _forms(name, SEEING_SHAPES):
            tried = with_call(subject, seeing=mask)
            if reads_ahead(tried) is False:
                return with_call(subject, seeing=replace(mask, by_trial=True))
    return subject


def _takes_its_place(subject: Subject, name: str) -> bool:
    """Whether a mask that hides nothing makes a causal module read ahead: it is handed in instead of the module's own,
    and must say who sees whom. An argument that takes no table of them is a padding mask, and the fault K01's to tell.
    """
    full = torch.ones(ROWS, subject.length(LENGTH), dtype=torch.bool, device=subject.device)
    for mask in _forms(name, PADDING_SHAPES):
        ahead = reads_ahead(with_call(subject, padding=mask), full)
        if ahead is not None:
            return ahead
    return False


def _causal_once_padded(subject: Subject, names: list[str]) -> bool:
    """Whether a padding mask that hides nothing makes it causal: then the causal mask is its own, and only mislaid."""
    full = torch.ones(ROWS, subject.length(LENGTH), dtype=torch.bool, device=subject.device)
    masks = (mask for name in names for mask in _forms(name, PADDING_SHAPES))
    return any(reads_ahead(with_call(subject, padding=mask), full) is False for mask in masks)


def _forms(name: str, shapes: tuple[str, ...]) -> Iterator[Mask]:
    usual = convention(name)
    if usual == "count":
        yield Mask(name, "count", number="int")
        return
    other: Marking = "hide" if usual == "keep" else "keep"
    numbers: tuple[Number, ...] = ("int", "bool") if "attention" in name else ("bool", "int", "float")
    markings = (usual,) if binding(name) else (usual, other, "add") if usual != "add" else ("add",)
    for shape in shapes:
        for marking in markings:
            for number in numbers if marking != "add" else ("float",):
                yield Mask(name, marking, shape, number)  # type: ignore[arg-type]


Moved = Callable[[Subject], bool | None]


def _marked(subject: Subject, field: str, name: str, moved: Moved) -> Subject:
    """The first form under which hidden content has no effect; else the first that the module takes at all."""
    first: Mask | None = None
    for mask in _forms(name, PADDING_SHAPES):
        if mask.marking == "add" and first is not None:
            continue  # a 0/1 mask that is added to the scores is a fault, and must not pass for a mask of 0 and -inf
        effect = moved(with_call(subject, **{field: mask}))
        if effect is None:
            continue
        if first is not None and mask.shape != first.shape:
            break  # what runs only by broadcasting is not meant
        first = first or mask
        if not effect:
            return with_call(subject, **{field: replace(mask, by_trial=True)})
    return subject if first is None else with_call(subject, **{field: first})


def _moved_by_hole(subject: Subject) -> bool | None:
    inputs = subject.inputs(ROWS, subject.length(LENGTH), torch.Generator().manual_seed(1))
    real = torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
    hole = _hole(inputs.shape[1])
    real[:, hole] = False
    if subject.call.padding is not None and subject.call.padding.marking == "count":
        places = torch.arange(inputs.shape[1], device=inputs.device)
        real = (places < inputs.shape[1] - 2).expand(inputs.shape[:2])
        hole = slice(inputs.shape[1] - 2, None)
    other = subject.replaced(inputs, hole, torch.Generator().manual_seed(2))
    one, two = asked(subject, inputs, mask=real), asked(subject, other, mask=real)
    if one is None or two is None:
        return None
    moved = apart(one, two)
    return bool((moved & real).any() if subject.per_position else moved.any()) or not _finite(one, real, subject)


def _finite(answer: Tensor, real: Tensor, subject: Subject) -> bool:
    """NaN everywhere moves by nothing, which is no proof that the hidden is hidden."""
    kept = answer[real] if subject.per_position else answer
    return bool(kept.isfinite().any())


def _moved_by_source_hole(subject: Subject) -> bool | None:
    inputs = subject.inputs(ROWS, subject.length(LENGTH), torch.Generator().manual_seed(1))
    source = subject.sources(ROWS, subject.length(LENGTH), torch.Generator().manual_seed(3))
    real = torch.ones(source.shape[:2], dtype=torch.bool, device=source.device)
    real[:, _hole(source.shape[1])] = False
    other = subject.replaced(source, _hole(source.shape[1]), torch.Generator().manual_seed(2))
    one = asked(subject, inputs, source=source, source_mask=real)
    two = asked(subject, inputs, source=other, source_mask=real)
    if one is None or two is None:
        return None
    return bool(apart(one, two).any()) or not bool(one.isfinite().any())


def _hole(length: int) -> slice:
    return HOLE if length > HOLE.stop else slice(length // 2, length // 2 + 1)

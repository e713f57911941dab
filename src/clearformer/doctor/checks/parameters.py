"""K19: every parameter is registered, read, reached by the gradient, and its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.arguments import source_of
from clearformer.doctor.operations.finite import not_numbers
from clearformer.doctor.operations.graphs import Readings, backward, holder, leaves
from clearformer.messages import Message
from clearformer.messages import doctor_parameters as say


def published(module: nn.Module) -> bool:
    """A family of transformers: what it does with its parameters has been chosen, and is at most worth knowing."""
    return hasattr(getattr(module, "config", None), "model_type")


def _probe(examination: Examination) -> Iterator[Breach]:
    module = examination.asked.module
    convention: Severity = "INFO" if published(module) else "WARN"
    yield from _lost(module)
    yield from _unregistered(examination)
    yield from _untied(examination)
    yield from _alike(module, convention)
    yield from _unreached(examination, convention)


def _breach(severity: Severity, message: Message, cause: str, names: list[str], **values: object) -> Breach:
    said = Said(message, {"count": len(names), "first": names[0]} | values)
    return Breach("K19", severity, (said,), (cause,), where=names[0], law=cause)


def _lost(module: nn.Module) -> Iterator[Breach]:
    """Parameters and buffers with numbers that are none. A table of a mask holds minus infinity and is meant to."""
    every = (*module.named_parameters(), *module.named_buffers())
    lost = [(name, numbers, wrong) for name, numbers in every if bool((wrong := not_numbers(numbers)).any())]
    if lost:
        _, first, wrong = lost[0]
        rows = wrong.reshape(len(first) if first.ndim else 1, -1).any(-1).nonzero().flatten().tolist()
        values = {"wrong": int(wrong.sum()), "of": first.numel(), "rows": ", ".join(map(str, rows[:4]))}
        values |= {"more": " …" if len(rows) > 4 else ""}
        yield _breach("ERROR", say.NOT_FINITE, "parameters not finite", [each for each, *_ in lost], **values)


def _unregistered(examination: Examination) -> Iterator[Breach]:
    """Leaves of the graph that are no parameters, and are the same in two passes: a table made in each pass is not."""
    subject = examination.asked
    inputs = subject.inputs(2, subject.length(8), examination.generator())
    own = {id(each) for each in subject.module.parameters()}
    with torch.enable_grad():
        first, second = leaves(subject.output(inputs)), leaves(subject.output(inputs))
    loose = [tensor for key, tensor in first.items() if key in second and key not in own and tensor is not inputs]
    if loose:
        names = [holder(subject.module, tensor) or f"{tuple(tensor.shape)}" for tensor in loose]
        yield _breach("ERROR", say.UNREGISTERED, "layers unregistered", names)


def _untied(examination: Examination) -> Iterator[Breach]:
    """Embedding and head that are declared one tensor, or hold the same numbers, and are two."""
    module, vocab_size = examination.asked.module, examination.asked.vocab_size
    tied = examination.parts.tied
    if tied is None and published(module):
        tied = getattr(module.config, "tie_word_embeddings", None)
    tables = [
        (n, m.weight) for n, m in module.named_modules() if isinstance(m, nn.Embedding) and len(m.weight) == vocab_size
    ]
    heads = [
        (n, m.weight) for n, m in module.named_modules()
        if isinstance(m, nn.Linear) and m.out_features == vocab_size and m.weight.ndim == 2
    ]  # fmt: skip
    if not tables or not heads:
        return
    name, head = heads[-1]
    if any(table is head or table.data_ptr() == head.data_ptr() for _, table in tables):
        return
    equal = [n for n, table in tables if table.shape == head.shape and torch.equal(table, head)]
    if (tied and any(table.shape == head.shape for _, table in tables)) or (equal and tied is not False):
        message = say.COPIED if equal else say.UNTIED
        other = equal[0] if equal else tables[0][0]
        yield _breach("ERROR" if tied else "WARN", message, "tied weights separate", [name], other=other)


def _alike(module: nn.Module, convention: Severity) -> Iterator[Breach]:
    """Layers of one list that are one layer, or began as copies of one."""
    shared, cloned = [], []
    for path, each in module.named_modules(remove_duplicate=False):
        if not isinstance(each, nn.ModuleList) or len(each) < 2:
            continue
        layers = [layer for layer in each if isinstance(layer, nn.Module)]
        if len(layers) < 2:
            continue
        learning = [layer for layer in layers if _drawn(layer)]
        if len({id(layer) for layer in learning}) < len(learning):
            shared.append(path)
            continue
        drawn = [_drawn(layer) for layer in layers]
        if all(drawn) and all(other.keys() == drawn[0].keys() for other in drawn):
            pairs = [(drawn[0][key], other[key]) for other in drawn[1:] for key in other]
            if all(one is other for one, other in pairs):
                shared.append(path)
            elif all(torch.equal(one, other) for one, other in pairs):
                cloned.append(path)
    if shared:
        yield _breach(convention, say.SHARED, "layers shared", shared)
    if cloned:
        yield _breach(convention, say.CLONED, "layers cloned", cloned)


def _drawn(layer: nn.Module) -> dict[str, Tensor]:
    """The matrices of a layer that random numbers filled: constants are alike in all layers."""
    return {
        name: weight.detach()
        for name, weight in layer.named_parameters()
        if weight.ndim > 1 and weight.numel() > 1 and not bool((weight == weight.flatten()[0]).all())
    }


def _unreached(examination: Examination, convention: Severity) -> Iterator[Breach]:
    """Parameters that are trained and get no gradient: never read, or read where the graph is cut."""
    subject, generator = examination.asked, examination.generator()
    module = subject.module
    inputs = subject.inputs(4, subject.length(16), generator)
    kept = {name: weight.grad for name, weight in module.named_parameters()}
    trained = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
    try:
        module.zero_grad(set_to_none=True)
        readings = Readings()
        with torch.enable_grad(), readings:
            output = subject.output(inputs)
        with torch.enable_grad():
            backward(output, generator)
        reached = {name for name, weight in trained.items() if weight.grad is not None}
    finally:
        for name, weight in module.named_parameters():
            weight.grad = kept[name]
    if not trained:
        names = list(kept)
        if names:
            yield _breach("INFO", say.FROZEN, "all parameters frozen", names)
        return
    if not reached:
        training = any(examination.parts.has(part) for part in ("loss", "train"))
        severity: Severity = "ERROR" if training and convention == "WARN" else convention
        where = source_of(type(module).forward)
        said = Said(say.SWITCHED_OFF if readings.without_graph else say.NO_GRADIENT, {"count": len(trained)})
        yield Breach("K19", severity, (said,), ("no gradient",), where, law="no gradient")
        return
    missed = [name for name in trained if name not in reached and not _has_sibling(name, reached)]
    cut = [name for name in missed if id(trained[name]) in readings.read]
    unused = [name for name in missed if name not in cut]
    if cut:
        yield _breach(convention, say.CUT, "gradient cut", cut)
    if unused:
        yield _breach(convention, say.UNUSED, "parameter unused", unused)


def _has_sibling(name: str, reached: set[str]) -> bool:
    """Experts: one of several in a layer is read, the others wait for their tokens."""
    numbers = list(re.finditer(r"(?<=\.)\d+(?=\.)", name))
    if not numbers or (len(numbers) < 2 and "expert" not in name):
        return False
    start, end = numbers[-1].span()
    pattern = re.compile(re.escape(name[:start]) + r"\d+" + re.escape(name[end:]))
    return any(pattern.fullmatch(other) for other in reached)


PARAMETERS = Check("K19", "parameters", say.PARAMETERS, say.PARAMETERS_RISK, _probe)

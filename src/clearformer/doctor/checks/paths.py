"""K08: one law, several ways of computing it: with and without gradients, eager and fused, with weights and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.signature import innermost
from clearformer.doctor.check import Check
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.padding import at_real, padded
from clearformer.messages import Message
from clearformer.messages import doctor_paths as say

SUSPECTS = ("mask added as 0 and 1", "is_causal hint disagrees", "paths differ")


def _probe(examination: Examination) -> Iterator[Breach]:
    subject = examination.asked
    rows = padded(subject, "right", examination.generator(), rows=3)
    asked: dict[str, Any] = {"mask": rows.mask if subject.takes_mask else None}
    if subject.call.source is not None:
        sources = padded(subject, "right", examination.generator(), rows=3)
        source = subject.sources(3, sources.mask.shape[1], examination.generator())
        asked |= {"source": source, "source_mask": sources.mask if subject.call.source_masks else None}
    real = rows.mask if subject.takes_mask else torch.ones_like(rows.mask)

    def answered(gradient: bool = False) -> Tensor:
        return at_real(subject, subject.answer(rows.inputs, gradient=gradient, **asked).detach(), real)

    plain, slow = answered(), answered(gradient=True)
    ways = [(say.WITH_GRADIENT, plain, slow)]
    ways += [(say.OTHER_KERNEL, plain, other) for other in _kernels(subject.module, answered)]
    # A hook switches the fast path off, and so do gradients.
    ways += [(say.WITH_WEIGHTS, slow, other) for other in _weights(subject.module, answered)]
    yield from _idle_dropout(examination)
    turned = subject.takes_mask and _full_mask_hides(examination, rows.inputs)
    for way, one, other in ways:
        if not _same_finiteness_aside(examination, one, other):
            found = _breach(examination, way, one, other)
            yield replace(found, suspects=("padding mask inverted", *found.suspects)) if turned else found


def _idle_dropout(examination: Examination) -> Iterator[Breach]:
    """Dropout that the module declares makes two passes of training differ."""
    subject = examination.asked
    parts = list(subject.module.modules())
    rates = [each.p for each in parts if isinstance(each, nn.modules.dropout._DropoutNd) and each.p > 0]
    if not rates or any(isinstance(each, nn.modules.batchnorm._BatchNorm) for each in parts):
        return
    inputs = subject.inputs(2, subject.length(10), examination.generator())
    subject.module.train()
    one, two = (subject.answer(inputs, gradient=True).detach() for _ in range(2))
    subject.module.eval()
    if torch.equal(one, two) and bool(one.isfinite().all()):
        said = Said(say.IDLE_DROPOUT, {"count": len(rates), "rate": max(rates)})
        yield Breach("K08", "WARN", (said,), ("dropout without effect",), law="dropout")


def _full_mask_hides(examination: Examination, inputs: Tensor) -> bool:
    """Whether queries are left with nothing to see by a mask that hides nothing: paths then differ over the empty."""
    subject = examination.asked
    told = subject.answer(inputs, mask=torch.ones(inputs.shape[:2], dtype=torch.bool, device=inputs.device))
    return bool(subject.answer(inputs).isfinite().all()) and not bool(told.isfinite().all())


def _same_finiteness_aside(examination: Examination, plain: Tensor, other: Tensor) -> bool:
    """Where neither is a number, that is K12's to say; where one is, the paths differ."""
    if not bool(plain.isfinite().any()) or not bool(other.isfinite().any()):
        return bool(plain.isfinite().any()) == bool(other.isfinite().any())
    return not examination.noise.differs(plain, other)


def _breach(examination: Examination, way: Message, plain: Tensor, other: Tensor) -> Breach:
    said = Said(say.PATHS_DIFFER, {"way": way, "floors": examination.noise.moved(plain, other)})
    two_sided = examination.asked.call.source is not None
    hinted = way is say.WITH_WEIGHTS
    suspects: tuple[str, ...] = ("memory padding mask missing", *SUSPECTS) if two_sided and not hinted else SUSPECTS
    if hinted:
        suspects = ("is_causal hint disagrees", *(name for name in SUSPECTS if name != "is_causal hint disagrees"))
    return Breach("K08", "ERROR", (said,), suspects, signs={"way": way.en}, law=way.en)


def _kernels(module: nn.Module, answered: Any) -> Iterator[Tensor]:
    """Hugging Face's attention under the other of its two plain kernels."""
    inner = innermost(module)
    config = getattr(inner, "config", None)
    now = getattr(config, "_attn_implementation", None)
    change = getattr(inner, "set_attn_implementation", None)
    if now not in ("eager", "sdpa") or not callable(change):
        return
    try:
        change("sdpa" if now == "eager" else "eager")
        found = answered()
    except Exception:  # this family has one kernel only
        return
    finally:
        change(now)
    yield found


def _weights(module: nn.Module, answered: Any) -> Iterator[Tensor]:
    """PyTorch's attention, asked for its weights and not."""
    attentions = [each for each in innermost(module).modules() if isinstance(each, nn.MultiheadAttention)]
    if not attentions:
        return
    for wanted in (True, False):
        with ExitStack() as hooks:
            for each in attentions:
                hook = each.register_forward_pre_hook(_asking(wanted), with_kwargs=True)
                hooks.callback(hook.remove)
            yield answered(gradient=True)


def _asking(wanted: bool) -> Any:
    def asked(module: nn.Module, places: Any, named: dict[str, Any]) -> Any:
        return places[:4], named | {"need_weights": wanted}

    return asked


PATHS = Check("K08", "path parity", say.PATHS, say.PATHS_RISK, _probe)

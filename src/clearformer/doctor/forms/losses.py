"""How a loss is asked: for logits and labels, or for a model and a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.check import NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.forms.arguments import called, parameters_of, roles_of
from clearformer.doctor.forms.batches import IGNORED, Batch, Lenient, read
from clearformer.doctor.forms.planting import Plant, Planted, planted
from clearformer.doctor.forms.trial import UnfitError, first_that_works
from clearformer.messages import doctor as say_doctor

VOCABULARY = 29
Own = Callable[[Tensor, Tensor | None, int], Batch]
Aim = str
"""`ids`: labels are the ids and the loss moves them on by one; `next`: they are the next ids already; `open`: the
form does not say which."""


@dataclass(frozen=True)
class LossForm:
    """`ask(batch, plant)` gives the loss for planted logits."""

    how: str
    vocab_size: int
    ask: Callable[[Batch, Plant], Tensor]
    own: Own
    """(ids, real, ignored) → a batch that the doctor makes, in the form that this loss reads."""
    aim: Aim
    takes_logits: bool
    function: Callable[..., Any]


def loss_form(examination: Examination) -> LossForm:
    """Raises NotApplicable where no loss was handed in, nor a model that has one inside, or no form works."""
    parts = examination.parts
    vocab = parts.vocab_size or VOCABULARY
    if parts.loss is None:
        inside = roles_of(parts.model, ["labels", "targets"]) if parts.model is not None else {}
        if not inside:
            raise NotApplicable(say_doctor.NEEDS["loss"])

        def inner(model: nn.Module, batch: Any) -> Any:
            view = read(batch)
            values = {"ids": view.ids, "labels": view.labels, "targets": view.labels}
            return _loss_inside(called(model, values | ({} if view.mask is None else {"mask": view.mask})))

        attempts = _model_forms(inner, examination, vocab, "labels" if "labels" in inside else "targets")
        return first_that_works("loss", attempts)
    roles = roles_of(parts.loss, ["model", "batch"])
    by_model, by_logits = (
        list(_model_forms(parts.loss, examination, vocab, None)),
        list(_logit_forms(parts.loss, vocab)),
    )
    return first_that_works("loss", by_model + by_logits if "model" in roles else by_logits + by_model)


def scalar(value: Any) -> Tensor:
    """The loss in an answer: a tensor, or the first number in a tuple, dictionary or object. () or (B)."""
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.ndim <= 1 and value.numel():
            return value if value.ndim == 0 or value.numel() > 1 else value[0]
        raise UnfitError(f"a tensor {tuple(value.shape)} instead of a loss")
    if isinstance(value, float):
        return torch.tensor(value)
    if isinstance(value, dict):
        return scalar(value["loss"] if "loss" in value else next(iter(value.values())))
    if isinstance(value, tuple) and value:
        return scalar(value[0])
    if hasattr(value, "loss"):
        return scalar(value.loss)
    raise UnfitError(f"{type(value).__name__} instead of a loss")


def _loss_inside(output: Any) -> Any:
    if isinstance(output, tuple):
        return next(each for each in output if isinstance(each, Tensor) and each.ndim == 0)
    return output


def _logit_forms(loss: Callable[..., Any], vocab: int) -> Iterator[tuple[str, Callable[[], LossForm]]]:
    names = roles_of(loss, ["logits", "log_probs", "labels", "targets", "ids", "mask"])
    aim = "next" if "targets" in names or _of_torch(loss) else "ids" if "ids" in names else "open"
    aim = "open" if "labels" in names else aim

    def form(shaped: str) -> LossForm:
        def ask(batch: Batch, plant: Plant) -> Tensor:
            logits, labels = plant(batch.ids), batch.aim
            if labels.shape[1] < logits.shape[1]:
                logits = logits[:, : labels.shape[1]]
            mask = batch.mask if batch.mask is not None else torch.ones_like(labels)
            if shaped == "flat":
                logits, labels, mask = logits.flatten(0, 1), labels.flatten(), mask.flatten()
            elif shaped == "classes second":
                logits = logits.transpose(1, 2)
            values: dict[str, Any] = {
                "logits": logits,
                "log_probs": logits,
                "labels": labels,
                "targets": labels,
                "mask": mask,
            }
            values |= {"ids": batch.ids if {"labels", "targets"} & names.keys() else labels, "vocab_size": vocab}
            if not {"logits", "log_probs"} & names.keys():
                return scalar(loss(logits, labels, mask) if _required(loss) > 2 else loss(logits, labels))
            return scalar(called(loss, values, order=("logits", "labels", "mask")))

        return _tried(LossForm(f"loss(logits, labels), {shaped}", vocab, ask, _plain(aim), aim, True, loss))

    for shaped in ("B T V", "flat", "classes second"):
        yield f"({shaped} logits, labels)", lambda shaped=shaped: form(shaped)  # type: ignore[misc]


def _required(loss: Callable[..., Any]) -> int:
    """How many arguments a loss must be given."""
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters_of(loss) or []
    )


def _of_torch(loss: Callable[..., Any]) -> bool:
    return (type(loss).__module__ if isinstance(loss, nn.Module) else getattr(loss, "__module__", "") or "").startswith(
        "torch."
    )


def _plain(aim: Aim) -> Own:
    def own(ids: Tensor, real: Tensor | None, ignored: int) -> Batch:
        read, labels = (ids[:, :-1], ids[:, 1:].clone()) if aim == "next" else (ids, ids.clone())
        if real is not None:
            labels[~(real[:, 1:] if aim == "next" else real)] = ignored
        mask = torch.ones_like(labels) if real is None else (real[:, 1:] if aim == "next" else real).long()
        return Batch(None, read, labels, mask)

    return own


def _model_forms(
    loss: Callable[..., Any], examination: Examination, vocab: int, inside: str | None
) -> Iterator[tuple[str, Callable[[], LossForm]]]:
    """With the user's model where there is one, else with a stand-in of each usual kind."""
    model, target_side = examination.parts.model, examination.parts.kind == "encoder-decoder"
    stand_ins: list[nn.Module] = [Planted(form, vocab) for form in ("object", "tensor", "tuple")]
    models = [model] if model is not None else stand_ins
    names = roles_of(loss, ["model", "batch", "labels", "targets", "ids", "mask"])
    spread = bool(names.keys() & {"labels", "targets"})
    for standing in models:
        for made in (inside,) if inside else ("labels",) if spread and "labels" in names else _MADE:

            def form(made: str = made, standing: nn.Module = standing) -> LossForm:
                def ask(batch: Batch, plant: Plant) -> Tensor:
                    values: dict[str, Any] = {"model": standing, "batch": batch.raw, "ids": batch.ids}
                    values |= {"labels": batch.aim, "targets": batch.aim, "vocab_size": vocab}
                    values |= {"mask": batch.mask} if batch.mask is not None else {}
                    with planted(standing, vocab, plant, target_side=target_side):
                        return scalar(called(loss, values, order=("model", "batch")))

                aim = {"labels": "open", "targets": "next", "pair": "next", "ids": "ids"}[made]
                return _tried(LossForm(f"loss(model, batch of {made})", vocab, ask, _raw(made), aim, False, loss))

            yield f"(model, batch of {made})", form


_MADE = ("labels", "pair", "ids")


def _raw(made: str) -> Own:
    plain = _plain("next" if made in ("targets", "pair") else "ids")

    def own(ids: Tensor, real: Tensor | None, ignored: int) -> Batch:
        batch = plain(ids, real, ignored)
        assert batch.labels is not None
        mask = torch.ones_like(batch.labels) if real is None else real[:, : batch.ids.shape[1]].long()
        raw: Any = batch.ids
        if made == "pair":
            raw = (batch.ids, batch.labels)
        elif made in ("labels", "targets"):
            raw = Lenient(input_ids=batch.ids, attention_mask=mask, labels=batch.labels)
            if made == "targets":
                raw = Lenient(idx=batch.ids, targets=batch.labels)
        return Batch(raw, batch.ids, None if made == "ids" else batch.labels, mask)

    return own


def _tried(form: LossForm) -> LossForm:
    """The form, where it gives a finite loss that hears the logits. Raises what the loss raises."""
    ids = torch.randint(1, form.vocab_size, (3, 7), generator=torch.Generator().manual_seed(1))
    form.ask(form.own(ids, None, IGNORED), lambda read: torch.zeros(*read.shape, form.vocab_size))
    return form

"""How a training loop is run for a look: on a copy of the module, or a stand-in, and batches of the doctor's own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.examination import Examination
from clearformer.doctor.forms.arguments import called, roles_of
from clearformer.doctor.forms.batches import IGNORED, Lenient
from clearformer.doctor.forms.loop_trace import EnoughError, Trace, traced
from clearformer.doctor.forms.planting import Planted
from clearformer.doctor.forms.trial import UnfitError, first_that_works
from clearformer.doctor.parts import Parts

LENGTHS = (5, 9, 12, 6, 11, 4, 8, 10, 5, 12, 7, 9)
"""Unequal, so that micro-batches hold unequal numbers of targets."""
ACCUMULATED = 2
WARM_UP = 2
MADE = ("dictionary", "pair", "ids")


class Small(Planted):
    """A trainable stand-in for a language model."""

    def __init__(self, form: str, vocab_size: int) -> None:
        super().__init__(form, vocab_size)
        self.tokens, self.head = nn.Embedding(vocab_size, 16), nn.Linear(16, vocab_size)
        self.plant = lambda ids: self.head(self.tokens(ids))


def run(examination: Examination) -> tuple[Trace, list[Tensor]]:
    """The trace of the user's loop, and the parameters as they were before. Raises NotApplicable where none runs."""
    return first_that_works("train", _attempts(examination))


def planned_warm_up(train: Callable[..., Any]) -> int | None:
    """How many updates the rate is said to rise for: what the loop is handed, or its own default."""
    parameter = roles_of(train, ["warmup"]).get("warmup")
    if parameter is None:
        return None
    planned = WARM_UP if parameter.default is parameter.empty else parameter.default
    return planned if isinstance(planned, int) and not isinstance(planned, bool) else None


def _attempts(examination: Examination) -> Iterator[tuple[str, Callable[[], tuple[Trace, list[Tensor]]]]]:
    parts = examination.parts
    vocab = parts.vocab_size or 29
    models: list[tuple[str, Callable[[], nn.Module]]] = []
    if parts.model is not None:
        models.append(("model", lambda: copy.deepcopy(parts.model)))  # type: ignore[arg-type, return-value]
    else:
        models += [(f"{form} model", lambda form=form: Small(form, vocab)) for form in ("tensor", "object", "tuple")]  # type: ignore[misc]
    for many in (1, 6):
        for named, make in models:
            for made in MADE:

                def attempt(make: Callable[[], nn.Module] = make, made: str = made, many: int = many) -> Any:
                    torch.manual_seed(examination.seed)
                    model = make().train()
                    before = [parameter.detach().clone() for parameter in model.parameters()]
                    trace = Trace(model, vocab)
                    with traced(trace), torch.enable_grad():
                        _loop(parts, model, [_batch(made, vocab, at) for at in range(many * len(LENGTHS))])
                    if not trace.count("step"):
                        raise UnfitError(f"no optimizer step in {many * len(LENGTHS)} batches")
                    return trace, before

                yield f"train({named}, batches of {made})", attempt


def _loop(parts: Parts, model: nn.Module, batches: list[Any]) -> None:
    assert parts.train is not None
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    turns = iter(range(10**6))
    spare: dict[str, Any] = {
        "optimizer": optimizer, "criterion": nn.CrossEntropyLoss(ignore_index=IGNORED), "validation": batches[:2],
        "clip": 1.0, "lr": 1e-3, "warmup": WARM_UP, "vocab_size": parts.vocab_size or 29, "batch_size": 2,
        "folder": None, "batch": batches[0], "get_batch": lambda *_, **__: batches[next(turns) % len(batches)],
        "tokenizer": parts.tokenizer,
        "scheduler": torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.1 * step)),
        "scaler": torch.amp.GradScaler("cpu", init_scale=2.0**12), "longest": max(LENGTHS),
    }  # fmt: skip
    given = {"model": model, "batches": batches, "accumulation": ACCUMULATED, "epochs": 1, "device": "cpu"}
    given["steps"] = len(batches)
    spare["config"] = SimpleNamespace(**(spare | given), grad_accum=ACCUMULATED, max_steps=len(batches))
    with suppress(EnoughError):
        called(parts.train, given, spare=spare, order=("model", "batches"))


def _batch(made: str, vocab_size: int, at: int) -> Any:
    length = LENGTHS[at % len(LENGTHS)]
    low = 4 if vocab_size > 8 else 0
    ids = torch.randint(low, vocab_size, (2, length + 1), generator=torch.Generator().manual_seed(at))
    if made == "pair":
        return ids[:, :-1], ids[:, 1:].contiguous()
    if made == "ids":
        return ids
    return Lenient(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids.clone())

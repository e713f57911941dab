"""Training loops: what is done in the wrong order, twice, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, faulty
from doctor.corpus.hand_written import VOCAB, Decoder
from doctor.corpus.loops import loss_of, together, warmed_up

Batches = Iterable[dict[str, Tensor]]


def looped(train: Any) -> Parts:
    return {"model": Decoder(), "kind": "decoder", "vocab_size": VOCAB, "train": train}


@faulty("accumulation by mean of means", report="D1")
def means_of_micro_batches_averaged() -> Parts:
    def train(model: nn.Module, batches: Batches, accumulate: int = 2) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        for number, batch in enumerate(batches):
            (loss_of(model, batch) / accumulate).backward()
            if (number + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()

    return looped(train)


@faulty("accumulation not divided", "accumulation by mean of means", report="D1")
def micro_batches_added_up() -> Parts:
    def train(model: nn.Module, batches: Batches, accumulate: int = 4) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        for number, batch in enumerate(batches):
            loss_of(model, batch).backward()
            if (number + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()

    return looped(train)


@faulty("gradients not zeroed", report="D1")
def gradients_pile_up() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for batch in batches:
            loss_of(model, batch).backward()
            optimizer.step()

    return looped(train)


@faulty("gradients zeroed before the step", "weights do not move", report="D1")
def gradients_dropped() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for batch in batches:
            loss_of(model, batch).backward()
            optimizer.zero_grad()
            optimizer.step()

    return looped(train)


@faulty("clip before unscale", report="D6")
def clipped_while_scaled() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scaler: Any = torch.amp.GradScaler("cpu")
        for batch in batches:
            optimizer.zero_grad()
            scaler.scale(loss_of(model, batch)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()

    return looped(train)


@faulty("clip after the step", report="D6")
def clipped_too_late() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    return looped(train)


@faulty("scheduler stepped N times", report="D5")
def scheduler_stepped_for_every_rank() -> Parts:
    def train(model: nn.Module, batches: Batches, ranks: int = 4) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            for _ in range(ranks):
                scheduler.step()

    return looped(train)


@faulty("scheduler stepped N times", report="D5")
def scheduler_stepped_for_every_micro_batch() -> Parts:
    def train(model: nn.Module, batches: Batches, accumulate: int = 2) -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
        held: list[dict[str, Tensor]] = []
        for batch in batches:
            held.append(batch)
            if len(held) == accumulate:
                together(model, held, optimizer)
                held = []
            scheduler.step()

    return looped(train)


@faulty("learning rate zero at first", report="D7")
def warm_up_begins_with_nothing() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 10))
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
            scheduler.step()

    return looped(train)


@faulty("scheduler before optimizer", report="D7")
def schedule_runs_ahead() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmed_up)
        for batch in batches:
            scheduler.step()
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    return looped(train)


@faulty("optimizer lacks parameters", report="N5")
def only_the_head_is_trained() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    return looped(train)


@faulty("training in evaluation mode", report="F4")
def never_back_to_training() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for batch in batches:
            model.eval()
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    parts = looped(train)
    for block in parts["model"].blocks:
        block.feedforward = nn.Sequential(block.feedforward, nn.Dropout(0.1))
    return parts


@faulty("weights do not move", "optimizer lacks parameters", report="D7")
def optimizer_of_a_copy() -> Parts:
    def train(model: nn.Module, batches: Batches) -> None:
        optimizer = torch.optim.AdamW([p.detach().clone().requires_grad_() for p in model.parameters()], lr=1e-3)
        for batch in batches:
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()

    return looped(train)

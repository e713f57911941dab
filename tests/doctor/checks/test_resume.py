"""K34 on a small training that forgets one thing at a time when it is taken up again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from doctor.checks.asking import causes

SAMPLES, EACH = 10, 5


def training(lost: str = "") -> Callable[..., Any]:
    def resume(ckpt_dir: str, max_steps: int) -> None:
        torch.manual_seed(3)
        samples = torch.randint(0, 20, (SAMPLES, 6))
        model = nn.Sequential(nn.Embedding(20, 8), nn.Dropout(0.2), nn.Linear(8, 20))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: 1 / (1 + at))
        path, step, first = Path(ckpt_dir) / "state.pt", 0, 0
        if path.exists() and lost != "everything":
            state = torch.load(path, weights_only=True)
            step = state["step"]
            first = step if lost == "order" else 0
            for name, held in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
                if name != lost:
                    held.load_state_dict(state[name])
            if lost != "generator":
                torch.set_rng_state(state["generator"])
        while step < max_steps:
            epoch, place = divmod(step - first, EACH)
            order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch))
            ids = samples[order[2 * place : 2 * place + 2]]
            optimizer.zero_grad()
            F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
            optimizer.step()
            scheduler.step()
            step += 1
        parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
        states = {name: held.state_dict() for name, held in parts.items()}
        torch.save(states | {"step": step, "generator": torch.get_rng_state()}, path)

    return resume


FAULTY = {
    "everything": "ERROR resume starts over", "model": "ERROR weights lost on resume",
    "optimizer": "ERROR optimizer state lost on resume", "scheduler": "ERROR scheduler state lost on resume",
    "order": "ERROR order after resume", "generator": "WARN generator state lost on resume",
}  # fmt: skip


def test_it_does_not_fire() -> None:
    assert causes("K34", resume=training()) == []


@pytest.mark.parametrize("lost", FAULTY)
def test_it_fires(lost: str) -> None:
    assert causes("K34", resume=training(lost))[0] == FAULTY[lost]


def test_it_is_not_applicable_where_nothing_is_trained() -> None:
    assert causes("K34") == ["-"]
    assert causes("K34", resume=lambda folder, steps: None) == ["-"]


def test_a_training_that_cannot_be_repeated_is_not_compared() -> None:
    def resume(folder: str, steps: int) -> None:
        torch.seed()
        model = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()

    assert causes("K34", resume=resume) == ["-"]

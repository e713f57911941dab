"""nanoGPT's model at its CPU setting, trained as nanoGPT trains: windows drawn at random, AdamW, cosine, clipping at 1.

The text is cut as the recipes cut it, nine tenths to train on, and judged on the whole last tenth in windows of 64.
"""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from clearformer.bench.language_peers import NanoGPTLike
from clearformer.bench.shapes import LanguageShape
from clearformer.data.named import find
from clearformer.machine import use_threads

STEPS, WARMUP, RATE, FLOOR = 2000, 100, 1e-3, 1e-4
_ROWS = 64


def train_peer(threads: int | None, seed: int) -> dict[str, Any]:
    """Loss on the last tenth (nats a character) and the seconds that training took, judging aside."""
    use_threads(threads)
    text = (find("tinyshakespeare") / "input.txt").read_text(encoding="utf-8")
    words = {character: number for number, character in enumerate(sorted(set(text)))}
    ids = torch.tensor([words[character] for character in text])
    training, last = ids[: int(len(ids) * 0.9)], ids[int(len(ids) * 0.9) :]
    shape = LanguageShape(layers=4, heads=4, width=128, context=64, batch=12, vocabulary=len(words))
    torch.manual_seed(seed)
    model = NanoGPTLike(shape)
    groups = [
        {"params": [p for p in model.parameters() if (p.dim() >= 2) is matrices], "weight_decay": decay}
        for matrices, decay in ((True, 0.1), (False, 0.0))
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.99), fused=True)
    began = time.perf_counter()
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = _rate(step)
        starts = torch.randint(len(training) - shape.context, (shape.batch,))
        windows = torch.stack([training[start : start + shape.context + 1] for start in starts])
        loss = functional.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return {
        "name": "nanoGPT's model",
        "seed": seed,
        "seconds": time.perf_counter() - began,
        "loss": _judge(model, last, shape.context),
    }


@torch.no_grad()
def _judge(model: nn.Module, ids: torch.Tensor, context: int) -> float:
    """Over every character of the text but the first, in consecutive windows, the last one short."""
    whole = (len(ids) - 1) // context
    windows = [ids[at * context : at * context + context + 1] for at in range(whole)]
    batches = [torch.stack(windows[first : first + _ROWS]) for first in range(0, whole, _ROWS)]
    if len(rest := ids[whole * context :]) > 1:
        batches.append(rest[None])
    nats = sum(
        float(functional.cross_entropy(model(b[:, :-1]).flatten(0, 1), b[:, 1:].flatten(), reduction="sum"))
        for b in batches
    )
    return nats / (len(ids) - 1)


def _rate(step: int) -> float:
    """nanoGPT's: a linear warm-up, then half a cosine down to a tenth."""
    if step < WARMUP:
        return RATE * (step + 1) / (WARMUP + 1)
    return FLOOR + 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))) * (RATE - FLOOR)

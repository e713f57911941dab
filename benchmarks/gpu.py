"""What a GPU reaches, in at most five minutes: parity, decode, prefill, training, attention from 1K to 64K.

    python benchmarks/gpu.py [--out gpu.json] [--seconds 300]

Figures are medians. A part that the time no longer allows is named, not guessed. Without a GPU nothing is measured.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from clearformer.bench.shapes import LanguageShape
from clearformer.bench.training import Trainee
from clearformer.bench.training_ours import nanogpt_design
from clearformer.build import build
from clearformer.cache.static import StaticCache
from clearformer.cost import cost
from clearformer.cost.attention_memory import Sizes, held
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.mask import Mask
from clearformer.loss import chunked_cross_entropy
from clearformer.model import DecoderOnly
from clearformer.spec import Causal
from clearformer.speed.training import Choices, apply

NO_GPU = "No GPU is at hand: parity, decode, prefill, training and attention on a GPU are not measured."
SHAPE = LanguageShape(layers=12, heads=12, width=768, context=1024, batch=8, vocabulary=50304)
LENGTHS = (1024, 4096, 16384, 65536)
Row = dict[str, Any]
Part = Callable[["Bench"], list[Row]]


@dataclass(frozen=True)
class Bench:
    """Where it is measured, how large, and until when."""

    device: str = "cuda"
    shape: LanguageShape = SHAPE
    lengths: tuple[int, ...] = LENGTHS
    dtype: torch.dtype = torch.bfloat16
    tokens: int = 64
    compiling: bool = True
    ends: float = float("inf")

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.ends

    def model(self, dtype: torch.dtype | None = None) -> DecoderOnly:
        generator = torch.Generator().manual_seed(0)
        made = build(nanogpt_design(self.shape), dtype=dtype or self.dtype, generator=generator)
        assert isinstance(made, DecoderOnly)
        return made.to(self.device)

    def seconds(self, work: Callable[[], object], *, warm_up: int = 2, rounds: int = 5) -> float:
        """The median of several runs, each waited for."""
        found = []
        for number in range(warm_up + rounds):
            self._wait()
            began = time.perf_counter()
            work()
            self._wait()
            found += [time.perf_counter() - began] * (number >= warm_up)
        return statistics.median(found)

    def _wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()


def parity(bench: Bench) -> list[Row]:
    """Logits in float32 by each kernel against the plain kernel on the CPU in float64, as a share of their range."""
    small = replace(bench, shape=LanguageShape(2, 4, 64, 96, 2, 101))
    ids = torch.randint(101, (2, 96), generator=torch.Generator().manual_seed(1))
    exact = replace(small, device="cpu").model(torch.float32).double()
    kernels: tuple[Kernel, ...] = ("plain", "tiled", "sdpa")
    rows = []
    with torch.no_grad():
        with apply(exact, Choices(kernel="plain")):
            expected = exact(ids)
        for kernel in kernels:
            model = small.model(torch.float32)
            with apply(model, Choices(kernel=kernel, device=bench.device)):
                found = model(ids.to(bench.device)).cpu().double()
            gap = float((found - expected).abs().max() / (expected.max() - expected.min()))
            rows.append({"kernel": kernel, "gap": gap, "equal": gap < 1e-3})
    return rows


@torch.no_grad()
def decode(bench: Bench) -> list[Row]:
    """Tokens a second at batch 1, greedy: as it is, compiled, and compiled into CUDA graphs."""
    model, shape = bench.model().eval(), bench.shape
    prompt = torch.zeros(1, shape.context // 2, dtype=torch.long, device=bench.device)
    count = min(bench.tokens, shape.context // 2 - 1)

    def step(ids: Tensor, cache: StaticCache) -> Tensor:
        return model.logits(model.stack.read_tokens(ids, cache=cache)[:, -1:]).argmax(-1)

    ways: dict[str, Callable[[Tensor, StaticCache], Tensor]] = {"eager": step}
    if bench.compiling:
        ways["compiled"] = torch.compile(step)
        ways["compiled, CUDA graphs"] = torch.compile(step, mode="reduce-overhead")
    rows = []
    for name, way in ways.items():
        if bench.is_over:
            rows.append({"way": name, "outcome": "out of time"})
            continue

        def write(way: Callable[[Tensor, StaticCache], Tensor] = way) -> None:
            cache = StaticCache(
                model.stack.spec, batch=1, capacity=shape.context, dtype=bench.dtype, device=bench.device
            )
            ids = step(prompt, cache)
            for _ in range(count):
                # A CUDA graph writes its answer where the next run writes its own.
                ids = way(ids, cache).clone()

        whole = bench.seconds(write, rounds=3)
        reading = bench.seconds(lambda: step(prompt, _cache(bench, model)), rounds=3)
        rows.append({"way": name, "tok_s": count / max(whole - reading, 1e-9)})
    return rows


@torch.no_grad()
def prefill(bench: Bench) -> list[Row]:
    """Prompt tokens a second at batch 1, as it is and compiled."""
    model = bench.model().eval()
    ids = torch.zeros(1, bench.shape.context, dtype=torch.long, device=bench.device)

    def read() -> Tensor:
        return model.logits(model.hidden(ids)[:, -1:])

    ways: dict[str, Callable[[], Tensor]] = {"eager": read}
    if bench.compiling:
        ways["compiled"] = torch.compile(read)
    return [{"way": name, "tok_s": ids.numel() / bench.seconds(way)} for name, way in ways.items()]


def training(bench: Bench) -> list[Row]:
    """Tokens a second of whole updates under autocast, and their share of the matrix peak measured beside (MFU)."""
    inputs, targets = (each.to(bench.device) for each in bench.shape.batches(1)[0])
    shape = bench.shape
    operations = cost(nanogpt_design(shape), batch=shape.batch, length=shape.context).flops.training
    peak, rows = _matrix_peak(bench), []
    for compiled in (False, True) if bench.compiling else (False,):
        if bench.is_over:
            rows.append({"compiled": compiled, "outcome": "out of time"})
            continue
        model = bench.model(torch.float32)
        choices = Choices(compile=compiled, dtype="bfloat16", device=bench.device)

        def loss(inputs: Tensor, targets: Tensor, model: DecoderOnly = model) -> Tensor:
            found = chunked_cross_entropy(model.hidden(inputs), model.logits, targets)
            return found.total / found.units

        with apply(model, choices):
            trainee = Trainee("clearformer", model, loss)
            seconds = bench.seconds(lambda trainee=trainee: trainee.step(inputs, targets))  # type: ignore[misc]
        rate = bench.shape.tokens / seconds
        rows.append({"compiled": compiled, "tok_s": rate, "mfu": operations / seconds / peak, "peak_flops": peak})
    return rows


def attention(bench: Bench) -> list[Row]:
    """Causal attention with its gradients, 8 heads of 64: plain, tiled, SDPA's flash kernel, and flex compiled."""
    rows = []
    for length in bench.lengths:
        slots = torch.arange(length, device=bench.device)[None]
        mask = Mask(Causal(), slots, slots, in_order=True)
        generator = torch.Generator().manual_seed(0)
        given = [
            torch.randn(1, 8, length, 64, generator=generator).to(bench.device, bench.dtype).requires_grad_()
            for _ in range(3)
        ]
        for name, run in _attentions(bench, given, mask).items():
            rows.append({"kernel": name, "length": length, **_attended(bench, name, length, run, given)})
    return rows


def _attentions(bench: Bench, given: list[Tensor], mask: Mask) -> dict[str, Callable[[], Tensor]]:
    def by(kernel: Kernel) -> Callable[[], Tensor]:
        return lambda: attend(*given, mask, scale=0.125, kernel=kernel)

    def flash() -> Tensor:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return by("sdpa")()

    ways = {"plain": by("plain"), "tiled": by("tiled"), "sdpa flash": flash}
    if bench.compiling:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        length = given[0].shape[2]
        below = create_block_mask(lambda b, h, q, k: q >= k, None, None, length, length, device=bench.device)
        fast = torch.compile(flex_attention)
        ways["flex"] = lambda: fast(*given, block_mask=below, scale=0.125)
    return ways


def _attended(bench: Bench, name: str, length: int, run: Callable[[], Tensor], given: list[Tensor]) -> Row:
    needed = held(Sizes(1, 8, 8, length, 64, bench.dtype.itemsize), "plain", training=True).value
    if name == "plain" and needed > _free(bench):
        return {"outcome": "would not fit", "predicted": needed}
    if bench.is_over:
        return {"outcome": "out of time"}
    gc.collect()
    if bench.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated() if bench.device == "cuda" else 0

    def step() -> None:
        mixed = run()
        torch.autograd.grad(mixed, given, mixed.detach())

    seconds = bench.seconds(step, warm_up=1, rounds=3)
    peak = torch.cuda.max_memory_allocated() - before if bench.device == "cuda" else None
    return {"seconds": seconds, "peak": peak}


def _free(bench: Bench) -> int:
    return int(torch.cuda.mem_get_info()[0] * 0.8) if bench.device == "cuda" else 2**30


def _cache(bench: Bench, model: DecoderOnly) -> StaticCache:
    return StaticCache(model.stack.spec, batch=1, capacity=bench.shape.context, dtype=bench.dtype, device=bench.device)


def _matrix_peak(bench: Bench, side: int = 8192) -> float:
    """Operations a second of one large product."""
    side = side if bench.device == "cuda" else 256
    matrix = torch.randn(side, side, device=bench.device, dtype=bench.dtype)
    return 2 * side**3 / bench.seconds(lambda: matrix @ matrix)


PARTS: tuple[Part, ...] = (parity, attention, prefill, training, decode)


def measure(bench: Bench) -> dict[str, Any]:
    """Every part by name; one that the time does not allow has no rows."""
    told: dict[str, Any] = {}
    for part in PARTS:
        began = time.monotonic()
        told[part.__name__] = [] if bench.is_over else part(bench)
        print(f"{part.__name__}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        for row in told[part.__name__]:
            print("  ", json.dumps(row), flush=True)
    return told


def main(arguments: list[str] | None = None) -> int:
    """0, or 1 where there is no GPU or a kernel is not equal to the plain one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the figures into this file as JSON")
    parser.add_argument("--seconds", type=float, default=300.0, help="begin nothing after so many seconds")
    flags = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print(NO_GPU, file=sys.stderr)
        return 1
    about = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    # What has begun is finished: a part may compile for a minute.
    told = about | measure(Bench(ends=time.monotonic() + 0.7 * flags.seconds))
    if flags.out is not None:
        flags.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row["equal"] for row in told["parity"]) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Run as a program: compile one decode step of several models and print, as JSON, what the compiler did.

Nothing here may import the tests' conftest: shape checks and compilation do not mix.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import torch
import torch._dynamo as dynamo
from torch import Tensor

from clearformer import spec as s
from clearformer.build import build
from clearformer.cache.static import StaticCache
from clearformer.spec.presets import paper, tiny_gpt

PROMPT, END, CAPACITY = 4, 14, 32
Step = Callable[[Tensor, StaticCache], Tensor]


def modern(feedforward: s.FeedForward, attention: s.AnyAttention | None = None) -> s.DecoderOnly:
    seen = attention or s.Attention(4, 2, 4, 4, position=s.Rotary())
    block = s.Block(seen, feedforward, s.RMSNorm(), s.RMSNorm())
    return s.DecoderOnly(s.Stack(16, s.Tokens(29), (block,) * 2, s.RMSNorm()), s.Language(), context=CAPACITY)


SPECS: dict[str, s.DecoderOnly | s.EncoderDecoder] = {
    "llama": modern(s.Gated(24)),
    "gpt2": tiny_gpt(width=16, heads=2, layers=2, vocabulary=29, context=CAPACITY),
    "experts": modern(s.Experts(4, 2, s.Gated(8), s.SoftmaxRouter(), shared=s.Gated(8))),
    "latent": modern(s.Gated(24), s.LatentAttention(2, 4, 4, 6, s.Rotary(width=4))),
    "encoder-decoder": paper(width=16, heads=2, hidden=24, layers=2, vocabulary=29, context=CAPACITY),
}


def step_of(spec: s.DecoderOnly | s.EncoderDecoder, device: str) -> Step:
    model = build(spec, device=device, generator=torch.Generator().manual_seed(0)).eval()
    if not isinstance(spec, s.EncoderDecoder):
        return lambda ids, cache: model(ids, cache=cache)
    memory = model.encode(torch.arange(10, device=device).view(2, 5))
    return lambda ids, cache: model.decode(ids, memory, cache=cache)


@torch.no_grad()
def compare(spec: s.DecoderOnly | s.EncoderDecoder, device: str, backend: str) -> dict[str, float | int]:
    """The greatest difference from eager decoding, and how many graphs served all lengths."""
    dynamo.reset()
    dynamo.utils.counters.clear()
    step = step_of(spec, device)
    compiled = torch.compile(step, fullgraph=True, backend=backend)
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 29, (2, END), generator=generator).to(device)
    plain, fast = (
        StaticCache(spec.decoder, batch=2, capacity=CAPACITY, dtype=torch.float32, device=device) for _ in range(2)
    )
    step(ids[:, :PROMPT], plain)
    step(ids[:, :PROMPT], fast)
    worst = 0.0
    for at in range(PROMPT, END):
        # The first length is compiled as a number, the second as a symbol; from then on nothing may be compiled.
        with dynamo.config.patch(error_on_recompile=at >= PROMPT + 2):
            found = compiled(ids[:, at : at + 1], fast)
        expected = step(ids[:, at : at + 1], plain)
        worst = max(worst, float((found - expected).abs().max() / expected.abs().max()))
    stats = dynamo.utils.counters
    return {
        "difference": worst,
        "graphs": stats["stats"]["unique_graphs"],
        "breaks": sum(stats["graph_break"].values()),
        "length": fast.length,
    }


def main() -> None:
    device, backend, *names = sys.argv[1:]
    torch.set_num_threads(1)
    outcome: dict[str, object] = {}
    for name in names:
        try:
            outcome[name] = compare(SPECS[name], device, backend)
        except Exception as error:
            outcome[name] = {"error": f"{type(error).__name__}: {error}"[:2000]}
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()

"""Run as a program: train a step eagerly and compiled by each kernel, and print, as JSON, how the gradients compare.

Nothing here may import the tests' conftest: shape checks and compilation do not mix.
"""

from __future__ import annotations

import json
import sys

import torch
import torch._dynamo as dynamo

from clearformer import spec as s
from clearformer.build import build
from clearformer.layers.kernels import Kernel
from clearformer.loss import chunked_cross_entropy, shift
from clearformer.model import DecoderOnly
from clearformer.speed import compiling
from clearformer.speed.training import Choices, apply

LAYERS = 5


def made() -> DecoderOnly:
    seen = s.Attention(4, 2, 4, 4, position=s.Rotary())
    block = s.Block(seen, s.Gated(24), s.RMSNorm(), s.RMSNorm())
    spec = s.DecoderOnly(s.Stack(16, s.Tokens(29), (block,) * LAYERS, s.RMSNorm()), s.Language(), context=16)
    model = build(spec, generator=torch.Generator().manual_seed(0))
    assert isinstance(model, DecoderOnly)
    return model


def gradients(model: DecoderOnly, choices: Choices, *, documents: bool) -> list[torch.Tensor]:
    ids = torch.arange(36).view(2, 18) % 29
    inputs, targets = shift(ids)
    numbers = torch.arange(17).expand(2, -1) // 9 if documents else None
    model.zero_grad()
    with apply(model, choices):
        chunked_cross_entropy(model.hidden(inputs, documents=numbers), model.logits, targets).total.backward()
        model.eval()
        with torch.no_grad():
            model(ids[:, :3])
        model.train()
    return [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]


def compare(backend: str, kernel: Kernel, documents: bool) -> dict[str, float]:
    dynamo.reset()
    graphs = 0

    def counted(graph: torch.fx.GraphModule, example: list[torch.Tensor]) -> object:
        nonlocal graphs
        graphs += 1
        return dynamo.lookup_backend(backend)(graph, example)

    compile_as = torch.compile
    compiling.torch.compile = lambda function, **how: compile_as(function, backend=counted, fullgraph=True, **how)
    model = made()
    eager = gradients(model, Choices(kernel=kernel), documents=documents)
    fast = gradients(model, Choices(kernel=kernel, compile=True), documents=documents)
    compiling.torch.compile = compile_as
    gap = max(float((a - b).abs().max() / (b.abs().max() + 1e-6)) for a, b in zip(fast, eager, strict=True))
    return {"gap": gap, "graphs": graphs, "weights": len(fast)}


if __name__ == "__main__":
    kernels: tuple[Kernel, ...] = ("plain", "tiled", "sdpa")
    found = {
        f"{kernel} {documents}": compare(sys.argv[1], kernel, documents)
        for kernel in kernels
        for documents in (False, True)
    }
    print(json.dumps(found))

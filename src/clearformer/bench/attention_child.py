"""One attention, one kernel, one length: run as a program by `bench attention`."""

from __future__ import annotations

import time

import torch

from clearformer.bench.children import Told, serve
from clearformer.layers.kernels import attend
from clearformer.layers.mask import Mask
from clearformer.spec import Causal


def prepare(told: Told) -> Runner:
    """Heads lie as a projection leaves them; the mask is causal."""
    torch.set_num_threads(told["threads"])
    # What libraries take when they are first used is no part of an attention.
    Runner({**told, "length": 64})()
    return Runner(told)


class Runner:
    """One forward pass a run, and to train the gradients of all inputs."""

    def __init__(self, told: Told) -> None:
        generator = torch.Generator().manual_seed(0)
        dtype: torch.dtype = getattr(torch, told["dtype"])

        def heads(count: int) -> torch.Tensor:
            made = torch.randn(told["batch"], told["length"], count, told["width"], generator=generator).to(dtype)
            return made.transpose(1, 2).requires_grad_(told["training"])

        self._given = heads(told["heads"]), heads(told["kv_heads"]), heads(told["kv_heads"])
        self._kernel, self._training = told["kernel"], told["training"]
        self._seen, self._dropout = Causal(told["window"]), told["dropout"]

    def __call__(self) -> Told:
        query, key, value = self._given
        slots = torch.arange(query.shape[2])[None]
        mask = Mask(self._seen, slots, slots, in_order=True)
        how = {"scale": query.shape[3] ** -0.5, "dropout": self._dropout, "kernel": self._kernel}
        began = time.perf_counter()
        mixed = attend(query, key, value, mask, **how)
        if self._training:
            torch.autograd.grad(mixed, self._given, mixed.detach())
        return {"seconds": time.perf_counter() - began}


if __name__ == "__main__":
    serve(prepare)

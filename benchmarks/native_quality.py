"""What packed weights cost in quality: KL divergence a token, and perplexity, of each number type.

    python benchmarks/native_quality.py smollm2-135m
    python benchmarks/native_quality.py smollm2-135m --characters 20000 --dtypes bfloat16 int8 int4 --vs llama.cpp

The text is the beginning of tinyshakespeare (CLEARFORMER_DATA), read in windows of 512 tokens. KL is taken against
PyTorch in float32 with the same weights: those that the packed type holds, so that it is the arithmetic's error only.
Perplexity is against bfloat16 weights, so that it is that of rounding the weights too. llama.cpp (`make bench-setup`)
reads the GGUF file of the same type that `bench` exports for it, and is held against that file's own numbers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from clearformer.bench.children import Child
from clearformer.bench.environments import LLAMA_CPP, python_of
from clearformer.bench.llama_cpp import CHILD, gguf_of
from clearformer.load import Loaded, load, look, weights_of
from clearformer.native.engine import ROWS
from clearformer.native.structures import BLOCKS
from clearformer.speed.native import NativeDecoder, as_format
from clearformer.store import resolve
from clearformer.store.pull import silent

WINDOW = 512
Reads = Callable[[list[int]], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a decoder, as `clearformer generate` takes it")
    parser.add_argument("--characters", type=int, default=20_000)
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "int8", "int4"])
    parser.add_argument("--vs", choices=["llama.cpp"], help="the same of llama.cpp's type beside each")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    text = tinyshakespeare().read_text(encoding="utf-8")[: arguments.characters]
    plain = load(arguments.model)
    assert plain.tokenizer is not None
    ids = plain.tokenizer.encode(text)
    base = perplexity(plain, rounded_to_bfloat16(plain), ids)
    print(json.dumps({"tokens": len(ids), "bfloat16 weights, PyTorch float32": {"perplexity": base}}))
    for dtype in arguments.dtypes:
        print(json.dumps({dtype: of_type(arguments.model, plain, dtype, ids, base)}), flush=True)
        if arguments.vs:
            print(json.dumps({f"{dtype}, llama.cpp": of_llama_cpp(arguments.model, dtype, ids, base)}), flush=True)


def of_type(name: str, plain: Loaded, dtype: str, ids: list[int], base: float) -> dict[str, float]:
    """One type's figures."""
    found = look(resolve(name))
    threads = torch.get_num_threads()
    decoder = NativeDecoder(found.spec, weights_of(found, blocks=BLOCKS), as_format(dtype), threads=threads)
    held = held_by(decoder, plain)
    figures = against(
        lambda window: native_logits(decoder, window), lambda window: torch_logits(plain, held, window), ids, base
    )
    return figures | {"megabytes": decoder.engine.program.weights / 1e6}


def of_llama_cpp(name: str, dtype: str, ids: list[int], base: float) -> dict[str, float]:
    """The peer's figures, of the file that it reads, against PyTorch in float32 with the same file's numbers."""
    file = gguf_of(resolve(name), dtype, silent)
    plain = load(file)
    held, told = dict(plain.model.named_parameters()), {"file": str(file), "threads": torch.get_num_threads()}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "logits"
        with Child(CHILD, {"task": "score", **told}, python=python_of(LLAMA_CPP)) as child:

            def logits(window: list[int]) -> Tensor:
                if child.run(ids=window, out=str(out)) is None:
                    raise SystemExit(f"llama.cpp ended early: {child.last_words}")
                return torch.from_numpy(np.fromfile(out, np.float32).reshape(len(window), -1))

            figures = against(logits, lambda window: torch_logits(plain, held, window), ids, base)
    return figures | {"megabytes": file.stat().st_size / 1e6}


def against(found: Reads, exact: Reads, ids: list[int], base: float) -> dict[str, float]:
    """Mean KL a token from the exact logits, and perplexity against that of `base`."""
    divergence, surprise, count = 0.0, 0.0, 0
    for window in windows(ids):
        ours, wanted = found(window).log_softmax(-1), exact(window).log_softmax(-1)
        divergence += float((wanted.exp() * (wanted - ours)).sum())
        surprise -= float(ours[:-1].gather(1, torch.tensor(window[1:])[:, None]).sum())
        count += len(window) - 1
    perplexity = math.exp(surprise / count)
    return {"kl": divergence / len(ids), "perplexity": perplexity, "against bfloat16": perplexity / base - 1}


def perplexity(plain: Loaded, weights: dict[str, Tensor], ids: list[int]) -> float:
    surprise, count = 0.0, 0
    for window in windows(ids):
        logprobs = torch_logits(plain, weights, window).log_softmax(-1)
        surprise -= float(logprobs[:-1].gather(1, torch.tensor(window[1:])[:, None]).sum())
        count += len(window) - 1
    return math.exp(surprise / count)


def windows(ids: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(ids), WINDOW):
        if len(part := ids[start : start + WINDOW]) > 1:
            yield part


def native_logits(decoder: NativeDecoder, ids: list[int]) -> Tensor:
    sequence, parts = decoder.sequence(WINDOW, WINDOW), []
    for start in range(0, len(ids), ROWS):
        some = ids[start : start + ROWS]
        parts.append(torch.from_numpy(decoder.engine.run(some, [sequence] * len(some), range(len(some)))))
    return torch.cat(parts)


@torch.inference_mode()
def torch_logits(plain: Loaded, weights: dict[str, Tensor], ids: list[int]) -> Tensor:
    logits: Tensor = torch.func.functional_call(plain.model, weights, (torch.tensor([ids]),))[0]
    return logits


def rounded_to_bfloat16(plain: Loaded) -> dict[str, Tensor]:
    return {name: weight.detach().bfloat16().float() for name, weight in plain.model.named_parameters()}


def held_by(decoder: NativeDecoder, plain: Loaded) -> dict[str, Tensor]:
    """The weights that the kernels compute with, by our names; what is not packed is as it was."""
    shapes = {name: weight.shape for name, weight in plain.model.named_parameters()}
    held = dict(plain.model.named_parameters())
    for names, matrix in decoder.engine.program.packed:
        numbers = torch.from_numpy(matrix.numbers())
        if len(names) == 2:
            numbers = numbers.unflatten(0, (-1, 2, 16)).transpose(0, 1).flatten(0, 2)
            numbers = torch.cat([numbers[half * len(numbers) // 2 :][: shapes[names[0]][0]] for half in range(2)])
        start = 0
        for name in names:
            held[name] = numbers[start : start + shapes[name][0]]
            start += shapes[name][0]
    return held


def tinyshakespeare() -> Path:
    folder = Path(os.environ.get("CLEARFORMER_DATA", "data"))
    return next(path for path in sorted(folder.rglob("*.txt")) if "shakespeare" in str(path))


if __name__ == "__main__":
    main()

"""What packed weights cost in quality: KL divergence a token, and perplexity, of each number type.

    python benchmarks/native_quality.py smollm2-135m
    python benchmarks/native_quality.py smollm2-135m --characters 20000 --dtypes bfloat16 int8 int4

The text is the beginning of tinyshakespeare (CLEARFORMER_DATA), read in windows of 512 tokens. KL is taken against
PyTorch in float32 with the same weights: those that the packed type holds, so that it is the arithmetic's error alone.
Perplexity is against bfloat16 weights, so that it is that of the rounding of weights too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

from clearformer.load import Loaded, load, look, weights_of
from clearformer.native.engine import ROWS
from clearformer.native.structures import BLOCKS
from clearformer.speed.native import NativeDecoder, as_format
from clearformer.store import resolve

WINDOW = 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a decoder, as `clearformer generate` takes it")
    parser.add_argument("--characters", type=int, default=20_000)
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "int8", "int4"])
    arguments = parser.parse_args()
    text = tinyshakespeare().read_text(encoding="utf-8")[: arguments.characters]
    plain = load(arguments.model)
    assert plain.tokenizer is not None
    ids = plain.tokenizer.encode(text)
    base = perplexity(plain, rounded_to_bfloat16(plain), ids)
    print(json.dumps({"tokens": len(ids), "bfloat16 weights, PyTorch float32": {"perplexity": base}}))
    for dtype in arguments.dtypes:
        print(json.dumps({dtype: of_type(arguments.model, plain, dtype, ids, base)}), flush=True)


def of_type(name: str, plain: Loaded, dtype: str, ids: list[int], base: float) -> dict[str, float]:
    """One type's figures."""
    found = look(resolve(name))
    threads = torch.get_num_threads()
    decoder = NativeDecoder(found.spec, weights_of(found, blocks=BLOCKS), as_format(dtype), threads=threads)
    held = held_by(decoder, plain)
    divergence, surprise, count = 0.0, 0.0, 0
    for window in windows(ids):
        native, exact = (
            native_logits(decoder, window).log_softmax(-1),
            torch_logits(plain, held, window).log_softmax(-1),
        )
        divergence += float((exact.exp() * (exact - native)).sum())
        surprise -= float(native[:-1].gather(1, torch.tensor(window[1:])[:, None]).sum())
        count += len(window) - 1
    found_perplexity = math.exp(surprise / count)
    return {
        "kl": divergence / len(ids),
        "perplexity": found_perplexity,
        "against bfloat16": found_perplexity / base - 1,
        "megabytes": decoder.engine.program.weights / 1e6,
    }


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

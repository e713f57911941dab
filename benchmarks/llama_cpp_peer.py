"""llama.cpp's side of a decode or prefill: tokens a second, one JSON list [prefill, decode], in a process of its own.

    clearformer export smollm2-135m q4_0.gguf --type q4_0
    PEER/bin/python benchmarks/llama_cpp_peer.py q4_0.gguf --prompt 128 --new 128

PEER is an environment of its own with `llama-cpp-python` built for this machine; run it in turn with
`clearformer bench decode --backend native --dtype int4 --runs 1 --busy-ok --json`, five times each.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from llama_cpp import Llama


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a GGUF file")
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--new", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    model = Llama(
        chosen.file,
        n_ctx=chosen.prompt + chosen.new + 8,
        n_threads=chosen.threads,
        n_threads_batch=chosen.threads,
        n_batch=512,
        n_ubatch=512,
        verbose=False,
    )
    ids = [number * 7919 % 40000 + 100 for number in range(chosen.prompt)]
    model.eval(ids[:8])
    model.reset()
    began = time.perf_counter()
    model.eval(ids)
    token = likeliest(model)
    read = time.perf_counter()
    for _ in range(chosen.new):
        model.eval([token])
        token = likeliest(model)
    wrote = time.perf_counter()
    print(json.dumps([chosen.prompt / (read - began), chosen.new / (wrote - read)]))


def likeliest(model: Llama) -> int:
    logits = model._ctx.get_logits_ith(-1)
    return int(np.argmax(np.ctypeslib.as_array(logits, shape=(model.n_vocab(),))))


if __name__ == "__main__":
    main()

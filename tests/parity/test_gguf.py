"""What we write as GGUF, we read back with equal logits; llama.cpp reads it and writes the same tokens."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from clearformer.export_gguf import export_gguf
from clearformer.load import Loaded, load
from parity.gguf_models import DECODERS, ENCODERS

INTERPRETER = os.environ.get("CLEARFORMER_LLAMA_CPP")
NEW = 16


@pytest.fixture(scope="session")
def llama_cpp():
    """Ask llama.cpp, in a process of its own; skips where no interpreter has it."""
    if not INTERPRETER:
        pytest.skip("CLEARFORMER_LLAMA_CPP names no Python that has llama-cpp-python")
    if subprocess.run([INTERPRETER, "-c", "import llama_cpp"], capture_output=True, check=False).returncode:
        pytest.skip(f"{INTERPRETER} cannot import llama_cpp")

    def ask(path: Path, **asked: Any) -> dict[str, Any]:
        program = Path(__file__).with_name("asked_of_llama_cpp.py")
        text = json.dumps({"model": str(path), **asked})
        ended = subprocess.run([INTERPRETER, program], input=text, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr[-2000:]
        answer: dict[str, Any] = json.loads(ended.stdout)
        return answer

    return ask


def greedy(loaded: Loaded, prompt: list[int], count: int) -> tuple[list[int], torch.Tensor]:
    """The likeliest tokens one after another, and the logits behind the prompt, without a cache."""
    ids, first = list(prompt), None
    # Which divisors LongRoPE takes is declared once for the whole text, as llama.cpp does by its context.
    bound = torch.tensor([64])
    with torch.no_grad():
        for _ in range(count):
            logits = loaded.model(torch.tensor([ids]), length_bound=bound)[0, -1]
            first = logits if first is None else first
            ids.append(int(logits.argmax()))
    assert first is not None
    return ids[len(prompt) :], first


@pytest.fixture(scope="session")
def written(save_original, tmp_path_factory):
    """`written(name, kind)`: the original and its GGUF file; each model is drawn once."""
    originals: dict[str, Any] = {}

    def write(name: str, kind: str):
        if name not in originals:
            make, config = {**DECODERS, **ENCODERS}[name]
            originals[name] = save_original(make(config))
        path = tmp_path_factory.mktemp("gguf") / f"{name}.gguf"
        export_gguf(originals[name].folder, path, kind)
        return originals[name], path

    return write


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", DECODERS)
def test_llama_cpp_writes_the_same_tokens(written, llama_cpp, name, kind):
    found, path = written(name, kind)
    ours = load(path)
    prompts = [found.batch.ids[0, :length].tolist() for length in (1, 9, 30)]
    answer = llama_cpp(path, prompts=prompts, new=NEW)
    for prompt, tokens, logits in zip(prompts, answer["written"], answer["logits"], strict=True):
        expected, ours_first = greedy(ours, prompt, NEW)
        apart = (torch.tensor(logits) - ours_first).abs().max() / (ours_first.max() - ours_first.min())
        print(name, kind, len(prompt), float(apart), tokens == expected)

"""llama.cpp loads what we write, and computes the same: logits, greedy tokens, a sentence's vector.

Run where CLEARFORMER_LLAMA_CPP is the path of a Python that has llama-cpp-python; skipped elsewhere.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from clearformer.export_gguf import export_gguf
from clearformer.load import Loaded, load
from drawing.gguf_files import asked_of_llama_cpp
from parity.gguf_models import DECODERS, ENCODERS

NEW = 16
# ggml takes GELU from a table of float16 numbers.
GELU = ("gemma", "gpt2")


@pytest.fixture(scope="session")
def written(save_original, tmp_path_factory):
    """`written(name, kind)`: a model and its GGUF file; each model is drawn once."""
    originals: dict[str, Any] = {}

    def write(name: str, kind: str):
        if name not in originals:
            make, config = {**DECODERS, **ENCODERS}[name]
            originals[name] = save_original(make(config))
        return originals[name], export_gguf(
            originals[name].folder, tmp_path_factory.mktemp("gguf") / f"{name}.gguf", kind
        ).path

    return write


def greedy(loaded: Loaded, prompt: list[int], count: int) -> list[torch.Tensor]:
    """The logits behind the prompt, and behind each of the likeliest tokens that follow it."""
    ids, seen = list(prompt), []
    # Which of LongRoPE's divisors count is declared for the whole text, as llama.cpp does by its context.
    bound = torch.tensor([64])
    with torch.no_grad():
        for _ in range(count):
            seen.append(loaded.model(torch.tensor([ids]), length_bound=bound)[0, -1])
            ids.append(int(seen[-1].argmax()))
    return seen


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", DECODERS)
def test_llama_cpp_writes_the_same_tokens(written, name, kind):
    found, path = written(name, kind)
    prompts = [found.batch.ids[0, :length].tolist() for length in (9, 30)]
    answer = asked_of_llama_cpp(path, prompts=prompts, new=NEW)
    ours = load(path)
    # With weights in float16, ggml rounds what they are multiplied with to float16 too.
    near = 5e-3 if kind == "f16" else 1e-3 if name.startswith(GELU) else 1e-5
    for prompt, tokens, logits in zip(prompts, answer["written"], answer["logits"], strict=True):
        seen = greedy(ours, prompt, NEW)
        spread = float(seen[0].max() - seen[0].min())
        assert (torch.tensor(logits) - seen[0]).abs().max() <= near * spread
        expected = [int(each.argmax()) for each in seen]
        if (at := next((at for at in range(NEW) if tokens[at] != expected[at]), None)) is not None:
            # Only where the two are as good as equal may the rounding choose.
            assert seen[at].max() - seen[at][tokens[at]] <= near * spread


@pytest.mark.parametrize(("kind", "near"), [("q8_0", 0.03), ("q4_0", 0.03), ("bf16", 0.01)])
@pytest.mark.parametrize("name", ["llama", "mixtral", "phi3"])
def test_llama_cpp_reads_every_type(written, name, kind, near):
    """Rows of 48 fall back to F16, those of 88 too: blocks and plain numbers stand side by side in these files."""
    found, path = written(name, kind)
    prompt = found.batch.ids[0, :9].tolist()
    answer = asked_of_llama_cpp(path, prompts=[prompt], new=1)
    (ours,) = greedy(load(path), prompt, 1)
    assert (torch.tensor(answer["logits"][0]) - ours).abs().max() <= near * float(ours.max() - ours.min())


def test_llama_cpp_gives_the_same_vector(minilm_folder, tmp_path):
    path = export_gguf(minilm_folder, tmp_path / "minilm.gguf").path
    ours = load(path)
    ids = ours.tokenizer.encode("The capital of France is Paris.")
    answer = asked_of_llama_cpp(path, prompts=[ids], embed=True)
    with torch.no_grad():
        expected = ours.model(torch.tensor([ids]))[0]
    assert torch.cosine_similarity(torch.tensor(answer["vectors"][0]), expected, dim=0) > 0.9999


def test_smollm2_in_llama_cpp(smollm2_gguf, tmp_path):
    path = export_gguf(smollm2_gguf, tmp_path / "smollm2.gguf", "f16").path
    ours = load(path)
    texts = ["The capital of France is", "注意力就是你所需要的一切。", "Emoji 😀👨‍👩‍👧🇫🇷  12345\n\n naïve"]
    prompts = [ours.tokenizer.encode(text) for text in texts]
    answer = asked_of_llama_cpp(path, prompts=prompts, new=NEW, texts=texts)
    assert answer["texts"] == prompts
    assert answer["template"] == ours.template
    for prompt, tokens in zip(prompts, answer["written"], strict=True):
        assert tokens == [int(each.argmax()) for each in greedy(ours, prompt, NEW)]

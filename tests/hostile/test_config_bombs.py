"""Configs made to hurt: refused by name before anything is built, and never a reason for another verb to hang."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from clearformer.cli.spec_source import spec_of_file
from clearformer.cost.pricing import cost
from clearformer.errors import CheckpointError, SpecError
from clearformer.load import load
from clearformer.spec.codec import to_json
from clearformer.spec.presets import tiny_gpt
from hostile.law import refused

SIZES = {"vocab_size": 100, "hidden_size": 48, "intermediate_size": 88, "num_hidden_layers": 2}
LLAMA: dict[str, Any] = {"model_type": "llama", **SIZES, "num_attention_heads": 6, "max_position_embeddings": 64}
MIXTRAL = LLAMA | {"model_type": "mixtral", "num_key_value_heads": 2}
GPT2 = {"model_type": "gpt2", "vocab_size": 100, "n_embd": 48, "n_layer": 2, "n_head": 6, "n_positions": 64}
BERT = {"model_type": "bert", **SIZES, "num_attention_heads": 6, "max_position_embeddings": 64}
VIT = {"model_type": "vit", **{key: SIZES[key] for key in list(SIZES)[1:]}, "num_attention_heads": 6}
T5 = {"model_type": "t5", "vocab_size": 100, "d_model": 48, "d_kv": 8, "d_ff": 88, "num_layers": 2, "num_heads": 6}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
DYNAMIC = {"rope_type": "dynamic"}
SPEC = to_json(tiny_gpt())
OWN = {"model_type": "clearformer", "architectures": ["Clearformer"], "spec": SPEC}


def deeper(levels: int, inner: str = "0") -> str:
    return '{"a":' * levels + inner + "}" * levels


def blocks(count: int) -> dict[str, Any]:
    return SPEC | {"decoder": SPEC["decoder"] | {"blocks": SPEC["decoder"]["blocks"][:1] * count}}


def said(config: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(config | changes).encode()


BOMBS: dict[str, bytes] = {
    "empty": b"",
    "no object": b"[]",
    "NaN is the whole file": b"NaN",
    "not utf-8": b'{"model_type": "\xff"}',
    "a mark of byte order": "\ufeff{}".encode(),
    "ten megabytes of spaces": b" " * 10_000_001,
    "nested 65 deep": deeper(65).encode(),
    "nested 100,000 deep": deeper(100_000).encode(),
    "lists nested without end": b'{"a":' + b"[" * 1_000_000,
    "half a million lists": b'{"a":[' + b"[]," * 500_001 + b"[]]}",
    "a number of 5,000 digits": b'{"model_type":"llama","vocab_size":1' + b"0" * 5000 + b"}",
    "a number of 4,000 digits": b'{"model_type":"llama","vocab_size":1' + b"0" * 4000 + b"}",
    "a key twice": said(LLAMA)[:-1] + b',"vocab_size":7}',
    "a key of nine megabytes": said(LLAMA, **{"x" * 9_000_000: 1}),
    "a thousand unknown keys": said(LLAMA, **{f"key{n}": n for n in range(1000)}),
    "a type of nine megabytes": said({"model_type": "l" * 9_000_000}),
    "a type that is a list": said({"model_type": ["llama"]}),
    "an escape code for the terminal": said({"model_type": "\x1b]0;owned\x07"}),
    "an architecture that is code": said(LLAMA, architectures=["__import__('os').system('id')"]),
    "code to be fetched": said(LLAMA, auto_map={"AutoConfig": "evil--x.Config"}, trust_remote_code=True),
    "10^9 layers": said(LLAMA, num_hidden_layers=10**9),
    "10^9 layers, GPT-2": said(GPT2, n_layer=10**9),
    "10^9 layers, BERT": said(BERT, num_hidden_layers=10**9),
    "10^9 layers, ViT": said(VIT, num_hidden_layers=10**9),
    "10^9 layers, T5": said(T5, num_layers=10**9),
    "10^9 layers in one half alone, T5": said(T5, num_decoder_layers=10**9),
    "minus a billion layers": said(LLAMA, num_hidden_layers=-(10**9)),
    "10^9 heads": said(LLAMA, num_attention_heads=10**9),
    "heads of no width": said(LLAMA, num_attention_heads=0),
    "10^12 words": said(LLAMA, vocab_size=10**12),
    "an infinite width": b'{"model_type":"llama","hidden_size":Infinity}',
    "an infinity in disguise": said(LLAMA).replace(b"48", b"1e999"),
    "a layer number beyond all": said(LLAMA | {"model_type": "qwen3_moe"}, mlp_only_layers=[10**30]),
    "10^9 named layers": said(LLAMA | {"model_type": "qwen2"}, layer_types=["full_attention"] * 100_000),
    "a context stretched beyond all numbers": said(LLAMA, rope_scaling=DYNAMIC | {"factor": 1e308}),
    "a context stretched by 10^30": said(LLAMA, rope_scaling=DYNAMIC | {"factor": 1e30}),
    "a scale divided by nothing": said(LLAMA, rope_scaling=YARN | {"mscale": 1, "mscale_all_dim": -7.213475204444817}),
    "a rope that never turns": said(LLAMA, rope_theta=0),
    "a rope of no number": said(LLAMA, rope_theta=float("nan")),
    "100,000 factors": said(LLAMA, rope_scaling={"rope_type": "longrope", "short_factor": [1.0] * 100_000}),
    "experts beyond all numbers": said(MIXTRAL, num_local_experts=10**10),
    "a patch of no size": said(VIT, patch_size=0),
    "a dropout of seven": said(LLAMA, attention_dropout=7.0),
    "labels by the hundred thousand": said(BERT, id2label=[f"{n}" for n in range(100_000)], num_labels=-1),
    "our own spec of 20,000 blocks": said(OWN, spec=blocks(20_000)),
    "our own spec of an unknown type": said(OWN, spec=SPEC | {"type": "subprocess.Popen"}),
    "our own spec of a number": said(OWN, spec=7),
    "a spec of 20,000 blocks": json.dumps(blocks(20_000)).encode(),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_refused(name, tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(BOMBS[name])
    refused(lambda: spec_of_file(path), path, CheckpointError, SpecError)


def test_the_bombs_are_built_right(tmp_path):
    """The same configs without the fault are read; so what refuses a bomb is its fault."""
    path = tmp_path / "config.json"
    for config in (LLAMA, MIXTRAL, GPT2, BERT, VIT, T5, OWN, SPEC, blocks(1024)):
        path.write_bytes(said(config))
        spec_of_file(path)


HUGE = {
    "2^31 everywhere": LLAMA
    | {"hidden_size": 1 << 31, "num_attention_heads": 1 << 30, "intermediate_size": 1 << 31, "vocab_size": 1 << 31},
    "10^9 experts": MIXTRAL | {"num_local_experts": 10**9},
    "10^9 experts of one number": MIXTRAL | {"num_local_experts": 10**9, "hidden_size": 12, "intermediate_size": 1},
    "1,024 layers of 10^6 experts": MIXTRAL | {"num_local_experts": 10**6, "num_hidden_layers": 1024},
    "2^31 positions, learnt": GPT2 | {"n_positions": 1 << 31},
    "2^31 buckets": T5 | {"relative_attention_num_buckets": 1 << 30, "relative_attention_max_distance": 1 << 31},
    "a picture of 10^9 patches": VIT | {"image_size": 32_000, "patch_size": 1},
}


@pytest.mark.parametrize("name", HUGE)
def test_what_can_be_but_is_not_there_is_priced_and_not_built(name, tmp_path):
    """A config may describe a model of any size: `cost` reckons it, `load` refuses it before it makes a module."""
    (tmp_path / "config.json").write_text(json.dumps(HUGE[name]))
    save_file({"x": torch.zeros(3)}, tmp_path / "model.safetensors")
    assert cost(spec_of_file(tmp_path / "config.json")).parameters.total > 10**8
    error = refused(lambda: load(tmp_path), tmp_path / "config.json", CheckpointError)
    assert "3" in error.cause("en")


def test_a_folder_that_only_has_a_pickle_names_the_command(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'id'\ntR.")
    error = refused(lambda: load(tmp_path), tmp_path / "config.json", CheckpointError)
    assert error.remedy("zh").endswith(f"clearformer pull {tmp_path} --allow-pickle")
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["config.json", "pytorch_model.bin"]

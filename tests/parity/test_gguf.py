"""A model written as GGUF and read again computes as the original does; transformers reads it alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers as hf

from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.errors import CheckpointError
from clearformer.export_gguf import export_gguf
from clearformer.families.gguf.form import as_stored
from clearformer.load import load
from parity.conftest import Original
from parity.gguf_models import DECODERS, ENCODERS
from parity.saved_models import LLAMA, MODELS

Save = Callable[..., Original]


@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS])
def test_what_is_read_back_is_the_original(save_original: Save, tmp_path: Path, name: str) -> None:
    make, config = {**DECODERS, **ENCODERS}[name]
    found = save_original(make(config))
    path = export_gguf(found.folder, tmp_path / "model.gguf", "f32").path
    ours = load(path)
    assert found.agrees(ours)
    stored, original = as_stored(ours.spec), as_stored(load(found.folder).spec)
    assert str(stored).replace("dropout=0.1", "dropout=0.0") == str(original).replace("dropout=0.1", "dropout=0.0")


# transformers' own reader leaves out biases, scalings, windows and caps; of what it does read, something of each kind.
READ_BY_TRANSFORMERS = {
    "llama": (hf.LlamaForCausalLM, hf.LlamaConfig(**LLAMA, rms_norm_eps=1e-5)),
    "qwen2_tied": DECODERS["qwen2_tied"],
    "qwen3": (hf.Qwen3ForCausalLM, hf.Qwen3Config(**LLAMA, head_dim=128)),
    "phi3": DECODERS["phi3"],
}


@pytest.mark.parametrize("name", READ_BY_TRANSFORMERS)
def test_transformers_reads_it(save_original: Save, tmp_path: Path, name: str) -> None:
    make, config = READ_BY_TRANSFORMERS[name]
    found = save_original(make(config))
    export_gguf(found.folder, tmp_path / "model.gguf", "f32")
    again = hf.AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file="model.gguf", dtype=torch.float32)
    assert found.distance_of(again.eval()) <= found.tolerance


REFUSED = {
    "mistral": "visibility",
    "llama_labels": "head",
    "qwen2": "visibility",
    "qwen3_headless": "bias.query",
    "gemma": "bias",
    "gemma2": "scale",
    "gpt2": "scale",
    "bert_untied": "head",
    "roberta": "spec",
    "olmo2": "qk_norm",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_llama_cpp_cannot_say_is_refused_by_its_field(save_original: Save, tmp_path: Path, name: str) -> None:
    make, config = MODELS[name]
    found = save_original(make(config))
    with pytest.raises(CheckpointError, match=REFUSED[name]):
        export_gguf(found.folder, tmp_path / "model.gguf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "DynamicNTK"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0, "beta_fast": 16.0}}, "YaRN"),
        ({"hidden_act": "gelu"}, "activation"),
    ],
)
def test_what_llama_lacks_there(save_original: Save, tmp_path: Path, changes: dict[str, object], named: str) -> None:
    found = save_original(hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA, **changes)))
    with pytest.raises(CheckpointError, match=named):
        export_gguf(found.folder, tmp_path / "model.gguf")


def permuted(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """As llama.cpp's converter lays rotary pairs side by side."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


# Of each architecture what its converter does to a tensor: an error that writing and reading share would not show.
FACTS: dict[tuple[str, str], Callable[[dict[str, torch.Tensor]], torch.Tensor]] = {
    ("llama", "blk.1.attn_q.weight"): lambda w: permuted(w["model.layers.1.self_attn.q_proj.weight"], 6),
    ("llama_biases", "blk.0.attn_k.bias"): lambda w: permuted(w["model.layers.0.self_attn.k_proj.bias"], 2),
    ("mixtral", "blk.0.ffn_gate_exps.weight"): lambda w: w["model.layers.0.mlp.experts.gate_up_proj"][:, :88],
    ("mixtral", "blk.0.ffn_up_exps.weight"): lambda w: w["model.layers.0.mlp.experts.gate_up_proj"][:, 88:],
    ("mixtral", "blk.1.ffn_down_exps.weight"): lambda w: w["model.layers.1.mlp.experts.down_proj"],
    ("mixtral", "blk.1.attn_k.weight"): lambda w: permuted(w["model.layers.1.self_attn.k_proj.weight"], 2),
    ("qwen2", "blk.1.attn_q.weight"): lambda w: w["model.layers.1.self_attn.q_proj.weight"],
    ("qwen3", "blk.1.attn_k_norm.weight"): lambda w: w["model.layers.1.self_attn.k_norm.weight"],
    ("gemma", "blk.1.attn_q.weight"): lambda w: w["model.layers.1.self_attn.q_proj.weight"],
    ("gemma", "blk.1.ffn_norm.weight"): lambda w: w["model.layers.1.post_attention_layernorm.weight"] + 1,
    ("gemma", "output_norm.weight"): lambda w: w["model.norm.weight"] + 1,
    ("gemma2", "blk.0.post_ffw_norm.weight"): lambda w: w["model.layers.0.post_feedforward_layernorm.weight"] + 1,
    ("gemma2", "blk.0.ffn_norm.weight"): lambda w: w["model.layers.0.pre_feedforward_layernorm.weight"] + 1,
    ("gemma3", "blk.0.attn_q_norm.weight"): lambda w: w["model.layers.0.self_attn.q_norm.weight"] + 1,
    ("phi3", "blk.0.attn_qkv.weight"): lambda w: w["model.layers.0.self_attn.qkv_proj.weight"],
    ("phi3", "blk.0.ffn_up.weight"): lambda w: w["model.layers.0.mlp.gate_up_proj.weight"],
    ("phi3_longrope", "rope_factors_long.weight"): lambda w: torch.tensor([2.0, 3.0, 5.0, 9.0]),
    ("gpt2", "blk.0.attn_qkv.weight"): lambda w: w["transformer.h.0.attn.c_attn.weight"].T,
    ("gpt2", "blk.2.ffn_down.weight"): lambda w: w["transformer.h.2.mlp.c_proj.weight"].T,
    ("bert", "blk.0.layer_output_norm.bias"): lambda w: w["encoder.layer.0.output.LayerNorm.bias"],
}


@pytest.mark.parametrize(("name", "tensor"), FACTS)
def test_each_tensor_lies_as_llama_cpp_wants_it(save_original: Save, tmp_path: Path, name: str, tensor: str) -> None:
    make, config = {**DECODERS, **ENCODERS}[name]
    found = save_original(make(config))
    file = open_gguf(export_gguf(found.folder, tmp_path / "model.gguf", "f32").path)
    assert torch.equal(file.tensor(tensor), FACTS[name, tensor](dict(found.model.named_parameters())))


SAID = {
    "llama": {"llama.rope.dimension_count": 12, "llama.attention.head_count_kv": 2, "llama.rope.freq_base": 1e3},
    "llama_yarn": {
        "llama.rope.scaling.type": "yarn",
        "llama.rope.scaling.factor": 4.0,
        "llama.rope.scaling.original_context_length": 16,
        "llama.rope.scaling.attn_factor": 1.7 / (0.1 * math.log(4) + 1),
    },
    "mixtral": {"general.architecture": "llama", "llama.expert_count": 5, "llama.expert_used_count": 2},
    "gemma2_mixed": {"gemma2.attention.sliding_window_pattern": [False, True, True, False]},
    "gemma3": {
        "gemma3.rope.freq_base": 1e3,
        "gemma3.rope.freq_base_swa": 100.0,
        "gemma3.rope.scaling.factor": 3.0,
        "gemma3.attention.sliding_window": 8,
    },
    "phi3_longrope": {"phi3.rope.scaling.attn_factor": 1.25, "phi3.rope.scaling.original_context_length": 16},
    "bert": {"bert.attention.causal": False, "bert.pooling_type": 0, "tokenizer.ggml.token_type_count": 2},
}


@pytest.mark.parametrize("name", SAID)
def test_the_metadata_say_what_llama_cpp_reads(save_original: Save, tmp_path: Path, name: str) -> None:
    make, config = {**DECODERS, **ENCODERS}[name]
    found = save_original(make(config))
    metadata = open_gguf(export_gguf(found.folder, tmp_path / "model.gguf").path).metadata
    for key, value in SAID[name].items():
        assert metadata[key] == (pytest.approx(value) if isinstance(value, float) else value)

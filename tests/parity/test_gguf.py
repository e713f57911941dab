"""A model written as GGUF and read again computes as the original does; transformers reads it alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers as hf

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

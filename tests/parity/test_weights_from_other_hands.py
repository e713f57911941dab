"""The same weights under other names and number types are the same model; what they cannot mean is refused by name."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from clearformer.errors import CheckpointError
from parity.conftest import draw
from parity.saved_models import MODELS

# One model of each kind of table.
KINDS = ["llama", "qwen3_moe", "gemma3", "phi3", "gpt2", "gpt_neox", "bloom", "mpt", "deepseek_v3"]
KINDS += ["bert_masked", "roberta_labels", "distilbert", "modernbert_masked", "vit_labels", "clip", "clip_image"]
KINDS += ["t5", "t5_encoder", "marian", "bart"]
STEMS = {
    **dict.fromkeys(("llama", "mistral_headless", "mixtral", "qwen2_moe_headless", "gemma", "phi3", "olmo2"), "model."),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3_headless", "modernbert_masked", "marian", "bart"), "model."),
    **dict.fromkeys(("gpt2", "gpt2_headless", "bloom", "mpt"), "transformer."),
    "gpt_neox": "gpt_neox.",
    "bert": "bert.",
    "bert_labels": "bert.",
    "roberta": "roberta.",
    "vit": "vit.",
    "distilbert_masked": "distilbert.",
    "clip_text_hidden": "text_model.",
    "clip_image": "vision_model.",
    "clip_image_pooled": "vision_model.",
}
# By model: the names of its table beside that which transformers writes.
TABLES = {
    **dict.fromkeys(("llama_tied", "mixtral", "gemma2", "smollm3", "gpt2", "bloom", "mpt"), ("lm_head.weight",)),
    "gpt_neox_tied": ("embed_out.weight", "lm_head.weight"),
    "deepseek_v2_greedy": ("lm_head.weight",),
    "bert_masked": ("cls.predictions.decoder.weight",),
    "roberta_masked": ("lm_head.decoder.weight",),
    "distilbert_masked": ("vocab_projector.weight",),
    "modernbert_masked": ("decoder.weight",),
    "marian": ("lm_head.weight", "model.decoder.embed_tokens.weight"),
    "bart": ("lm_head.weight", "model.encoder.embed_tokens.weight"),
}
Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Callable[[str], tuple[Path, Tensors]]:
    """A folder as transformers saves it, and its tensors."""

    @cache
    def make(name: str) -> tuple[Path, Tensors]:
        kind, config = MODELS[name]
        model = kind(config)
        draw(model, seed=3)
        folder = tmp_path_factory.mktemp("saved") / name
        model.save_pretrained(folder)
        return folder, load_file(folder / "model.safetensors")

    return make


@pytest.fixture
def loads(saved, load_folder, tmp_path) -> Callable[[str, Tensors], Any]:
    """The model with other tensors beside the same config."""

    def load(name: str, tensors: Tensors) -> Any:
        folder = tmp_path / "other"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(saved(name)[0] / "config.json", folder)
        save_file({key: value.contiguous() for key, value in tensors.items()}, folder / "model.safetensors")
        return load_folder(folder)

    return load


def require_equal(first: Any, second: Any) -> None:
    for name, value in first.model.named_parameters():
        assert torch.equal(value, second.model.get_parameter(name)), name


@pytest.mark.parametrize("name", STEMS)
def test_with_the_stem_or_without(saved, load_folder, loads, name):
    """transformers reads a model saved with its head as a bare one, and the other way round."""
    folder, tensors = saved(name)
    stem = STEMS[name]
    if any(key.startswith(stem) for key in tensors):
        renamed = {key.removeprefix(stem): value for key, value in tensors.items()}
    else:
        renamed = {stem + key: value for key, value in tensors.items()}
    assert renamed.keys() != tensors.keys()
    require_equal(load_folder(folder), loads(name, renamed))


@pytest.mark.parametrize(("name", "other"), [(name, other) for name, others in TABLES.items() for other in others])
def test_a_tied_table_under_another_name(saved, load_folder, loads, name, other):
    """In the table's place, beside it with the same numbers, and beside it with others."""
    folder, tensors = saved(name)
    plain = load_folder(folder)
    (ours,) = (key for key, value in plain.model.named_parameters() if key.endswith("embed.token.weight"))
    table = plain.model.get_parameter(ours).detach()
    (theirs,) = (key for key, value in tensors.items() if value.shape == table.shape and torch.equal(value, table))
    moved = {other if key == theirs else key: value for key, value in tensors.items()}
    require_equal(plain, loads(name, moved))
    require_equal(plain, loads(name, {**tensors, other: table.clone()}))
    with pytest.raises(CheckpointError, match="must equal"):
        loads(name, {**tensors, other: table + 1})


@pytest.mark.parametrize("name", KINDS)
def test_other_number_types(saved, load_folder, loads, name):
    """Wider ones are the same numbers; narrower ones are read as they are; whole numbers are no weights."""
    folder, tensors = saved(name)
    require_equal(load_folder(folder), loads(name, {key: value.double() for key, value in tensors.items()}))
    rounded = {key: value.half() for key, value in tensors.items()}
    require_equal(loads(name, rounded), loads(name, {key: value.float() for key, value in rounded.items()}))
    with pytest.raises(CheckpointError, match=r"expected floating-point weights, found torch\.int8"):
        loads(name, {key: value.to(torch.int8) for key, value in tensors.items()})


@pytest.mark.parametrize("name", KINDS)
def test_a_tensor_too_few_or_too_many_is_named(saved, loads, name):
    _, tensors = saved(name)
    for missing in list(tensors)[:: max(len(tensors) // 4, 1)]:
        if missing != "final_logits_bias":
            with pytest.raises(CheckpointError) as caught:
                loads(name, {key: value for key, value in tensors.items() if key != missing})
            # Of tensors stored in two ways the first is called for.
            assert missing in str(caught.value) or "missing" in str(caught.value)
    with pytest.raises(CheckpointError, match=r"layers\.99\.more\.weight"):
        loads(name, {**tensors, "layers.99.more.weight": torch.zeros(3)})


@pytest.mark.parametrize("name", ["llama", "gemma", "bert_masked", "gpt2"])
def test_a_doubled_stem_is_refused_by_name(saved, loads, name):
    _, tensors = saved(name)
    stem = MODELS[name][0].base_model_prefix + "."
    doubled = {stem + key if key.startswith(stem) else key: value for key, value in tensors.items()}
    with pytest.raises(CheckpointError, match="missing"):
        loads(name, doubled)


@pytest.mark.parametrize("name", ["marian", "bart"])
def test_a_bias_of_logits_that_was_left_out_is_zero(saved, loads, name):
    """transformers keeps it as a buffer of zeros, which nothing trains."""
    _, tensors = saved(name)
    bias = loads(name, {key: value for key, value in tensors.items() if key != "final_logits_bias"}).model.head.bias
    assert torch.equal(bias, torch.zeros_like(bias))
    assert not torch.equal(loads(name, tensors).model.head.bias, bias)

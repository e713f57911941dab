"""CLIP as transformers computes it, both towers and each alone; and each key that matters, planted wrong."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTextModelWithProjection,
    CLIPVisionConfig,
    CLIPVisionModel,
    CLIPVisionModelWithProjection,
)

from clearformer.errors import CheckpointError, UsageError
from parity.encoder_checks import EncoderChecks
from parity.frame import require_noticed

TEXT: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 44,
    "eos_token_id": 2,
    "projection_dim": 20,
}
IMAGE: dict[str, Any] = {
    "hidden_size": 40,
    "intermediate_size": 72,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "image_size": 24,
    "patch_size": 8,
    "projection_dim": 20,
}


def both(text: dict[str, Any], image: dict[str, Any], **outer: Any) -> CLIPConfig:
    return CLIPConfig(**{"text_config": TEXT | text, "vision_config": IMAGE | image, "projection_dim": 20} | outer)


CHOICES: dict[str, Any] = {
    "old_end": lambda: CLIPModel(both({}, {})),
    "end_7": lambda: CLIPModel(both({"eos_token_id": 7, "pad_token_id": 7}, {"patch_size": 12}, projection_dim=12)),
    "gelu": lambda: CLIPModel(both({"hidden_act": "gelu"}, {"hidden_act": "gelu_new", "num_channels": 1})),
    "eps": lambda: CLIPModel(both({"layer_norm_eps": 0.1}, {"layer_norm_eps": 0.2, "num_attention_heads": 4})),
    "text": lambda: CLIPTextModelWithProjection(CLIPTextConfig(**TEXT)),
    "text_end_9": lambda: CLIPTextModelWithProjection(CLIPTextConfig(**TEXT | {"eos_token_id": 9})),
    "text_hidden": lambda: CLIPTextModel(CLIPTextConfig(**TEXT)),
    "image": lambda: CLIPVisionModelWithProjection(CLIPVisionConfig(**IMAGE)),
    "image_pooled": lambda: CLIPVisionModel(CLIPVisionConfig(**IMAGE)),
}


@pytest.fixture(scope="module")
def original(save_original):
    return cache(lambda choice: save_original(CHOICES[choice]()))


class TestCLIP(EncoderChecks):
    """Every check of the frame, over these tables."""


def test_the_towers_of_a_pair_are_the_vectors_that_it_compares(original, load_folder):
    found = original("old_end")
    model, batch = load_folder(found.folder).model, found.batch
    with torch.no_grad():
        theirs = found.model(batch.ids, batch.pixels, batch.real.long())
        assert torch.allclose(model.text(batch.ids, real=batch.real), theirs.text_embeds, atol=1e-5)
        assert torch.allclose(model.image(batch.pixels), theirs.image_embeds, atol=1e-5)


def test_a_text_without_its_end_is_refused(original, load_folder):
    """transformers takes the largest id instead, or the first token."""
    model = load_folder(original("old_end").folder).model
    with pytest.raises(UsageError, match="100"):
        model.text(torch.tensor([[5, 6, 8]]))


def test_first_checkpoints_names(original, with_config, load_folder):
    """Buffers that only old versions kept; a tower without projection under a stem."""
    for choice, stems in (("old_end", ("text_model.", "vision_model.")), ("text_hidden", ("text_model.",))):
        found = original(choice)
        folder = with_config(found.folder, {})
        tensors = load_file(folder / "model.safetensors")
        if choice == "text_hidden":
            tensors = {"text_model." + name.removeprefix("text_model."): value for name, value in tensors.items()}
        tensors |= {f"{stem}embeddings.position_ids": torch.arange(44)[None] for stem in stems}
        (folder / "model.safetensors").unlink()
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        assert found.agrees(load_folder(folder))


def test_a_section_that_stands_twice(original, with_config, load_folder):
    """LAION's configs: the second gives only what is not as in ViT-B/32, and must mean what the first means."""
    found = original("gelu")
    written = json.loads((found.folder / "config.json").read_text())
    again = dict(written["text_config"])
    assert found.agrees(load_folder(with_config(found.folder, {"text_config_dict": again})))
    again["hidden_act"] = "quick_gelu"
    with pytest.raises(CheckpointError, match="text_config_dict"):
        load_folder(with_config(found.folder, {"text_config_dict": again}))


WRONG_SECTIONS: list[tuple[str, str, dict[str, Any]]] = [
    *(
        (choice, section, {key: value})
        for choice, section in (("old_end", "text_config"), ("old_end", "vision_config"))
        for key, value in {
            "hidden_size": 80,
            "intermediate_size": 80,
            "num_hidden_layers": 1,
            "num_attention_heads": 8,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-3,
        }.items()
    ),
    ("gelu", "text_config", {"hidden_act": None}),
    ("gelu", "vision_config", {"hidden_act": None}),
    ("eps", "text_config", {"layer_norm_eps": None}),
    ("eps", "vision_config", {"layer_norm_eps": None}),
    ("old_end", "text_config", {"vocab_size": 102}),
    ("old_end", "text_config", {"max_position_embeddings": 45}),
    ("old_end", "text_config", {"eos_token_id": 7}),
    ("end_7", "text_config", {"eos_token_id": 2}),
    ("end_7", "text_config", {"eos_token_id": None}),
    ("old_end", "vision_config", {"image_size": 32}),
    ("old_end", "vision_config", {"patch_size": 12}),
    ("old_end", "vision_config", {"num_channels": 1}),
    ("gelu", "vision_config", {"num_channels": None}),
]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("old_end", {"projection_dim": 12}),
    ("end_7", {"projection_dim": None}),
    ("old_end", {"text_config": None}),
    ("old_end", {"vision_config": None}),
    ("text", {"projection_dim": 12}),
    ("text", {"architectures": ["CLIPTextModel"]}),
    ("text_hidden", {"architectures": ["CLIPTextModelWithProjection"]}),
    ("text_end_9", {"eos_token_id": 2}),
    ("image", {"projection_dim": 12}),
    ("image", {"patch_size": 12}),
    ("image", {"architectures": ["CLIPVisionModel"]}),
    ("image_pooled", {"architectures": ["CLIPVisionModelWithProjection"]}),
    ("image_pooled", {"layer_norm_eps": 1e-3}),
]


@pytest.mark.parametrize(("choice", "section", "wrong"), WRONG_SECTIONS)
def test_a_wrong_value_in_a_section_is_noticed(original, with_config, load_folder, choice, section, wrong):
    right = json.loads((original(choice).folder / "config.json").read_text())[section]
    changed = {key: value for key, value in {**right, **wrong}.items() if value is not None}
    found = original(choice)
    require_noticed(found, lambda: load_folder(with_config(found.folder, {section: changed})))

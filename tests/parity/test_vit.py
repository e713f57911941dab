"""ViT as transformers computes it, over images that are not square too; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

from safetensors.torch import load_file, save_file
from transformers import ViTConfig, ViTForImageClassification, ViTModel

from parity.encoder_checks import EncoderChecks

SMALL: dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 24,
    "patch_size": 8,
    "attn_implementation": "eager",
}
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "headless": (ViTModel, {}),
    "wide": (ViTModel, {"image_size": [16, 32], "patch_size": [4, 4], "num_channels": 1}),
    "no_bias": (ViTModel, {"qkv_bias": False, "num_attention_heads": 6, "pooler_output_size": 20}),
    "two_labels": (ViTForImageClassification, {}),
    "five_labels": (ViTForImageClassification, {"num_labels": 5, "hidden_act": "gelu_new"}),
    "number": (ViTForImageClassification, {"num_labels": 1}),
    "eps": (ViTModel, {"layer_norm_eps": 0.1}),
}


class TestViT(EncoderChecks):
    """Every check of the frame, over these tables."""


def test_without_its_pooler_too(save_original, load_folder):
    found = save_original(ViTModel(ViTConfig(**SMALL), add_pooling_layer=False))
    assert found.agrees(load_folder(found.folder))


def test_a_classifiers_encoder_read_alone(original, with_config, load_folder):
    """Its names have a stem, and pre-training left a mask behind."""
    found = original("two_labels")
    folder = with_config(found.folder, {"architectures": ["ViTModel"]})
    tensors = load_file(folder / "model.safetensors")
    tensors["vit.embeddings.mask_token"] = tensors["vit.embeddings.cls_token"].clone()
    head = {name: tensors.pop(name) for name in ("classifier.weight", "classifier.bias")}
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    states = load_folder(folder).model(found.batch.pixels).detach()
    logits = states[:, 0] @ head["classifier.weight"].T + head["classifier.bias"]
    assert float((logits - found.answer).abs().max()) <= found.tolerance


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("headless", {"hidden_size": 96}),
    ("headless", {"intermediate_size": 80}),
    ("headless", {"num_hidden_layers": 1}),
    ("headless", {"num_attention_heads": 6}),
    ("headless", {"image_size": 32}),
    ("headless", {"patch_size": 4}),
    ("headless", {"patch_size": [8, 4]}),
    ("headless", {"num_channels": 1}),
    ("wide", {"image_size": [32, 16]}),
    ("headless", {"hidden_act": "quick_gelu"}),
    ("five_labels", {"hidden_act": None}),
    ("headless", {"layer_norm_eps": 1e-3}),
    ("eps", {"layer_norm_eps": None}),
    ("headless", {"qkv_bias": False}),
    ("no_bias", {"qkv_bias": None}),
    ("headless", {"architectures": ["ViTForImageClassification"]}),
    ("two_labels", {"architectures": ["ViTModel"]}),
    ("five_labels", {"id2label": {"0": "a", "1": "b"}}),
]

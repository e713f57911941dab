"""DistilBERT as transformers computes it, with each head; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

from safetensors.torch import load_file, save_file
from transformers import (
    DistilBertForMaskedLM,
    DistilBertForSequenceClassification,
    DistilBertModel,
)

from parity.encoder_checks import EncoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "dim": 48,
    "hidden_dim": 88,
    "n_layers": 2,
    "n_heads": 4,
    "max_position_embeddings": 64,
    "attn_implementation": "eager",
}
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "headless": (DistilBertModel, {}),
    "sinusoidal": (DistilBertModel, {"sinusoidal_pos_embds": True, "n_layers": 3}),
    "masked": (DistilBertForMaskedLM, {}),
    "masked_untied": (DistilBertForMaskedLM, {"tie_word_embeddings": False}),
    "silu": (DistilBertForMaskedLM, {"activation": "silu", "n_heads": 6}),
    "two_labels": (DistilBertForSequenceClassification, {}),
    "three_labels": (DistilBertForSequenceClassification, {"num_labels": 3, "activation": "gelu_new"}),
    "number": (DistilBertForSequenceClassification, {"num_labels": 1}),
}


class TestDistilBert(EncoderChecks):
    """Every check of the frame, over these tables."""


def test_first_checkpoints_names(original, with_config, load_folder):
    """The tied projector written out, the flag that tied it, and a buffer that only old versions kept."""
    found = original("masked")
    folder = with_config(found.folder, {"tie_weights_": True, "tie_word_embeddings": None})
    tensors = load_file(folder / "model.safetensors")
    table = tensors["distilbert.embeddings.word_embeddings.weight"]
    tensors |= {
        "vocab_projector.weight": table.clone(),
        "distilbert.embeddings.position_ids": table.new_zeros(1, 64).long(),
    }
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("headless", {"vocab_size": 102}),
    ("headless", {"dim": 96}),
    ("headless", {"hidden_dim": 80}),
    ("headless", {"n_layers": 1}),
    ("headless", {"n_heads": 6}),
    ("headless", {"max_position_embeddings": 65}),
    ("headless", {"activation": "gelu_new"}),
    ("masked", {"activation": "relu"}),
    ("silu", {"activation": None}),
    ("masked", {"architectures": ["DistilBertModel"]}),
    ("headless", {"architectures": ["DistilBertForMaskedLM"]}),
    ("masked_untied", {"tie_word_embeddings": True}),
    ("masked", {"tie_word_embeddings": False}),
    ("three_labels", {"id2label": {"0": "a", "1": "b"}}),
]

"""BERT as transformers computes it, with each head; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

from safetensors.torch import load_file, save_file
from transformers import BertForMaskedLM, BertForPreTraining, BertForSequenceClassification, BertModel

from parity.encoder_checks import EncoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "attn_implementation": "eager",
}
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "headless": (BertModel, {}),
    "masked": (BertForMaskedLM, {}),
    "masked_untied": (BertForMaskedLM, {"tie_word_embeddings": False}),
    "two_labels": (BertForSequenceClassification, {}),
    "three_labels": (BertForSequenceClassification, {"num_labels": 3}),
    "number": (BertForSequenceClassification, {"num_labels": 1}),
    "pretraining": (BertForPreTraining, {}),
    "relu": (BertForMaskedLM, {"hidden_act": "relu"}),
    "segments": (BertModel, {"type_vocab_size": 5}),
    "eps": (BertModel, {"layer_norm_eps": 0.1}),
}
NEXT_SENTENCE = {
    f"{name}.{kind}" for name in ("cls.seq_relationship", "bert.pooler.dense") for kind in ("weight", "bias")
}
UNREAD = {"masked_untied": {"cls.predictions.bias"}, "pretraining": NEXT_SENTENCE}


class TestBert(EncoderChecks):
    """Every check of the frame, over these tables."""


def test_first_checkpoints_names(original, with_config, load_folder):
    """TensorFlow's gamma and beta, a next-sentence head, and buffers that only old versions kept."""
    found = original("masked")
    folder = with_config(found.folder, {})
    tensors = load_file(folder / "model.safetensors")
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in tensors.items()
    }
    width = SMALL["hidden_size"]
    renamed |= {
        "cls.seq_relationship.weight": tensors["cls.predictions.bias"].new_zeros(2, width),
        "bert.pooler.dense.weight": tensors["cls.predictions.bias"].new_zeros(width, width),
        "bert.embeddings.position_ids": tensors["cls.predictions.bias"].new_zeros(1, 64).long(),
    }
    (folder / "model.safetensors").unlink()
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("headless", {"vocab_size": 102}),
    ("headless", {"hidden_size": 96}),
    ("headless", {"intermediate_size": 80}),
    ("headless", {"num_hidden_layers": 1}),
    ("headless", {"num_attention_heads": 6}),
    ("headless", {"max_position_embeddings": 65}),
    ("headless", {"type_vocab_size": 3}),
    ("headless", {"hidden_act": "gelu_new"}),
    ("masked", {"hidden_act": "relu"}),
    ("headless", {"layer_norm_eps": 1e-3}),
    ("eps", {"layer_norm_eps": 1e-12}),
    ("masked", {"architectures": ["BertModel"]}),
    ("headless", {"architectures": ["BertForMaskedLM"]}),
    ("masked_untied", {"tie_word_embeddings": True}),
    ("masked", {"tie_word_embeddings": False}),
    ("three_labels", {"id2label": {"0": "a", "1": "b"}}),
]

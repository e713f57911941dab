"""RoBERTa and XLM-RoBERTa as transformers computes them, with each head; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    RobertaForMaskedLM,
    RobertaForSequenceClassification,
    RobertaModel,
    XLMRobertaForMaskedLM,
    XLMRobertaForSequenceClassification,
)

from parity.encoder_checks import EncoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 66,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
    "attn_implementation": "eager",
}
CHOICES: dict[str, tuple[Any, dict[str, Any]]] = {
    "headless": (RobertaModel, {}),
    "masked": (RobertaForMaskedLM, {}),
    "masked_untied": (RobertaForMaskedLM, {"tie_word_embeddings": False}),
    "three_labels": (RobertaForSequenceClassification, {"num_labels": 3}),
    "number": (RobertaForSequenceClassification, {"num_labels": 1}),
    "segments": (RobertaModel, {"type_vocab_size": 3}),
    "relu": (RobertaForMaskedLM, {"hidden_act": "relu"}),
    "eps": (RobertaForMaskedLM, {"layer_norm_eps": 0.1}),
    "padding_5": (RobertaModel, {"pad_token_id": 5, "max_position_embeddings": 47}),
    "xlm_masked": (XLMRobertaForMaskedLM, {}),
    "xlm_labels": (XLMRobertaForSequenceClassification, {"num_labels": 4}),
}
# An untied decoder has a bias of its own.
UNREAD = {"masked_untied": {"lm_head.bias"}}


class TestRoberta(EncoderChecks):
    """Every check of the frame, over these tables."""


def test_left_padding_is_read_as_transformers_reads_it(original, load_folder):
    """Its positions count tokens too, so the rows may be given to both as they stand."""
    found = original("masked")
    batch = found.batch.padded_left()
    with torch.no_grad():
        theirs = found.model(input_ids=batch.ids, attention_mask=batch.real.long()).logits
        ours = load_folder(found.folder).model(batch.ids, real=batch.real, segments=batch.segments)
    assert float((theirs - ours)[batch.real].abs().max()) <= found.tolerance


def test_first_checkpoints_names(original, with_config, load_folder):
    """An untrained pooler, the tied decoder written out, and a buffer that only old versions kept."""
    found = original("masked")
    folder = with_config(found.folder, {})
    tensors = load_file(folder / "model.safetensors")
    bias, table = tensors["lm_head.bias"], tensors["roberta.embeddings.word_embeddings.weight"]
    tensors |= {
        "lm_head.decoder.weight": table.clone(),
        "lm_head.decoder.bias": bias.clone(),
        "roberta.pooler.dense.weight": bias.new_zeros(48, 48),
        "roberta.pooler.dense.bias": bias.new_zeros(48),
        "roberta.embeddings.position_ids": bias.new_zeros(1, 66).long(),
    }
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("headless", {"vocab_size": 102}),
    ("headless", {"hidden_size": 96}),
    ("headless", {"intermediate_size": 80}),
    ("headless", {"num_hidden_layers": 1}),
    ("headless", {"num_attention_heads": 6}),
    ("headless", {"max_position_embeddings": 67}),
    ("headless", {"pad_token_id": 0}),
    ("headless", {"pad_token_id": 2}),
    ("headless", {"model_type": "bert", "architectures": ["BertModel"]}),
    ("padding_5", {"pad_token_id": None}),
    ("headless", {"type_vocab_size": 2}),
    ("headless", {"hidden_act": "gelu_new"}),
    ("relu", {"hidden_act": "gelu"}),
    ("headless", {"layer_norm_eps": 1e-3}),
    ("eps", {"layer_norm_eps": None}),
    ("masked", {"architectures": ["RobertaModel"]}),
    ("headless", {"architectures": ["RobertaForMaskedLM"]}),
    ("masked_untied", {"tie_word_embeddings": True}),
    ("masked", {"tie_word_embeddings": False}),
    ("three_labels", {"id2label": {"0": "a", "1": "b"}}),
]

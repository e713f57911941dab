"""BART as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BartConfig, BartForConditionalGeneration, BartForSequenceClassification, BartModel

from clearformer.errors import CheckpointError
from clearformer.families import family_for
from parity.pair_checks import PairChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "d_model": 48,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 88,
    "decoder_ffn_dim": 88,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
UNEVEN = {
    "encoder_layers": 3,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 6,
    "encoder_ffn_dim": 56,
    "decoder_ffn_dim": 104,
}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "uneven": UNEVEN,
    "scaled": {"scale_embedding": True, "max_position_embeddings": 41},
    "tanh_gelu": {"activation_function": "gelu_new"},
}
MODEL = BartForConditionalGeneration


class TestBart(PairChecks):
    """Every check of the frame, over these tables."""


def test_a_bare_model_is_read_with_its_table_as_head(save_original, load_folder):
    """As transformers' own language model reads it, and as it is saved again."""
    found = save_original(BartModel(BartConfig(**SMALL)))
    loaded = load_folder(found.folder)
    model = BartForConditionalGeneration.from_pretrained(found.folder, attn_implementation="eager").eval()
    batch = found.batch
    with torch.no_grad():
        theirs = model(**batch.foreign(model)).logits
        ours = loaded.model(batch.ids, batch.target, source_real=batch.real, target_real=batch.target_real)
    assert float(batch.at_real((ours - theirs).abs()).max()) <= 1e-5 * float(theirs.max() - theirs.min())
    family, written = family_for(loaded.spec)
    assert (family.model_type, written["architectures"]) == ("bart", ["BartModel"])


def test_a_classifier_is_refused_by_name(save_original, load_folder, tmp_path):
    config = BartConfig(**SMALL, num_labels=3, eos_token_id=2)
    BartForSequenceClassification(config).save_pretrained(tmp_path / "labels")
    with pytest.raises(CheckpointError, match="BartForSequenceClassification"):
        load_folder(tmp_path / "labels")


def test_the_first_releases_tensors(original, with_config, load_folder):
    found = original("published")
    folder = with_config(found.folder, {"normalize_embedding": True, "extra_pos_embeddings": 2})
    tensors = load_file(folder / "model.safetensors")
    tensors |= {f"model.{side}.version": torch.tensor([3.0]) for side in ("encoder", "decoder")}
    tensors["model.decoder.embed_tokens.weight"] = tensors["model.shared.weight"].clone()
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("published", {"vocab_size": 102}),
    ("published", {"d_model": 96}),
    ("published", {"encoder_layers": 1}),
    ("published", {"decoder_layers": 3}),
    ("published", {"encoder_attention_heads": 6}),
    ("published", {"decoder_attention_heads": 6}),
    ("published", {"encoder_attention_heads": 5}),
    ("uneven", {"encoder_ffn_dim": 104}),
    ("uneven", {"decoder_ffn_dim": 56}),
    ("published", {"max_position_embeddings": 63}),
    ("published", {"activation_function": "gelu_new"}),
    ("tanh_gelu", {"activation_function": None}),
    ("published", {"scale_embedding": True}),
    ("scaled", {"scale_embedding": False}),
    ("published", {"tie_word_embeddings": False}),
    ("published", {"normalize_before": True}),
    ("published", {"normalize_embedding": False}),
    ("published", {"add_final_layer_norm": True}),
    ("published", {"add_bias_logits": True}),
    ("published", {"static_position_embeddings": True}),
    ("published", {"extra_pos_embeddings": 1}),
    ("published", {"decoder_layerdrop": 0.1}),
    ("published", {"architectures": ["BartModel"]}),
    ("published", {"is_decoder": True}),
]

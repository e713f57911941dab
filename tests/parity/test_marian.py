"""Marian as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel

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
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "attn_implementation": "eager",
}
UNEVEN = {
    "encoder_layers": 1,
    "decoder_layers": 3,
    "encoder_attention_heads": 6,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 56,
    "decoder_ffn_dim": 104,
}
APART = {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 83}
CHOICES: dict[str, dict[str, Any]] = {
    "published": {},
    "uneven": UNEVEN,
    "apart": APART,
    "apart_own_head": {**APART, "tie_word_embeddings": False},
    "unscaled_relu": {"scale_embedding": False, "activation_function": "relu"},
}
MODEL = MarianMTModel


class TestMarian(PairChecks):
    """Every check of the frame, over these tables."""


def test_old_files_keep_the_sines_and_every_name_of_the_table(original, with_config, load_folder):
    found = original("published")
    folder = with_config(found.folder, {"static_position_embeddings": True, "normalize_before": False})
    tensors = load_file(folder / "model.safetensors")
    for side in ("encoder", "decoder"):
        tensors[f"model.{side}.embed_positions.weight"] = torch.zeros(64, 48)
        tensors[f"model.{side}.embed_tokens.weight"] = tensors["model.shared.weight"].clone()
    tensors["lm_head.weight"] = tensors["model.shared.weight"].clone()
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
    ("published", {"decoder_attention_heads": 5}),
    ("uneven", {"encoder_ffn_dim": 104}),
    ("uneven", {"decoder_ffn_dim": 56}),
    ("published", {"activation_function": "gelu"}),
    ("published", {"activation_function": None}),
    ("published", {"scale_embedding": False}),
    ("unscaled_relu", {"scale_embedding": True}),
    ("published", {"share_encoder_decoder_embeddings": False}),
    ("apart", {"share_encoder_decoder_embeddings": True}),
    ("apart", {"share_encoder_decoder_embeddings": True, "decoder_vocab_size": None}),
    ("apart", {"decoder_vocab_size": 101}),
    ("apart", {"tie_word_embeddings": False}),
    ("apart_own_head", {"tie_word_embeddings": True}),
    ("published", {"tie_word_embeddings": False}),
    ("published", {"normalize_before": True}),
    ("published", {"normalize_embedding": True}),
    ("published", {"add_final_layer_norm": True}),
    ("published", {"static_position_embeddings": False}),
    ("published", {"num_hidden_layers": 3}),
    ("published", {"encoder_layerdrop": 0.1}),
    ("published", {"architectures": ["MarianForCausalLM"]}),
    ("published", {"max_position_embeddings": 0}),
]

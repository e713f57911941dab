"""BLOOM as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from transformers import BloomForCausalLM, BloomForSequenceClassification, BloomModel

from clearformer.errors import CheckpointError
from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "n_layer": 2,
    "n_head": 6,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
CHOICES: dict[str, dict[str, Any]] = {
    "six_heads": {},
    "eight_heads": {"n_head": 8},
    "one_head": {"n_head": 1, "hidden_size": 20, "vocab_size": 53},
    "untied": {"tie_word_embeddings": False},
    "eps": {"layer_norm_epsilon": 0.1},
}
MODEL = BloomForCausalLM
HEADS = [BloomModel, BloomForSequenceClassification]


class TestBloom(DecoderChecks):
    """Every check of the frame, over these tables."""


def test_the_hubs_names_and_keys(original, with_config, load_folder):
    """Tensors without a stem, and the keys that BigScience's training wrote."""
    found = original("six_heads")
    folder = with_config(
        found.folder,
        {
            "hidden_size": None,
            "n_embed": 48,
            "n_layer": 2,
            "num_hidden_layers": 2,
            "n_head": None,
            "num_attention_heads": 6,
            "n_inner": None,
            "offset_alibi": 100,
            "attention_softmax_in_fp32": True,
            "pretraining_tp": 4,
            "seq_length": 2048,
        },
    )
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    bare = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    save_file(bare, folder / "model.safetensors", {"format": "pt"})
    loaded = load_folder(folder)
    assert found.agrees(loaded)
    assert loaded.spec == load_folder(found.folder).spec


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("six_heads", {"vocab_size": 100}),
    ("six_heads", {"hidden_size": 96}),
    ("six_heads", {"n_embed": 96}),
    ("six_heads", {"n_layer": 1}),
    ("six_heads", {"n_layer": 3}),
    ("six_heads", {"n_head": 4}),
    ("six_heads", {"n_head": 5}),
    ("eight_heads", {"n_head": 4}),
    ("six_heads", {"layer_norm_epsilon": 1e-3}),
    ("eps", {"layer_norm_epsilon": None}),
    ("six_heads", {"tie_word_embeddings": False}),
    ("untied", {"tie_word_embeddings": None}),
]


REFUSED: dict[str, dict[str, Any]] = {
    "apply_residual_connection_post_layernorm": {"apply_residual_connection_post_layernorm": True},
    "n_inner": {"n_inner": 191},
    "n_layer": {"num_hidden_layers": 3},
    "hidden_activation": {"hidden_activation": "relu"},
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_the_spec_cannot_say_is_refused_by_name(original, with_config, load_folder, key):
    with pytest.raises(CheckpointError, match=key):
        load_folder(with_config(original("six_heads").folder, REFUSED[key]))

"""T5, its version 1.1 and Flan-T5 as transformers computes them; and each key that matters, planted wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration

from clearformer.errors import CheckpointError
from clearformer.families import family_for
from clearformer.spec import Gated, Language
from parity.pair_checks import PairChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "d_model": 48,
    "d_kv": 10,
    "d_ff": 88,
    "num_layers": 2,
    "num_heads": 6,
    # Few and short, so that forty tokens reach every bucket.
    "relative_attention_num_buckets": 12,
    "relative_attention_max_distance": 20,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
OWN_HEAD = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
CHOICES: dict[str, dict[str, Any]] = {
    "first": {},
    "flan": OWN_HEAD,
    "gated_tied": {"feed_forward_proj": "gated-gelu"},
    "uneven": {"num_layers": 1, "num_decoder_layers": 3, "d_kv": 4, "num_heads": 5},
    "gelu": {"feed_forward_proj": "gelu"},
    "gated_silu": {"feed_forward_proj": "gated-silu", "layer_norm_epsilon": 0.1},
    "gated_exact": {"feed_forward_proj": "gated-gelu_python"},
}


@pytest.fixture(scope="module")
def original(save_original):
    @cache
    def make(choice: str):
        return save_original(T5ForConditionalGeneration(T5Config(**SMALL | CHOICES[choice])), own_head=choice == "flan")

    return make


class TestT5(PairChecks):
    """Every check of the frame, over these tables."""


def test_the_encoder_alone(original, save_original, with_config, load_folder):
    """Saved as it is, and read out of the pair that it was trained in."""
    found = save_original(T5EncoderModel(T5Config(**SMALL, is_encoder_decoder=False)))
    loaded = load_folder(found.folder)
    assert found.distance(loaded) <= found.tolerance
    assert found.distance(loaded, left=True) <= found.tolerance
    assert load_folder(with_config(found.folder, {"is_encoder_decoder": True})).spec == loaded.spec
    pair, batch = original("gated_tied"), original("gated_tied").batch
    alone = load_folder(with_config(pair.folder, {"architectures": ["T5EncoderModel"]}))
    with torch.no_grad():
        theirs = pair.model.encoder(input_ids=batch.ids, attention_mask=batch.real.long()).last_hidden_state
        ours = alone.model(batch.ids, real=batch.real)
    assert float((theirs - ours)[batch.real].abs().max()) <= pair.tolerance


def test_beyond_the_farthest_bucket(save_original, load_folder):
    found = save_original(T5ForConditionalGeneration(T5Config(**SMALL)), 90)
    assert found.distance(load_folder(found.folder)) <= found.tolerance


def test_configs_of_before_say_the_same(original, with_config, load_folder):
    """transformers 4 wrote no scale, and told version 1.1 by its untied head."""
    old = {"scale_decoder_outputs": None, "dense_act_fn": None, "is_gated_act": None, "n_positions": 512}
    for choice, tied in (("first", True), ("flan", False)):
        found = original(choice)
        folder = with_config(found.folder, {**old, "tie_word_embeddings": tied, "architectures": ["T5WithLMHeadModel"]})
        loaded = load_folder(folder)
        assert loaded.spec == load_folder(found.folder).spec
        assert loaded.spec.head == Language(tied=tied, hidden_scale=48**-0.5 if tied else 1.0)
        assert isinstance(loaded.spec.encoder.blocks[0].feedforward, Gated) is not tied
        assert found.agrees(loaded)


def test_a_head_that_was_never_told_apart_is_read_as_the_table(save_original, load_folder):
    """What transformers 5 makes of version 1.1 without a file: unscaled, and tied after all."""
    found = save_original(T5ForConditionalGeneration(T5Config(**SMALL, **OWN_HEAD)))
    assert "lm_head.weight" not in load_file(found.folder / "model.safetensors")
    assert found.agrees(load_folder(found.folder))


@pytest.mark.parametrize("kept", ["shared", "encoder.embed_tokens", "decoder.embed_tokens", "lm_head"])
def test_the_table_is_found_under_each_of_its_names(original, with_config, load_folder, kept):
    found = original("first")
    folder = with_config(found.folder, {})
    tensors = load_file(folder / "model.safetensors")
    table = tensors.pop("shared.weight")
    # A leftover of the first releases, which no layer reads.
    tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = torch.ones(12, 6)
    (folder / "model.safetensors").unlink()
    save_file({**tensors, f"{kept}.weight": table}, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


def test_a_tied_head_of_other_numbers_is_refused(original, with_config, load_folder):
    found = original("flan")
    with pytest.raises(CheckpointError, match=r"lm_head\.weight"):
        load_folder(with_config(found.folder, {"scale_decoder_outputs": True}))


def test_what_the_family_cannot_write_is_named(original, load_folder):
    spec = load_folder(original("first").folder).spec
    tied = type(spec)(spec.encoder, spec.decoder, Language(tied=True), spec.context, shared_vocabulary=True)
    family, _ = family_for(tied)
    assert family.model_type == "clearformer"


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("first", {"vocab_size": 102}),
    ("first", {"d_model": 96}),
    ("first", {"d_kv": 12}),
    ("first", {"d_kv": 12, "num_heads": 5}),
    ("first", {"d_ff": 80}),
    ("first", {"num_layers": 3}),
    ("first", {"num_layers": 1}),
    ("uneven", {"num_decoder_layers": 2}),
    ("uneven", {"num_decoder_layers": None}),
    ("first", {"num_heads": 3, "d_kv": 20}),
    ("first", {"relative_attention_num_buckets": 10}),
    ("first", {"relative_attention_max_distance": 24}),
    ("first", {"relative_attention_max_distance": None}),
    ("first", {"layer_norm_epsilon": 1e-3}),
    ("gated_silu", {"layer_norm_epsilon": None}),
    ("first", {"feed_forward_proj": "gelu", "dense_act_fn": "gelu"}),
    ("first", {"feed_forward_proj": "gated-relu", "is_gated_act": True}),
    ("first", {"dense_act_fn": "gelu"}),
    ("first", {"is_gated_act": True}),
    ("gelu", {"feed_forward_proj": "gelu_new", "dense_act_fn": "gelu_new"}),
    ("gated_tied", {"feed_forward_proj": "gated-silu", "dense_act_fn": "silu"}),
    ("gated_tied", {"feed_forward_proj": "gelu_new", "is_gated_act": False}),
    ("gated_tied", {"feed_forward_proj": "gated-gelu_python", "dense_act_fn": "gelu_python"}),
    ("gated_tied", {"feed_forward_proj": "double-gelu"}),
    ("first", {"tie_word_embeddings": False, "scale_decoder_outputs": None}),
    ("first", {"scale_decoder_outputs": False}),
    ("flan", {"tie_word_embeddings": False, "scale_decoder_outputs": True}),
    ("first", {"is_decoder": True}),
    ("first", {"is_encoder_decoder": False}),
    ("first", {"architectures": ["T5ForSequenceClassification"]}),
    ("first", {"shared_bias": False}),
]

"""Configs of text encoders as they stand on the Hub, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.errors import CheckpointError
from clearformer.families import family_for, family_of
from clearformer.families.family import difference

ROBERTA_BASE: dict[str, Any] = {
    "architectures": ["RobertaForMaskedLM"],
    "attention_probs_dropout_prob": 0.1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 514,
    "model_type": "roberta",
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "pad_token_id": 1,
    "type_vocab_size": 1,
    "vocab_size": 50265,
}
XLM_ROBERTA_BASE: dict[str, Any] = ROBERTA_BASE | {
    "architectures": ["XLMRobertaForMaskedLM"],
    "model_type": "xlm-roberta",
    "output_past": True,
    "position_embedding_type": "absolute",
    "transformers_version": "4.17.0.dev0",
    "use_cache": True,
    "vocab_size": 250002,
}
DISTILBERT_SST2: dict[str, Any] = {
    "activation": "gelu",
    "architectures": ["DistilBertForSequenceClassification"],
    "attention_dropout": 0.1,
    "dim": 768,
    "dropout": 0.1,
    "finetuning_task": "sst-2",
    "hidden_dim": 3072,
    "id2label": {"0": "NEGATIVE", "1": "POSITIVE"},
    "initializer_range": 0.02,
    "label2id": {"NEGATIVE": 0, "POSITIVE": 1},
    "max_position_embeddings": 512,
    "model_type": "distilbert",
    "n_heads": 12,
    "n_layers": 6,
    "output_past": True,
    "pad_token_id": 0,
    "qa_dropout": 0.1,
    "seq_classif_dropout": 0.2,
    "sinusoidal_pos_embds": False,
    "tie_weights_": True,
    "vocab_size": 30522,
}
MODERNBERT_BASE: dict[str, Any] = {
    "architectures": ["ModernBertForMaskedLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 50281,
    "classifier_activation": "gelu",
    "classifier_bias": False,
    "classifier_dropout": 0.0,
    "classifier_pooling": "mean",
    "cls_token_id": 50281,
    "decoder_bias": True,
    "deterministic_flash_attn": False,
    "embedding_dropout": 0.0,
    "eos_token_id": 50282,
    "global_attn_every_n_layers": 3,
    "global_rope_theta": 160000.0,
    "gradient_checkpointing": False,
    "hidden_activation": "gelu",
    "hidden_size": 768,
    "initializer_cutoff_factor": 2.0,
    "initializer_range": 0.02,
    "intermediate_size": 1152,
    "layer_norm_eps": 1e-05,
    "local_attention": 128,
    "local_rope_theta": 10000.0,
    "max_position_embeddings": 8192,
    "mlp_bias": False,
    "mlp_dropout": 0.0,
    "model_type": "modernbert",
    "norm_bias": False,
    "norm_eps": 1e-05,
    "num_attention_heads": 12,
    "num_hidden_layers": 22,
    "pad_token_id": 50283,
    "position_embedding_type": "absolute",
    "sep_token_id": 50282,
    "tie_word_embeddings": True,
    "torch_dtype": "float32",
    "transformers_version": "4.47.0.dev0",
    "vocab_size": 50368,
}
PUBLISHED = [ROBERTA_BASE, DISTILBERT_SST2, MODERNBERT_BASE]


def read(config: dict[str, Any]) -> s.Spec:
    return family_of(config).read(config)


def test_roberta_and_xlm_roberta():
    spec, multilingual = read(ROBERTA_BASE), read(XLM_ROBERTA_BASE)
    assert (spec.context, spec.encoder.input.position) == (512, s.Learned(512, offset=2))
    assert spec.head == s.Language(True, bias=True, transform=s.Transform("gelu", s.LayerNorm(1e-5)))
    assert multilingual.encoder.blocks == spec.encoder.blocks
    assert multilingual.encoder.input.vocabulary == 250002
    written = family_of(XLM_ROBERTA_BASE).write(multilingual)
    assert written["architectures"] == ["XLMRobertaForMaskedLM"]
    assert difference(read(written), multilingual) is None


def test_distilbert():
    spec = read(DISTILBERT_SST2)
    assert (len(spec.encoder.blocks), spec.encoder.input.segments) == (6, 0)
    assert spec.head == s.Classes(2, s.Pooling(s.First(), s.Transform("relu")), dropout=0.2)


def test_modernbert():
    blocks = read(MODERNBERT_BASE).encoder.blocks
    seen = [block.attention.visibility.radius for block in blocks]
    assert seen == [None if index % 3 == 0 else 64 for index in range(22)]
    assert {block.attention.position.base for block in blocks[::3]} == {160000.0}
    assert {block.attention.position.base for block in blocks[1::3]} == {10000.0}
    assert [block.attention_norm is None for block in blocks] == [True] + [False] * 21


@pytest.mark.parametrize("config", PUBLISHED)
def test_written_and_read_again(config):
    family = family_of(config)
    spec = family.read(config)
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        (ROBERTA_BASE, {"is_decoder": True}, "is_decoder"),
        (ROBERTA_BASE, {"position_embedding_type": "relative_key"}, "relative_key"),
        (ROBERTA_BASE, {"max_position_embeddings": 2}, "max_position_embeddings"),
        (ROBERTA_BASE, {"architectures": ["RobertaForTokenClassification"]}, "RobertaForTokenClassification"),
        (DISTILBERT_SST2, {"dim": 770}, "n_heads"),
        (DISTILBERT_SST2, {"type_vocab_size": 2}, "type_vocab_size"),
        (DISTILBERT_SST2, {"tie_weights_": False}, "tie_weights_"),
        (MODERNBERT_BASE, {"hidden_size": 770}, "num_attention_heads"),
        (MODERNBERT_BASE, {"layer_types": ["full_attention"]}, "layer_types"),
        (MODERNBERT_BASE, {"layer_types": ["chunked_attention"] * 22}, "layer_types"),
        (MODERNBERT_BASE, {"layer_types": ["full_attention"] * 22}, "global_attn_every_n_layers"),
        (MODERNBERT_BASE, {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}, "rope_scaling"),
        (
            MODERNBERT_BASE,
            {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 5.0}}},
            "global_rope_theta",
        ),
        (
            MODERNBERT_BASE,
            {"rope_parameters": {"chunked_attention": {"rope_type": "default"}}},
            "rope_parameters.chunked_attention",
        ),
        (MODERNBERT_BASE, {"classifier_pooling": "max"}, "classifier_pooling"),
    ],
)
def test_refused_by_name(config, changes, named):
    with pytest.raises(CheckpointError, match=named.replace(".", r"\.")) as caught:
        read({**config, **changes})
    assert caught.value.cause("zh") != caught.value.cause("en")


@pytest.mark.parametrize("config", [*PUBLISHED, XLM_ROBERTA_BASE])
def test_every_key_in_turn_replaced_by_nonsense(config):
    """Whatever stands in a config, the answer is a spec or a CheckpointError."""
    keys = [*config, "rope_parameters", "layer_types", "id2label", "tie_word_embeddings"]
    for key in set(keys) - {"model_type"}:
        for value in (None, True, -1, 0, 1e308, float("inf"), "", "x", [], [1], [1, 2], {}, {"rope_type": "yarn"}):
            try:
                read({**config, key: value})
            except CheckpointError:
                continue

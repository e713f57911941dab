"""Configs of encoder-decoders as they stand on the Hub."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.build import empty
from clearformer.families import family_for, family_of
from clearformer.families.family import difference
from clearformer.families.generation import read_generation

FLAN_T5_BASE: dict[str, Any] = {
    "architectures": ["T5ForConditionalGeneration"],
    "d_ff": 2048,
    "d_kv": 64,
    "d_model": 768,
    "decoder_start_token_id": 0,
    "dropout_rate": 0.1,
    "eos_token_id": 1,
    "feed_forward_proj": "gated-gelu",
    "initializer_factor": 1.0,
    "is_encoder_decoder": True,
    "layer_norm_epsilon": 1e-06,
    "model_type": "t5",
    "n_positions": 512,
    "num_decoder_layers": 12,
    "num_heads": 12,
    "num_layers": 12,
    "output_past": True,
    "pad_token_id": 0,
    "relative_attention_max_distance": 128,
    "relative_attention_num_buckets": 32,
    "task_specific_params": {"summarization": {"early_stopping": True, "num_beams": 4, "prefix": "summarize: "}},
    "tie_word_embeddings": False,
    "transformers_version": "4.23.1",
    "use_cache": True,
    "vocab_size": 32128,
}
T5_SMALL: dict[str, Any] = {
    "architectures": ["T5ForConditionalGeneration"],
    "d_ff": 2048,
    "d_kv": 64,
    "d_model": 512,
    "decoder_start_token_id": 0,
    "dropout_rate": 0.1,
    "eos_token_id": 1,
    "initializer_factor": 1.0,
    "is_encoder_decoder": True,
    "layer_norm_epsilon": 1e-06,
    "model_type": "t5",
    "n_positions": 512,
    "num_heads": 8,
    "num_layers": 6,
    "output_past": True,
    "pad_token_id": 0,
    "relative_attention_num_buckets": 32,
    "task_specific_params": {"summarization": {"early_stopping": True, "num_beams": 4, "prefix": "summarize: "}},
    "vocab_size": 32128,
}
OPUS_MT_EN_DE: dict[str, Any] = {
    "_num_labels": 3,
    "activation_dropout": 0.0,
    "activation_function": "swish",
    "add_bias_logits": False,
    "add_final_layer_norm": False,
    "architectures": ["MarianMTModel"],
    "attention_dropout": 0.0,
    "bad_words_ids": [[58100]],
    "bos_token_id": 0,
    "classif_dropout": 0.0,
    "classifier_dropout": 0.0,
    "d_model": 512,
    "decoder_attention_heads": 8,
    "decoder_ffn_dim": 2048,
    "decoder_layerdrop": 0.0,
    "decoder_layers": 6,
    "decoder_start_token_id": 58100,
    "decoder_vocab_size": 58101,
    "dropout": 0.1,
    "encoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "encoder_layerdrop": 0.0,
    "encoder_layers": 6,
    "eos_token_id": 0,
    "forced_eos_token_id": 0,
    "gradient_checkpointing": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    "max_length": 512,
    "max_position_embeddings": 512,
    "model_type": "marian",
    "normalize_before": False,
    "normalize_embedding": False,
    "num_beams": 6,
    "num_hidden_layers": 6,
    "pad_token_id": 58100,
    "scale_embedding": True,
    "share_encoder_decoder_embeddings": True,
    "static_position_embeddings": True,
    "transformers_version": "4.22.0.dev0",
    "use_cache": True,
    "vocab_size": 58101,
}
BART_LARGE_CNN: dict[str, Any] = {
    "_num_labels": 3,
    "activation_dropout": 0.0,
    "activation_function": "gelu",
    "add_final_layer_norm": False,
    "architectures": ["BartForConditionalGeneration"],
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "classif_dropout": 0.0,
    "classifier_dropout": 0.0,
    "d_model": 1024,
    "decoder_attention_heads": 16,
    "decoder_ffn_dim": 4096,
    "decoder_layerdrop": 0.0,
    "decoder_layers": 12,
    "decoder_start_token_id": 2,
    "dropout": 0.1,
    "early_stopping": True,
    "encoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "encoder_layerdrop": 0.0,
    "encoder_layers": 12,
    "eos_token_id": 2,
    "force_bos_token_to_be_generated": True,
    "forced_bos_token_id": 0,
    "forced_eos_token_id": 2,
    "gradient_checkpointing": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    "length_penalty": 2.0,
    "max_length": 142,
    "max_position_embeddings": 1024,
    "min_length": 56,
    "model_type": "bart",
    "no_repeat_ngram_size": 3,
    "normalize_before": False,
    "num_beams": 4,
    "num_hidden_layers": 12,
    "output_past": True,
    "pad_token_id": 1,
    "prefix": " ",
    "scale_embedding": False,
    "task_specific_params": {"summarization": {"early_stopping": True, "num_beams": 4}},
    "transformers_version": "4.7.0.dev0",
    "use_cache": True,
    "vocab_size": 50264,
}


def parameters(config: dict[str, Any]) -> int:
    spec = family_of(config).read(config)
    return sum(parameter.numel() for parameter in empty(spec).parameters())


def test_t5():
    """As many parameters as their cards say: 247.6 million and 60.5."""
    flan, first = (family_of(config).read(config) for config in (FLAN_T5_BASE, T5_SMALL))
    assert flan.head == s.Language(tied=False)
    assert flan.decoder.blocks[11].feedforward == s.Gated(2048, "gelu_tanh", dropout=0.1)
    assert flan.encoder.blocks[0].attention.position == s.RelativeBias(32, 128, two_sided=True)
    assert first.head == s.Language(tied=True, hidden_scale=512**-0.5)
    assert first.decoder.blocks[5].feedforward == s.Dense(2048, "relu", bias=False, dropout=0.1)
    assert (parameters(FLAN_T5_BASE), parameters(T5_SMALL)) == (247577856, 60506624)


def test_opus_mt():
    """Its texts begin with padding, which is never written; its bos_token_id is what ends them."""
    spec = family_of(OPUS_MT_EN_DE).read(OPUS_MT_EN_DE)
    assert spec.encoder.input == s.Tokens(58101, s.Sinusoidal(layout="halves"), scale=512**0.5, dropout=0.1)
    assert (spec.head, spec.shared_vocabulary, spec.context) == (s.Language(tied=True, bias=True), True, 512)
    found = read_generation({}, OPUS_MT_EN_DE)
    assert (found.start_id, found.begin_id, found.end_ids, found.never_ids) == (58100, 0, (0,), (58100,))
    # 6 layers a side; 58,101 rows of table, and as many numbers of bias.
    assert parameters(OPUS_MT_EN_DE) == 6 * 3152384 + 6 * 4204032 + 58101 * 513


def test_bart():
    spec = family_of(BART_LARGE_CNN).read(BART_LARGE_CNN)
    assert spec.decoder.input == s.Tokens(50264, s.Learned(1024, offset=2), norm=s.LayerNorm(), dropout=0.1)
    found = read_generation({}, BART_LARGE_CNN)
    assert (found.start_id, found.first_id, found.end_ids) == (2, 0, (2,))
    assert parameters(BART_LARGE_CNN) == 406290432 + 50264


@pytest.mark.parametrize("config", [FLAN_T5_BASE, T5_SMALL, OPUS_MT_EN_DE, BART_LARGE_CNN])
def test_written_and_read_again(config):
    family = family_of(config)
    spec = family.read(config)
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None

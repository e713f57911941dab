"""Model choices have the parameters that transformers gives the same design."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from clearformer import spec as s
from clearformer.build import empty
from clearformer.errors import SpecError, TrainingError, UsageError
from clearformer.spec.presets import bert_encoder, tiny_gpt, transformer_base
from clearformer.tasks.models import Custom, Encoder, Gpt, Modern, decoder_spec, encoder_spec


def parameters(spec: s.Spec) -> int:
    return sum(each.numel() for each in empty(spec).parameters())


def test_gpt_counts_as_gpt2_does() -> None:
    config = GPT2Config(vocab_size=70, n_positions=48, n_embd=32, n_layer=3, n_head=2)
    with torch.device("meta"):
        original = GPT2LMHeadModel(config)
    assert parameters(decoder_spec(Gpt(width=32, heads=2, layers=3), 70, 48)) == original.num_parameters()


def test_modern_counts_as_llama_does() -> None:
    config = LlamaConfig(
        vocab_size=70,
        hidden_size=48,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        original = LlamaForCausalLM(config)
    spec = decoder_spec(Modern(width=48, layers=2), 70, 16)
    assert parameters(spec) == original.num_parameters()


def test_the_gated_hidden_width_is_eight_thirds_rounded_up() -> None:
    widths = {96: 256, 100: 288, 128: 352, 192: 512}
    for width, hidden in widths.items():
        feedforward = decoder_spec(Modern(width=width, heads=2, kv_heads=1), 9, 9).decoder.blocks[0].feedforward
        assert isinstance(feedforward, s.Gated)
        assert feedforward.width == hidden


@pytest.mark.parametrize("classes", [None, 3])
def test_the_encoder_counts_as_bert_does(classes: int | None) -> None:
    config = BertConfig(
        vocab_size=70,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=24,
        type_vocab_size=1,
        num_labels=classes or 2,
    )
    with torch.device("meta"):
        original = BertForMaskedLM(config) if classes is None else BertForSequenceClassification(config)
    spec = encoder_spec(Encoder(width=32, heads=2, layers=2), 70, 24, classes=classes)
    assert parameters(spec) == original.num_parameters()


def test_the_presets_defaults_are_bert_bases() -> None:
    with torch.device("meta"):
        assert parameters(bert_encoder()) == BertForMaskedLM(BertConfig()).num_parameters()


def test_a_pooled_encoder_reads_the_mean() -> None:
    spec = encoder_spec(Encoder(width=8, heads=2, layers=1, pooled=True), 9, 5, classes=2)
    assert isinstance(spec.head, s.Classes)
    assert spec.head.pooling == s.Pooling(s.Mean())


def test_a_custom_spec_takes_the_tokenizers_vocabulary_and_the_labels_number() -> None:
    own = tiny_gpt(width=16, heads=2, layers=1, vocabulary=5, context=32)
    assert decoder_spec(Custom(own), 11, 20) == tiny_gpt(width=16, heads=2, layers=1, vocabulary=11, context=32)
    classifier = bert_encoder(
        width=16, heads=2, hidden=16, layers=1, vocabulary=5, context=32, head=s.Classes(9, s.Pooling(s.Mean()))
    )
    fitted = encoder_spec(Custom(classifier), 11, 20, classes=4)
    assert fitted.head == s.Classes(4, s.Pooling(s.Mean()))
    assert isinstance(fitted.encoder.input, s.Tokens)
    assert fitted.encoder.input.vocabulary == 11


def test_a_custom_spec_that_is_another_model_is_refused() -> None:
    own = tiny_gpt(width=16, heads=2, layers=1, context=32)
    with pytest.raises(TrainingError, match="is DecoderOnly, Language; this task trains EncoderOnly, Language"):
        encoder_spec(Custom(own), 11, 20)
    with pytest.raises(TrainingError, match="is DecoderOnly, Hidden"):
        decoder_spec(Custom(replace(own, head=s.Hidden())), 11, 20)
    with pytest.raises(TrainingError, match="context of 32; the data are cut into windows of 33"):
        decoder_spec(Custom(own), 11, 33)
    with pytest.raises(TrainingError, match="EncoderDecoder"):
        decoder_spec(Custom(transformer_base()), 11, 20)  # type: ignore[arg-type]


def test_sizes_that_do_not_fit_are_the_specs_own_error() -> None:
    with pytest.raises(SpecError, match="30 does not split into 4 heads"):
        decoder_spec(Gpt(width=30), 11, 20)


@pytest.mark.parametrize("design", [Gpt, Modern, Encoder])
@pytest.mark.parametrize("size", ["width", "heads", "layers"])
def test_a_size_below_one_is_no_model(design: type, size: str) -> None:
    """A tuple times −1 is empty, and a model without blocks would train."""
    for number in (0, -1):
        with pytest.raises(UsageError, match=f"model.{size} must be"):
            design(**{size: number})

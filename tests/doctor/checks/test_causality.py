"""K01: the future, seen and unseen; with a mask and without."""

from __future__ import annotations

from doctor.checks.asking import causes
from doctor.corpus.attention_faults import OneAhead, Unmasked
from doctor.corpus.hand_written import Decoder, EncoderDecoder
from doctor.corpus.padding_faults import Encoder, Turned, encoder
from doctor.corpus.sight_faults import causal_only_when_another_mask_is_given, decoder, translator


def test_a_decoder_without_a_mask() -> None:
    assert causes("K01", **decoder(Decoder(Unmasked))) == ["ERROR no causal mask"]


def test_a_target_that_shows_the_next_token() -> None:
    assert causes("K01", **translator(EncoderDecoder(OneAhead))) == ["ERROR mask off by one"]


def test_a_mask_that_is_mislaid_until_another_is_given() -> None:
    found = causes("K01", **causal_only_when_another_mask_is_given())
    assert found == ["ERROR causal mask only with another mask"]


def test_a_leak_that_a_full_padding_mask_opens() -> None:
    assert causes("K01", **decoder(Decoder(Turned))) == ["ERROR padding mask inverted"]


def test_a_sound_decoder() -> None:
    assert causes("K01", **decoder(Decoder())) == []


def test_an_encoder_has_no_such_law() -> None:
    assert causes("K01", **encoder(Encoder())) == ["-"]

"""Incremental decoding: the pieces join to the whole, and no piece holds part of a character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import TokenizerError
from clearformer.text.stream import StreamDecoder


def streamed(tokenizer, ids, **options):
    decoder = StreamDecoder(tokenizer, **options)
    return [*(decoder.push(token_id) for token_id in ids), decoder.flush()]


@pytest.fixture(params=["smollm2", "minilm", "sentencepiece"])
def tokenizer(request):
    return request.getfixturevalue(request.param)


def test_pieces_join_to_the_text_and_are_whole(tokenizer, sample):
    ids = tokenizer.encode(sample)
    pieces = streamed(tokenizer, ids)
    assert "".join(pieces) == tokenizer.decode(ids)
    if "\ufffd" not in sample:
        assert not any("\ufffd" in piece for piece in pieces)


@settings(deadline=None)
@given(data=st.data(), skip=st.booleans())
def test_pieces_of_any_ids_join_to_their_text(smollm2, minilm, sentencepiece, data, skip):
    for tokenizer in (smollm2, minilm, sentencepiece):
        # Low ids are special tokens and single bytes: the hard cases are drawn often.
        one = st.one_of(st.integers(0, 300), st.integers(0, tokenizer.vocabulary_size - 1))
        ids = data.draw(st.lists(one, max_size=20))
        whole = tokenizer.decode(ids, skip_special=skip)
        assert "".join(streamed(tokenizer, ids, skip_special=skip)) == whole


@settings(deadline=None)
@given(text=st.text("é中😀 a\n", max_size=30))
def test_text_comes_as_soon_as_it_is_whole(smollm2, text):
    decoder = StreamDecoder(smollm2)
    so_far, given_out = b"", ""
    for token_id in smollm2.encode(text):
        so_far += smollm2.token_bytes(token_id)
        given_out += decoder.push(token_id)
        assert given_out == so_far.decode("utf-8", "ignore")


def test_an_incomplete_end_waits_for_the_flush(smollm2):
    ids = smollm2.encode("😀")
    decoder = StreamDecoder(smollm2)
    assert [decoder.push(token_id) for token_id in ids[:-1]] == [""] * (len(ids) - 1)
    assert decoder.flush() == smollm2.decode(ids[:-1]) == "\ufffd"
    assert decoder.flush() == ""
    assert "".join(map(decoder.push, smollm2.encode("again"))) == "again"


def test_an_id_outside_the_vocabulary_is_refused(tokenizer):
    with pytest.raises(TokenizerError):
        StreamDecoder(tokenizer).push(10**9)

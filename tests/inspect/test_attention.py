"""Attention maps against Hugging Face's, and the habits of heads against heads made to have them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from clearformer.errors import GenerationError, UsageError
from clearformer.inspect.attention import AttentionMaps, attention
from clearformer.inspect.subject import subject_of
from clearformer.inspect.trace import trace
from clearformer.model import EncoderDecoder
from clearformer.spec.presets import paper, tiny_gpt
from clearformer.taps import record
from drawing.built import drawn

TEXT = "the cat sat on 中文 the mat."


def test_the_weights_are_hugging_faces(pair) -> None:
    with torch.no_grad():
        theirs = pair.theirs(pair.ids, output_attentions=True).attentions
    ours = attention(pair.ours, TEXT)
    assert list(ours.maps) == list(range(len(theirs)))
    for layer, weights in enumerate(theirs):
        assert torch.allclose(ours.maps[layer], weights[0], atol=1e-5)
        assert torch.allclose(ours.maps[layer].sum(-1), torch.ones(()), atol=1e-5)


def test_a_decoder_hides_the_future_and_an_encoder_nothing(llama, bert) -> None:
    ours = attention(llama.ours, TEXT, layer=1)
    assert list(ours.maps) == [1]
    assert torch.equal(ours.visible[1], torch.ones_like(ours.visible[1]).tril())
    assert bool((ours.maps[1][:, ~ours.visible[1]] == 0).all())
    assert bool(attention(bert.ours, TEXT).visible[0].all())


def test_chinese_is_shown_whole(llama) -> None:
    tokens = attention(llama.ours, TEXT).tokens
    assert "中" in tokens
    assert "文" in tokens
    assert len(tokens) == llama.ids.shape[1]


def habits() -> AttentionMaps:
    """Four heads over five tokens: all on the first, on the one before, on itself, evenly on everything seen."""
    first, even = torch.zeros(5, 5), torch.ones(5, 5).tril()
    first[:, 0] = 1
    before = torch.diag(torch.ones(4), -1)
    before[0, 0] = 1
    heads = torch.stack((first, before, torch.eye(5), even / even.sum(-1, keepdim=True)))
    return AttentionMaps(tuple("abcde"), {3: heads}, {3: torch.ones(5, 5, dtype=torch.bool).tril()})


def test_the_habits_of_heads() -> None:
    found = habits()
    first, before, itself, even = (found.manner(3, head) for head in range(4))
    assert (first.first, first.entropy) == (1.0, 0.0)
    assert (before.previous, before.entropy) == (1.0, 0.0)
    assert (itself.itself, itself.previous) == (1.0, 0.0)
    assert even.entropy == pytest.approx(sum(math.log2(n) for n in range(1, 6)) / 5)
    assert found.most_backward() == (3, 1)


def test_induction_is_the_weight_on_what_followed_the_same_token_earlier() -> None:
    """a b c a b: the fourth asks after the b, the fifth after the c; nobody else has been there before."""
    weights = torch.full((1, 5, 5), 0.1)
    weights[0, 3, 1], weights[0, 4, 2] = 0.6, 0.4
    seen = torch.ones(5, 5, dtype=torch.bool).tril()
    found = AttentionMaps(tuple("abcab"), {0: weights}, {0: seen}, ids=(7, 8, 9, 7, 8))
    assert found.manner(0, 0).induction == pytest.approx(0.5)
    assert replace(found, ids=(1, 2, 3, 4, 5)).manner(0, 0).induction is None


def test_the_three_parts_of_an_encoder_decoder_are_its_taps() -> None:
    spec = paper(width=16, heads=2, hidden=24, layers=2, vocabulary=29, context=12)
    model = drawn(spec, 0)
    source, target = [1, 2, 3, 4], [5, 6, 7]
    seen, tap = record("**.weights")
    with torch.no_grad():
        model(torch.tensor([source]), torch.tensor([target]), tap=tap)
    places = {"encoder": "encoder.blocks.1.attention", "decoder": "decoder.blocks.1.attention"}
    for part, place in {**places, "cross": "decoder.blocks.1.cross_attention"}.items():
        found = attention(model, source, part=part, target=target, written=2 if part != "encoder" else 0)
        assert torch.allclose(found.maps[1], seen[f"{place}.weights"][0])
        assert found.tokens == tuple(map(str, source if part == "encoder" else target))
        assert found.read == tuple(map(str, target if part == "decoder" else source))
        assert found.given == (None if part == "encoder" else 1)
    assert bool(found.visible[0].all())
    assert found.manner(0, 0).previous is None
    with pytest.raises(UsageError, match="no cross attention"):
        attention(drawn(tiny_gpt(width=16, heads=2, layers=1, vocabulary=9, context=8), 0), [1, 2], part="cross")


def test_the_strongest_keys_are_sorted_and_seen() -> None:
    rows = habits().strongest(3, 1, 2)
    assert [row[0] for row in rows] == [(0, 1.0), (0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)]
    assert [len(row) for row in rows] == [1, 2, 2, 2, 2]


def test_an_encoder_decoder_is_read_on_both_sides() -> None:
    spec = paper(width=16, heads=2, hidden=24, layers=2, vocabulary=29, context=12)
    model = drawn(spec, 0)
    assert isinstance(model, EncoderDecoder)
    assert attention(model, [1, 2, 3]).maps[1].shape == (2, 3, 3)
    rows = trace(model, [1, 2, 3], target=[4, 5]).rows
    shapes = {f"{row.stage}.{row.op}": (row.in_shapes, row.out_shape) for row in rows}
    assert shapes["decoder.blocks.1.cross_attention.key"] == (((1, 3, 16),), (1, 2, 3, 8))
    assert shapes["decoder.blocks.1.cross_attention.scores"][1] == (1, 2, 2, 3)
    assert shapes["decoder.embed"][0] == ((1, 2),)
    with pytest.raises(UsageError, match="names no start token"):
        trace(model, [1, 2, 3])


def test_what_cannot_be_looked_at_is_refused(llama) -> None:
    model = llama.ours.model
    with pytest.raises(UsageError, match="no layer 2; the model has 2"):
        attention(model, [1], layer=2)
    with pytest.raises(GenerationError, match="at least one token"):
        subject_of(llama.ours, "")
    with pytest.raises(UsageError, match="Token id 300 is outside the vocabulary of 300"):
        trace(model, [1, 300])
    with pytest.raises(UsageError, match="without a tokenizer"):
        trace(replace(llama.ours, tokenizer=None), "the cat")
    with pytest.raises(GenerationError, match="1025 tokens; the model reads 1024"):
        trace(model, [1] * 1025)

"""How positions are known, against the formulas of the papers and against what a model computes with."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.inspect.positions import schemes
from clearformer.inspect.positions_picture import draw, sentences
from clearformer.spec.presets import modern_decoder, transformer_base
from clearformer.taps import record
from drawing.built import drawn

LENGTH = 24


def decoder(
    position: s.AttentionPosition | None, *, added: s.InputPosition | None = None, heads: int = 4
) -> s.DecoderOnly:
    block = s.Block(s.Attention(heads, heads, 8, 8, position=position), s.Dense(16), s.LayerNorm(), s.LayerNorm())
    return s.DecoderOnly(s.Stack(32, s.Tokens(11, added), (block,) * 2), s.Language(), context=64)


def test_sinusoids_are_the_papers_and_fall_off_by_distance() -> None:
    encoder, decoder_side = schemes(transformer_base(), LENGTH)
    assert (encoder.kind, encoder.stack, decoder_side.stack) == ("sinusoidal", "encoder", "decoder")
    for position, pair in ((0, 0), (7, 3), (23, 255)):
        angle = position / 10000 ** (2 * pair / 512)
        assert float(encoder.table[position, 2 * pair]) == pytest.approx(math.sin(angle))
        assert float(encoder.table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle))
    mean = [np.mean([math.cos(away / 10000 ** (2 * pair / 512)) for pair in range(256)]) for away in range(LENGTH)]
    np.testing.assert_allclose(encoder.curve.numpy(), mean)


@pytest.mark.parametrize("scaling", [None, s.LinearScaling(4.0), s.YaRN(4.0, 16)])
@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_the_decay_of_rotary_is_the_models_own_scores(scaling: s.RopeScaling | None, layout: s.Layout) -> None:
    """Every token the same, and query and key projections alike: what is left of a score is what distance leaves."""
    spec = decoder(s.Rotary(base=100.0, layout=layout, scaling=scaling))
    model = drawn(spec, 1)
    with torch.no_grad():
        attention = model.decoder.blocks[0].attention
        for projection in (attention.query, attention.key):
            projection.weight.zero_()
            # A norm's output on one fixed token is a fixed vector; make every number of its query and key one.
        x = model.decoder.blocks[0].attention_norm(model.decoder.embed.token.weight[3])
        for projection in (attention.query, attention.key):
            projection.weight += torch.ones(32, 1, dtype=torch.float64) @ (x / (x @ x))[None]
    seen, tap = record("blocks.0.attention.scores")
    with torch.no_grad():
        model(torch.full((1, LENGTH), 3), tap=tap)
    (scores,) = seen.values()
    (scheme,) = schemes(spec, LENGTH)
    assert (scheme.kind, scheme.layers) == ("rotary", (0, 1))
    last = scores[0, 0, -1].flip(0)
    np.testing.assert_allclose((last / last[0]).numpy(), scheme.curve.numpy(), atol=1e-9)
    if scaling is None:
        expected = [2 * math.pi * 100 ** (2 * pair / 8) for pair in range(4)]
        assert scheme.wavelengths == pytest.approx(expected)
        assert float(scheme.table[5, 1]) == pytest.approx(math.cos(5 / 100 ** (1 / 4)))


def test_alibi_is_what_the_model_adds_to_its_scores() -> None:
    (scheme,) = schemes(decoder(s.ALiBi(), heads=8), LENGTH)
    assert scheme.slopes == tuple(2.0**-n for n in range(1, 9))
    np.testing.assert_allclose(scheme.table[2].numpy(), [away / 8 for away in scheme.distances])
    assert scheme.distances == tuple(range(1 - LENGTH, 1))


def test_a_learnt_bias_is_the_models_own_and_its_buckets_are_told_without_weights() -> None:
    spec = decoder(s.RelativeBias(8, 16))
    model = drawn(spec, 1)
    (scheme,) = schemes(spec, LENGTH, model.state_dict())
    places = torch.arange(LENGTH)[None]
    with torch.no_grad():
        bias = model.decoder.blocks[0].attention.relative(places, places)[0]
    assert (scheme.kind, scheme.layers) == ("relative", (0, 1))
    np.testing.assert_allclose(scheme.table.numpy(), bias[:, -1].numpy())
    (bare,) = schemes(spec, LENGTH)
    assert (bare.kind, bare.table) == ("buckets", None)
    # T5: one-sided, half of the buckets are exact, the furthest share the last.
    assert bare.curve.flip(0)[:4].tolist() == [0, 1, 2, 3]
    assert bare.curve[0] == 7


def test_learnt_vectors_are_those_of_the_table() -> None:
    spec = decoder(None, added=s.Learned(64, offset=2))
    model = drawn(spec, 1)
    (scheme,) = schemes(spec, LENGTH, model.state_dict())
    assert torch.equal(scheme.table, model.decoder.embed.position.weight[2 : 2 + LENGTH])
    assert scheme.curve[0] == pytest.approx(1.0)
    with pytest.raises(UsageError, match="a spec has no weights"):
        schemes(spec, LENGTH)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(UsageError, match="told no positions"):
        schemes(decoder(None), LENGTH)
    with pytest.raises(UsageError, match="from 2 to 4096, found 1"):
        schemes(modern_decoder(), 1)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_every_kind_is_drawn_and_described(tmp_path: Path, suffix: str, language: str) -> None:
    found = [
        *schemes(transformer_base(), 16),
        *schemes(modern_decoder(), 16),
        *schemes(decoder(s.ALiBi()), 16),
        *schemes(decoder(s.RelativeBias(8, 16)), 16),
    ]
    path, _ = draw(tmp_path / f"p.{suffix}", found, "made", language=language)
    content = path.read_bytes()
    assert len(content) > 10_000
    if suffix != "png":
        for scheme in found:
            assert sentences(scheme, language)[0].encode() in content

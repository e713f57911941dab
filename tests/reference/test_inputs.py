"""Images and series as sequences, forecasts as their continuation, and inputs that are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearformer.errors import CheckpointError, ClearformerError
from clearformer.reference import checks, images, series
from clearformer.reference.cache import Cache
from clearformer.reference.initial import shapes
from clearformer.reference.model import compare, decode, encode, run
from clearformer.reference.weights import Weights
from clearformer.spec import (
    DecoderOnly,
    EncoderOnly,
    EndToken,
    Flatten,
    Forecast,
    Full,
    Last,
    Learned,
    Mean,
    Patches,
    Pooling,
    ReversibleNorm,
    Series,
    Stack,
    Tokens,
    TwoTowers,
    Vector,
)

NO_WEIGHTS = Weights({})


def test_patches_are_a_convolutions(rng) -> None:
    """A convolution whose stride is its kernel projects exactly the patches that `cut` gives."""
    image, kernel = rng.standard_normal((2, 3, 8, 12)), rng.standard_normal((5, 3, 4, 4))
    theirs = torch.nn.functional.conv2d(torch.from_numpy(image), torch.from_numpy(kernel), stride=4)
    ours = images.cut(Patches(8, 12, 4), image) @ kernel.reshape(5, -1).T
    np.testing.assert_allclose(ours, theirs.flatten(2).transpose(1, 2).numpy(), atol=1e-12)


@pytest.mark.parametrize(("patch", "stride", "steps"), [(1, 1, 7), (3, 3, 9), (3, 2, 10), (4, 3, 12)])
def test_series_patches_count_from_the_latest_step(patch: int, stride: int, steps: int, rng) -> None:
    window = rng.standard_normal((2, steps, 3))
    spec = Series(3, patch, stride)
    pieces = series.cut(spec, NO_WEIGHTS, window)
    assert pieces.shape == (2, spec.length(steps), 3 * patch)
    for back in range(pieces.shape[1]):
        end = steps - back * stride
        np.testing.assert_array_equal(pieces[1, -1 - back], window[1, end - patch : end].reshape(-1))


def test_independent_channels_are_rows(rng) -> None:
    window = rng.standard_normal((2, 6, 3))
    pieces = series.cut(Series(3, 2, 2, independent=True), NO_WEIGHTS, window)
    assert pieces.shape == (6, 3, 2)
    np.testing.assert_array_equal(pieces[1 * 3 + 2, 1], window[1, 2:4, 2])


def _forecaster(build, *, independent: bool, affine: bool) -> EncoderOnly:
    block = build.layer(build.attend(visibility=Full()))
    source = Series(3, 4, 2, Learned(8), ReversibleNorm(affine=affine), independent)
    return EncoderOnly(Stack(16, source, (block,) * 2), Forecast(5, Pooling(Flatten(7))), context=8)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("independent", [False, True])
def test_forecasts_follow_the_level_of_their_channel(build, weights_of, rng, independent: bool, affine: bool) -> None:
    """RevIN's promise: shift and stretch a channel's window, and its forecast is so shifted and stretched."""
    spec = _forecaster(build, independent=independent, affine=affine)
    weights, window = weights_of(spec), rng.standard_normal((2, 16, 3))
    answer = run(spec, weights, window)
    assert answer.shape == (2, 5, 3)
    stretch, shift = np.array([1.5, 40.0, 3.0]), np.array([-7.0, 2.0, 100.0])
    moved = run(spec, weights, window * stretch + shift)
    np.testing.assert_allclose(moved, answer * stretch + shift, rtol=2e-4, atol=2e-3)


def test_independent_channels_do_not_meet(build, weights_of, rng) -> None:
    window = rng.standard_normal((2, 16, 3))
    other = window.copy()
    other[:, :, 1] = rng.standard_normal((2, 16))
    for independent in (True, False):
        spec = _forecaster(build, independent=independent, affine=True)
        weights = weights_of(spec)
        moved = np.abs(run(spec, weights, window) - run(spec, weights, other))[:, :, 0].max()
        assert (moved == 0) == independent


def test_a_forecasting_decoder_reads_steps_from_its_cache(build, weights_of, rng) -> None:
    spec = DecoderOnly(Stack(16, Series(3), (build.layer(),) * 2), Forecast(2, Pooling(Last())), context=16)
    weights, window, cache = weights_of(spec), rng.standard_normal((2, 9, 3)), Cache(9)
    run(spec, weights, window[:, :5], cache=cache)
    np.testing.assert_allclose(run(spec, weights, window[:, 5:], cache=cache), run(spec, weights, window), atol=1e-11)


@pytest.fixture
def clip(build) -> TwoTowers:
    text = build.decoder(build.layer(), head=Vector(Pooling(EndToken(22)), 6), tokens=Tokens(23, Learned(64)))
    picture = Patches(8, 8, 4, position=Learned(5))
    block = build.layer(build.attend(visibility=Full()))
    return TwoTowers(text, EncoderOnly(Stack(12, picture, (block,)), Vector(Pooling(), 6), context=5))


def test_two_towers_compare_each_with_each(clip, weights_of, ids, rng) -> None:
    weights, texts, pictures = weights_of(clip), ids(4, 6) % 22, rng.standard_normal((3, 3, 8, 8))
    texts[:, 4] = 22
    logits = compare(clip, weights, texts, pictures)
    assert logits.shape == (4, 3)
    assert np.abs(logits).max() <= np.exp(weights["scale"])
    solo = compare(clip, weights, texts[2:3, :5], pictures[1:2])
    np.testing.assert_allclose(solo, logits[2:3, 1:2], atol=1e-10)
    with pytest.raises(ClearformerError, match="Row 0 has no token 22"):
        compare(clip, weights, texts[:, :4], pictures)


def test_pooling_takes_real_positions(build, weights_of, ids) -> None:
    from clearformer.spec import First

    for take, at in ((First(), 0), (Last(), -1), (Mean(), slice(None))):
        spec = build.decoder(build.layer(), head=Vector(Pooling(take), normalise=False))
        hidden = build.decoder(build.layer(), head=None)
        weights, tokens = weights_of(hidden), ids(1, 5)
        from clearformer.taps import record

        seen, tap = record("decoder.final_norm")
        run(hidden, weights, tokens, tap=tap)
        states = seen["decoder.final_norm"][0, at]
        padded, real = np.pad(tokens, ((0, 0), (2, 1))), np.array([[False] * 2 + [True] * 5 + [False]])
        answer = run(spec, weights, padded, real=real)[0]
        np.testing.assert_allclose(answer, states.mean(axis=0) if states.ndim == 2 else states, atol=1e-12)


def _refused(words: str, call) -> None:
    with pytest.raises(ClearformerError, match=words) as caught:
        call()
    assert caught.value.cause("zh")
    assert "\n" not in str(caught.value)


def test_foreign_weights_are_refused(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights, name = weights_of(spec), "decoder.blocks.1.attention.query.bias"
    assert {key: array.shape for key, array in weights.items()} == shapes(spec)
    missing = {key: array for key, array in weights.items() if key != name}
    for table, words in (
        (missing, f"needs the weight {name}"),
        (weights | {"decoder.extra": np.ones(3)}, "no weight called decoder.extra"),
        (weights | {name: np.ones(3)}, r"shape \(32,\); found \(3,\)"),
    ):
        with pytest.raises(CheckpointError, match=words):
            run(spec, table, ids(1, 3))


def test_foreign_inputs_are_refused(spec_named, weights_of, ids) -> None:
    spec = spec_named("gpt2")
    weights = weights_of(spec)
    _refused("whole numbers", lambda: run(spec, weights, np.ones((1, 3))))
    _refused("0…22", lambda: run(spec, weights, np.array([[-1]])))
    _refused("shape", lambda: run(spec, weights, ids(3)))
    _refused("real must have the shape", lambda: run(spec, weights, ids(1, 3), real=np.ones((1, 4), bool)))
    _refused("real must hold booleans", lambda: checks.real(np.ones((1, 3), int), 1, 3))
    _refused("0…1", lambda: run(spec, weights, ids(1, 3), segments=np.full((1, 3), 2)))
    _refused("64 positions; position 64", lambda: run(spec, weights, ids(1, 65)))
    _refused("no block of this spec has one", lambda: run(spec, weights, ids(1, 3), prefix=np.array([1])))
    plain = spec_named("gemma")
    _refused("no segments|has none", lambda: run(plain, weights_of(plain), ids(1, 3), segments=ids(1, 3)))


def test_a_cache_serves_one_purpose(build, spec_named, weights_of, ids) -> None:
    spec = spec_named("prefix")
    weights, cache = weights_of(spec), Cache(6)
    run(spec, weights, ids(2, 4), cache=cache)
    _refused("2 sequences|holds 2", lambda: run(spec, weights, ids(3, 1), cache=cache))
    _refused("holds 6 positions; 7", lambda: run(spec, weights, ids(2, 3), cache=cache))
    _refused("another length_bound", lambda: run(spec, weights, ids(2, 1), cache=cache, length_bound=9))
    _refused("4 of them were read", lambda: run(spec, weights, ids(2, 1), cache=cache, prefix=np.array([5, 0])))
    paper = spec_named("paper")
    table, cache = weights_of(paper), Cache(6)
    first, second = (encode(paper, table, ids(1, 3)) for _ in range(2))
    decode(paper, table, ids(1, 1), first, cache=cache)
    _refused("another memory", lambda: decode(paper, table, ids(1, 1), second, cache=cache))
    pooled = build.decoder(build.layer(), head=Vector())
    _refused("needs the whole", lambda: run(pooled, weights_of(pooled), ids(1, 2), cache=Cache(4)))

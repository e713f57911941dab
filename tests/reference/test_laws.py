"""Laws that hold of the twin by the mathematics, whatever the spec."""

from __future__ import annotations

import numpy as np
import pytest

from clearformer.reference.cache import Cache
from clearformer.reference.model import decode, encode, run, translate_logits

BOUND = 12
CLOSE = {"rtol": 0, "atol": 1e-11}


def test_the_future_is_not_seen(decoder_spec, weights_of, ids) -> None:
    weights, one = weights_of(decoder_spec), ids(2, 9)
    other = one.copy()
    other[:, 5:] = (other[:, 5:] + 1) % 23
    first, second = (run(decoder_spec, weights, tokens, length_bound=BOUND) for tokens in (one, other))
    np.testing.assert_array_equal(first[:, :5], second[:, :5])
    assert np.abs(first[:, 5:] - second[:, 5:]).max() > 1e-3


@pytest.mark.parametrize("cuts", [(1, 2, 3, 4, 5, 6, 7, 8), (4,), (1, 6)], ids=["one-by-one", "halves", "chunks"])
def test_cached_is_full(decoder_spec, weights_of, ids, cuts) -> None:
    weights, tokens = weights_of(decoder_spec), ids(2, 9)
    cache = Cache(BOUND)
    full = run(decoder_spec, weights, tokens, length_bound=BOUND)
    parts = [run(decoder_spec, weights, part, cache=cache) for part in np.split(tokens, cuts, axis=1)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), full, **CLOSE)


def test_cached_is_full_with_pads(decoder_spec, weights_of, ids, rng) -> None:
    weights, tokens = weights_of(decoder_spec), ids(3, 9)
    real = rng.random((3, 9)) < 0.6
    real[:, 4] = True
    cache = Cache(BOUND)
    full = run(decoder_spec, weights, tokens, real=real, length_bound=BOUND)
    parts = [
        run(decoder_spec, weights, tokens[:, at], real=real[:, at], cache=cache)
        for at in (slice(0, 4), slice(4, 5), slice(5, 9))
    ]
    np.testing.assert_allclose(np.concatenate(parts, axis=1)[real], full[real], **CLOSE)


def _padded(tokens: np.ndarray, left: int, right: int) -> tuple[np.ndarray, np.ndarray]:
    padded = np.pad(tokens, ((0, 0), (left, right)), constant_values=7)
    real = np.zeros(padded.shape, dtype=bool)
    real[:, left : left + tokens.shape[1]] = True
    return padded, real


@pytest.mark.parametrize(("left", "right"), [(3, 0), (0, 3), (2, 1)])
def test_padding_changes_nothing_in_decoders(decoder_spec, weights_of, ids, left, right) -> None:
    _padding_changes_nothing(decoder_spec, weights_of, ids, left, right)


@pytest.mark.parametrize(("left", "right"), [(3, 0), (0, 3), (2, 1)])
def test_padding_changes_nothing_in_encoders(encoder_spec, weights_of, ids, left, right) -> None:
    _padding_changes_nothing(encoder_spec, weights_of, ids, left, right)


def _padding_changes_nothing(spec, weights_of, ids, left: int, right: int) -> None:
    weights, tokens = weights_of(spec), ids(2, 7)
    padded, real = _padded(tokens, left, right)
    answer = run(spec, weights, padded, real=real)[:, left : left + 7]
    np.testing.assert_allclose(answer, run(spec, weights, tokens), **CLOSE)


def test_a_row_of_a_batch_is_that_row_alone(decoder_spec, weights_of, ids) -> None:
    weights, tokens = weights_of(decoder_spec), ids(3, 8)
    lengths = (8, 3, 6)
    real = np.arange(8) < np.array(lengths)[:, None]
    batch = run(decoder_spec, weights, tokens, real=real)
    for row, length in enumerate(lengths):
        solo = run(decoder_spec, weights, tokens[row : row + 1, :length])
        np.testing.assert_allclose(batch[row, :length], solo[0], **CLOSE)


def test_encoders_see_both_ways(encoder_spec, weights_of, ids) -> None:
    weights, one = weights_of(encoder_spec), ids(1, 6)
    other = one.copy()
    other[:, 2] = (other[:, 2] + 1) % 23
    moved = np.abs(run(encoder_spec, weights, one) - run(encoder_spec, weights, other)).max(axis=(0, 2))
    assert moved[1] > 1e-3
    assert moved[3] > 1e-3


def test_translation_cached_is_full_and_source_pads_are_unseen(translator_spec, weights_of, ids) -> None:
    weights, source, target = weights_of(translator_spec), ids(2, 6), ids(2, 5)
    full = translate_logits(translator_spec, weights, source, target)
    padded, real = _padded(source, 2, 1)
    memory, cache = encode(translator_spec, weights, padded, real=real), Cache(5)
    parts = [decode(translator_spec, weights, part, memory, cache=cache) for part in np.split(target, (2, 3), axis=1)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), full, **CLOSE)
    assert np.abs(full - translate_logits(translator_spec, weights, source[::-1], target)).max() > 1e-3


def test_a_prefix_sees_itself_both_ways_and_nothing_after(spec_named, weights_of, ids) -> None:
    spec = spec_named("prefix")
    weights, one, prefix = weights_of(spec), ids(2, 8), np.array([3, 5])
    seen = run(spec, weights, one, prefix=prefix)
    for row, length in enumerate(prefix):
        inside, outside = one.copy(), one.copy()
        inside[row, length - 1] = (inside[row, length - 1] + 1) % 23
        outside[row, length] = (outside[row, length] + 1) % 23
        assert np.abs(run(spec, weights, inside, prefix=prefix)[row, 0] - seen[row, 0]).max() > 1e-3
        np.testing.assert_array_equal(run(spec, weights, outside, prefix=prefix)[row, :length], seen[row, :length])


def test_orders_without_positions(build, spec_named, weights_of) -> None:
    """Two causal layers tell orders apart, though nobody told them positions; the last token sees the same set."""
    spec = spec_named("no-positions")
    weights, tokens = weights_of(spec), np.array([[4, 9, 2, 11, 6]])
    swapped = tokens[:, [1, 0, 2, 3, 4]]
    assert np.abs(run(spec, weights, tokens)[0, -1] - run(spec, weights, swapped)[0, -1]).max() > 1e-3
    single = build.decoder(build.layer())
    weights = weights_of(single)
    np.testing.assert_allclose(run(single, weights, tokens)[0, -1], run(single, weights, swapped)[0, -1], **CLOSE)


def test_full_attention_without_positions_is_permutation_equivariant(build, weights_of, ids, rng) -> None:
    from clearformer.spec import EncoderOnly, Full, Hidden, Stack, Tokens

    block = build.layer(build.attend(visibility=Full()))
    spec = EncoderOnly(Stack(16, Tokens(23), (block,)), Hidden(), context=64)
    weights, tokens, order = weights_of(spec), ids(2, 7), rng.permutation(7)
    np.testing.assert_allclose(run(spec, weights, tokens[:, order]), run(spec, weights, tokens)[:, order], **CLOSE)

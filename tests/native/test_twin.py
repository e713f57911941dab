"""The compiled kernels equal the NumPy twin, over decoders drawn from the whole space that they compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.native.library import found
from clearformer.reference import initial
from clearformer.reference import model as twin
from clearformer.speed.native import NativeDecoder, native_decoder
from clearformer.speed.native_scope import native_lacks
from drawing.blocks import stacks
from drawing.built import built
from drawing.models import CONTEXT, VOCABULARY, language, tokens
from law_testers.conditioning import FLOAT32_MOVES, Nudge, moves
from native.engines import another_path

pytestmark = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")

LENGTH = 19
TOLERANCE = 1e-4


@st.composite
def decoders(draw: st.DrawFn) -> s.DecoderOnly:
    return s.DecoderOnly(draw(stacks(draw(tokens), causal=True)), draw(language), CONTEXT)


def compare(spec: s.DecoderOnly, seed: int, path: str, louder: Mapping[str, float] = MappingProxyType({})) -> None:
    """All logits of one text: read at once, in two parts, token by token, and beside another text.

    `louder`: weights to be multiplied by a number.
    """
    rng = np.random.default_rng(seed)
    weights = initial.draw(spec, rng)
    weights = {name: weight * louder.get(name, 1.0) for name, weight in weights.items()}
    ids = rng.integers(0, VOCABULARY, (2, LENGTH))

    def twins_answer(nudge: Nudge) -> list[np.ndarray]:
        return [twin.run(spec, {name: nudge(weight) for name, weight in weights.items()}, ids)]

    (expected,) = twins_answer(lambda values: values)
    extent = max(float(np.ptp(expected)), 1e-3)
    decoder = another_path(native_decoder(built(spec, weights), "float32", threads=1), path)
    whole = read(decoder, [ids[0]], [LENGTH])
    gap, bound = np.abs(whole - expected[0]).max(), TOLERANCE * extent
    if gap > bound:
        bound = max(bound, FLOAT32_MOVES * moves(twins_answer)[0])
    assert gap <= bound
    for parts in ([LENGTH - 6, 6], [1] * LENGTH):
        np.testing.assert_array_equal(read(decoder, [ids[0]], parts), whole)
    both = read(decoder, list(ids), [1] * LENGTH)
    np.testing.assert_array_equal(both[0::2], whole)


def read(decoder: NativeDecoder, texts: list[np.ndarray], parts: list[int]) -> np.ndarray:
    """Logits of every token, the texts' tokens in turn where there are several."""
    sequences = [decoder.sequence(LENGTH, LENGTH) for _ in texts]
    found, start = [], 0
    for part in parts:
        ids = [int(token) for text in texts for token in text[start : start + part]]
        rows = [sequence for sequence in sequences for _ in range(part)]
        found.append(decoder.engine.run(ids, rows, range(len(ids))))
        start += part
    return np.concatenate(found)


@pytest.mark.parametrize("path", found().paths)
def test_the_kernels_equal_the_twin(path: str) -> None:
    lacking: Counter[bool] = Counter()

    @settings(max_examples=40)
    @given(decoders(), st.integers(0, 2**32 - 1))
    def one(spec: s.DecoderOnly, seed: int) -> None:
        lacking[native_lacks(spec) is None] += 1
        assume(native_lacks(spec) is None)
        compare(spec, seed, path)

    one()
    assert lacking[True] > 15


@pytest.mark.parametrize("groups", [None, s.RouterGroups(2, 1, "best")])
@pytest.mark.parametrize("path", found().paths)
def test_a_router_whose_sigmoids_round_to_one_still_takes_the_best(path: str, groups: s.RouterGroups | None) -> None:
    expert = s.Dense(6, "relu", bias=False)
    router = s.SigmoidRouter(selection_bias=False, normalise=False, groups=groups)
    block = s.Block(s.Attention(1, 1, 4, 4), s.Experts(4, 1, expert, router), None, s.RMSNorm())
    spec = s.DecoderOnly(s.Stack(8, s.Tokens(VOCABULARY), (block,)), s.Language(tied=False), CONTEXT)
    compare(spec, 0, path, {"decoder.blocks.0.feedforward.router.weight": 1e3})


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("path", found().paths)
@settings(max_examples=1500)
@given(decoders(), st.integers(0, 2**32 - 1))
def test_the_kernels_equal_the_twin_long(path: str, spec: s.DecoderOnly, seed: int) -> None:
    assume(native_lacks(spec) is None)
    compare(spec, seed, path)

"""Every tap of the PyTorch models is a tap of the NumPy twin, with the same name and the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.reference import initial
from clearformer.reference import model as twin
from clearformer.taps import OFF, Tap, matches, record
from drawing.built import built
from drawing.inputs import batch
from drawing.models import any_spec
from drawing.small import SPECS, inputs
from law_testers.conditioning import FLOAT32_MOVES, Nudge, moves
from law_testers.subject import NEAR, margins

CLOSE = 1e-9
# Of the moves that float32's rounding makes, what float64's makes, and as much again as `test_twin` allows.
MOVES = FLOAT32_MOVES * 2.0**-29


def read_twin(spec: s.Spec, weights: dict[str, np.ndarray], data: tuple[np.ndarray, ...], tap: Tap) -> None:
    match spec:
        case s.EncoderDecoder():
            twin.translate_logits(spec, weights, *data, tap=tap)
        case s.TwoTowers():
            twin.compare(spec, weights, *data, tap=tap)
        case _:
            twin.run(spec, weights, *data, tap=tap)


def whole(spec: s.Spec, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Inputs without padding: what stands at a pad means nothing."""
    match spec:
        case s.EncoderDecoder():
            return batch(spec.encoder.input, rng).data, batch(spec.decoder.input, rng).data
        case s.TwoTowers():
            return batch(s.main_stack(spec.text).input, rng).data, batch(spec.image.encoder.input, rng).data
        case _:
            return (batch(s.main_stack(spec).input, rng).data,)


def compare(spec: s.Spec, weights: dict[str, np.ndarray], data: tuple[np.ndarray, ...]) -> None:
    expected, listening = record()
    read_twin(spec, weights, data, listening)
    found, listening = record()
    with torch.no_grad(), margins() as won:
        built(spec, weights)(*(torch.from_numpy(each) for each in data), tap=listening)
    assert found.keys() == expected.keys()
    if min(won, default=1.0) < NEAR[torch.float64]:
        # Two experts of equal merit: which one is chosen is rounding.
        return

    def twins_taps(nudge: Nudge) -> list[np.ndarray]:
        moved, tap = record()
        read_twin(spec, {name: nudge(each) for name, each in weights.items()}, tuple(map(nudge, data)), tap)
        return [np.nan_to_num(each, neginf=0.0) for each in moved.values()]

    bounds = None
    for number, (name, values) in enumerate(expected.items()):
        theirs = found[name].numpy()
        hidden = np.isneginf(values)
        assert theirs.shape == values.shape, name
        assert np.array_equal(np.isneginf(theirs), hidden), name
        gap = np.abs(np.where(hidden, 0.0, theirs) - np.where(hidden, 0.0, values)).max()
        if gap > CLOSE * max(1.0, np.abs(values[~hidden]).max(initial=0.0)):
            bounds = bounds or moves(twins_taps)
            assert gap <= MOVES * bounds[number], name


@pytest.mark.parametrize("name", SPECS)
def test_every_tap_is_the_twins(name: str) -> None:
    rng = np.random.default_rng(3)
    compare(SPECS[name], initial.draw(SPECS[name], rng), inputs(SPECS[name], rng))


@settings(max_examples=60)
@given(any_spec, st.integers(0, 2**32 - 1))
def test_every_tap_is_the_twins_over_the_whole_space(spec: s.Spec, seed: int) -> None:
    rng = np.random.default_rng(seed)
    compare(spec, initial.draw(spec, rng), whole(spec, rng))


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("decoder", ("embed", "blocks.1.attention.query_rotated", "blocks.0.attention.masked_scores")),
        ("decoder", ("blocks.0.feedforward.gate", "blocks.1.attention_sum", "final_norm")),
        ("decoder-softmax-experts", ("blocks.0.feedforward.router",)),
        ("decoder-latent", ("blocks.0.attention.key", "blocks.0.attention.key_rotated")),
        ("encoder-decoder", ("blocks.0.cross_attention.weights", "blocks.0.cross_sum")),
        ("encoder", ("blocks.0.attention_output_norm", "blocks.0.feedforward.hidden")),
    ],
)
def test_the_points_that_are_promised_are_there(name: str, points: tuple[str, ...]) -> None:
    rng = np.random.default_rng(1)
    seen, tap = record(*points)
    read_twin(SPECS[name], initial.draw(SPECS[name], rng), inputs(SPECS[name], rng), tap)
    assert {point for point in points if not any(matches(each, point) for each in seen)} == set()


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("decoder.blocks.1.attention.weights", True),
        ("blocks.1.attention.weights", True),
        ("blocks.*.attention.weights", True),
        ("blocks.?.attention.weights", True),
        ("**.weights", True),
        ("**", True),
        ("blocks.*.weights", False),
        ("blocks.*.cross_attention.weights", False),
        ("encoder.blocks.*.attention.weights", False),
        ("attention.weights", False),
        ("blocks.[1].attention.weights", False),
    ],
)
def test_patterns(pattern: str, fits: bool) -> None:
    assert matches("decoder.blocks.1.attention.weights", pattern) is fits


def test_what_nobody_hears_is_not_asked_for() -> None:
    _, tap = record("blocks.*.output")
    inside = tap.within("decoder").within("blocks.0")
    assert inside.hears("output", "other")
    assert not inside.within("attention").hears("scores", "weights")
    assert not OFF.hears("output")

"""Autograd against central differences of the NumPy twin, for every weight of every architecture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.model import Model
from clearformer.reference import initial
from clearformer.reference import model as twin
from clearformer.reference.loss import cross_entropy
from drawing.built import built

V, D, STEP = 11, 8, 1e-5
IGNORED = -100
Arrays = tuple[np.ndarray, ...]
Weights = dict[str, np.ndarray]


def block(visibility: s.Visibility, **choices: object) -> s.Block:
    plain = {
        "attention": s.Attention(4, 2, 4, 3, visibility, s.Rotary(), s.Biases.everywhere()),
        "feedforward": s.Gated(10),
        "attention_norm": s.RMSNorm(1e-3),
        "feedforward_norm": s.RMSNorm(1e-3),
    }
    return s.Block(**{**plain, **choices})


def decoder(*blocks: s.Block, head: s.Language | None = None) -> s.DecoderOnly:
    stack = s.Stack(D, s.Tokens(V), blocks, s.LayerNorm(1e-3))
    return s.DecoderOnly(stack, head or s.Language(tied=True), context=16)


def experts(router: s.Router) -> s.Experts:
    return s.Experts(4, 2, s.Gated(6), router, shared=s.Dense(6, "gelu"), shared_gate=True)


def translator() -> s.EncoderDecoder:
    def attend(visibility: s.Visibility, position: s.AttentionPosition | None = None) -> s.Attention:
        return s.Attention(2, 2, 4, 4, visibility, position, s.Biases.everywhere())

    two_sided = s.RelativeBias(8, 16, two_sided=True)
    source = block(s.Full(), attention=attend(s.Full(), two_sided), feedforward=s.Dense(10, "gelu_tanh"))
    target = block(
        s.Causal(),
        attention=attend(s.Causal(), s.ALiBi()),
        cross_attention=attend(s.Full()),
        cross_norm=s.LayerNorm(1e-3),
        arrangement=s.Sequential("post"),
    )
    tokens = s.Tokens(V, s.Sinusoidal(), scale=2.0)
    encoder, decoder = (s.Stack(D, tokens, (each,) * 2) for each in (source, target))
    return s.EncoderDecoder(encoder, decoder, s.Language(bias=True), context=16, shared_vocabulary=True)


def bert() -> s.EncoderOnly:
    tokens = s.Tokens(V, s.Learned(16), segments=2, norm=s.LayerNorm(1e-3))
    layer = block(s.Full(radius=2), arrangement=s.Sequential("sandwich"), feedforward=s.Dense(10, "quick_gelu"))
    head = s.Language(tied=True, bias=True, transform=s.Transform("gelu", s.LayerNorm(1e-3)), cap=5.0)
    return s.EncoderOnly(s.Stack(D, tokens, (layer,)), head, context=16)


def classifier() -> s.EncoderOnly:
    image = s.Patches(4, 4, 2, channels=2, position=s.Learned(5))
    head = s.Classes(3, s.Pooling(s.First(), "tanh"))
    return s.EncoderOnly(s.Stack(D, image, (block(s.Full()),)), head, context=16)


def forecaster() -> s.EncoderOnly:
    series = s.Series(2, patch=3, stride=3, normalise=s.ReversibleNorm(affine=True), independent=True)
    layer = block(s.Full(), arrangement=s.Parallel())
    return s.EncoderOnly(s.Stack(D, series, (layer,)), s.Forecast(2, s.Pooling(s.Flatten(3))), context=16)


def towers() -> s.TwoTowers:
    stack = s.Stack(D, s.Tokens(V), (block(s.Causal()),))
    text = s.DecoderOnly(stack, s.Vector(s.Pooling(s.Last()), 5), context=16)
    image = s.Stack(D, s.Patches(4, 4, 2), (block(s.Full()),))
    return s.TwoTowers(text, s.EncoderOnly(image, s.Vector(s.Pooling(s.Mean()), 5), context=16), initial_scale=1.0)


HEAD_NORM = s.QKNorm(s.RMSNorm(1e-3))
LATENT = s.LatentAttention(2, 4, 3, 5, s.Rotary(width=2), query_rank=4, bias=True)
SPECS: dict[str, s.Spec] = {
    "decoder": decoder(block(s.Causal()), block(s.Causal(window=3))),
    "decoder-qk-norm-cap": decoder(
        block(s.Causal(), attention=s.Attention(2, 1, 4, 4, position=s.Rotary(), qk_norm=HEAD_NORM, score_cap=2.0)),
        head=s.Language(tied=False),
    ),
    "decoder-softmax-experts": decoder(block(s.Causal(), feedforward=experts(s.SoftmaxRouter(normalise=True)))),
    "decoder-sigmoid-experts": decoder(block(s.Causal(), feedforward=experts(s.SigmoidRouter()))),
    "decoder-latent": decoder(block(s.Causal(), attention=LATENT)),
    "encoder": bert(),
    "encoder-decoder": translator(),
    "image": classifier(),
    "series": forecaster(),
    "two-towers": towers(),
}


def inputs(spec: s.Spec, rng: np.random.Generator) -> Arrays:
    def one(source: s.Input) -> np.ndarray:
        match source:
            case s.Tokens():
                return rng.integers(0, V, (2, 6))
            case s.Patches():
                return rng.standard_normal((2, source.channels, source.height, source.width))
            case s.Series():
                return rng.standard_normal((2, 9, source.channels))

    match spec:
        case s.EncoderDecoder():
            return one(spec.encoder.input), one(spec.decoder.input)
        case s.TwoTowers():
            return one(s.main_stack(spec.text).input), one(spec.image.encoder.input)
        case _:
            return (one(s.main_stack(spec).input),)


def twin_answer(spec: s.Spec, weights: Weights, data: Arrays) -> np.ndarray:
    match spec:
        case s.EncoderDecoder():
            return twin.translate_logits(spec, weights, *data)
        case s.TwoTowers():
            return twin.compare(spec, weights, *data)
        case _:
            return twin.run(spec, weights, *data)


def losses(spec: s.Spec, data: Arrays, rng: np.random.Generator) -> tuple[Callable[[np.ndarray], float], Callable]:
    """A scalar of the answer in NumPy and in torch: cross-entropy of tokens, else a weighted sum."""
    head = getattr(spec, "head", None)
    if isinstance(head, s.Language):
        targets = rng.integers(0, V, data[-1].shape)
        targets[0, 0] = IGNORED
        flat = torch.from_numpy(targets).flatten()
        return (
            lambda answer: cross_entropy(answer, targets, ignore=IGNORED),
            lambda answer: torch.nn.functional.cross_entropy(answer.flatten(0, 1), flat, ignore_index=IGNORED),
        )
    pull = rng.standard_normal(1000)
    return (
        lambda answer: float((answer.ravel() * pull[: answer.size]).sum()),
        lambda answer: (answer.flatten() * torch.from_numpy(pull[: answer.numel()])).sum(),
    )


def autograd(model: Model, data: Arrays, loss: Callable) -> Weights:
    loss(model(*[torch.from_numpy(each) for each in data])).backward()
    return {
        name: (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).numpy()
        for name, parameter in model.named_parameters()
    }


def central_difference(value: Callable[[Weights], float], weights: Weights, name: str, at: tuple[int, ...]) -> float:
    moved = []
    for sign in (1, -1):
        changed = weights[name].copy()
        changed[at] += sign * STEP
        moved.append(value({**weights, name: changed}))
    return (moved[0] - moved[1]) / (2 * STEP)


def worst_error(spec: s.Spec, seed: int) -> dict[str, float]:
    """By weight, the greatest error at its steepest and at a random entry, as a share of its gradient's size."""
    rng = np.random.default_rng(seed)
    weights, data = initial.draw(spec, rng), inputs(spec, rng)
    in_numpy, in_torch = losses(spec, data, rng)
    found = autograd(built(spec, weights), data, in_torch)
    errors = {}
    for name, gradient in found.items():
        entries = {int(np.abs(gradient).argmax()), int(rng.integers(gradient.size))}
        places = [tuple(map(int, np.unravel_index(entry, gradient.shape))) for entry in entries]
        extent = max(float(np.abs(gradient).max()), 1e-3)
        errors[name] = max(
            abs(central_difference(lambda w: in_numpy(twin_answer(spec, w, data)), weights, name, at) - gradient[at])
            / extent
            for at in places
        )
    return errors


@pytest.mark.parametrize("name", SPECS)
def test_autograd_equals_central_differences_of_the_twin(name: str) -> None:
    errors = worst_error(SPECS[name], seed=3)
    wrong = {weight: error for weight, error in errors.items() if not error <= 1e-6}
    assert not wrong


def test_a_detached_branch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value without its gradient looks right forward and is wrong backward."""
    from clearformer.layers.feedforward import Gated

    forward = Gated.forward
    monkeypatch.setattr(Gated, "forward", lambda self, *given: forward(self, *given).detach())
    assert max(worst_error(SPECS["decoder"], seed=3).values()) > 1e-2

"""Our side of the training bench: the spec, the loss and the measured choices that `clearformer train` uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from clearformer.bench.shapes import LanguageShape, PairShape, Shape
from clearformer.bench.training import BatchLoss, Trainee
from clearformer.build import build
from clearformer.loss import chunked_cross_entropy, shift
from clearformer.messages import Message
from clearformer.model import DecoderOnly, EncoderDecoder
from clearformer.spec import Attention, Biases, Dense, LayerNorm
from clearformer.spec import DecoderOnly as DecoderOnlySpec
from clearformer.spec.presets import paper, tiny_gpt
from clearformer.speed.kept_memory import kept_memory
from clearformer.speed.switch import switched
from clearformer.speed.training import apply, choose
from clearformer.store.places import home
from clearformer.train.apart import trial_pass
from clearformer.train.recipe import Compute

# A bench stands for a long run: compiling is tried, and its time is not counted, as for the peers.
_LONG = 100_000


@contextmanager
def our_trainee(
    shape: Shape,
    dtype: Literal["float32", "bfloat16"],
    *,
    compiled: bool,
    note: Callable[[Message, dict[str, Any]], None],
) -> Iterator[Trainee]:
    """The shape's design, computing as `clearformer train` does: kernel and switch by measurement, memory kept."""
    model, loss = _language(shape) if isinstance(shape, LanguageShape) else _pairs(shape)
    batch = shape.batches(1)[0]

    def step() -> None:
        trial_pass(model, lambda: loss(*batch))

    wanted = Compute(dtype=dtype, compile="yes" if compiled else "no")
    with kept_memory():
        choices = choose(model, wanted, step, steps=_LONG, folder=home(), note=note)

    @contextmanager
    def around() -> Iterator[None]:
        # Both are the whole process's: they hold for our own updates alone, and the peers keep torch's defaults.
        with switched(choices.switch), kept_memory():
            yield

    with apply(model, replace(choices, switch=False)):
        yield Trainee("clearformer", model, loss, around)


def _language(shape: LanguageShape) -> tuple[nn.Module, BatchLoss]:
    model = build(nanogpt_design(shape), generator=torch.Generator().manual_seed(0))
    assert isinstance(model, DecoderOnly)

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        found = chunked_cross_entropy(model.hidden(inputs), model.logits, targets)
        return found.total / found.units

    return model, loss


def _pairs(shape: PairShape) -> tuple[nn.Module, BatchLoss]:
    """The paper's model with its norms first, learning as the translation task does."""
    spec = paper(
        width=shape.width,
        heads=shape.heads,
        hidden=shape.hidden,
        layers=shape.layers,
        vocabulary=shape.vocabulary,
        context=shape.longest + 1,
        dropout=shape.dropout,
        placement="pre",
    )
    model = build(spec, generator=torch.Generator().manual_seed(0))
    assert isinstance(model, EncoderDecoder)

    def loss(*batch: Tensor) -> Tensor:
        source, source_real, target, target_real = batch
        inputs, targets = shift(target, real=target_real)
        memory = model.encode(source, real=source_real)
        hidden = model.decode_hidden(inputs, memory, real=target_real[:, :-1])
        found = chunked_cross_entropy(hidden, model.logits, targets, smoothing=shape.smoothing)
        return found.total / found.units

    return model, loss


def nanogpt_design(shape: LanguageShape) -> DecoderOnlySpec:
    """`tiny_gpt` with what nanoGPT leaves out of GPT-2 left out: no bias anywhere, and GELU itself, not by tanh."""
    gpt = tiny_gpt(
        width=shape.width,
        heads=shape.heads,
        layers=shape.layers,
        vocabulary=shape.vocabulary,
        context=shape.context,
    )
    norm, (block, *_) = LayerNorm(bias=False), gpt.decoder.blocks
    assert isinstance(block.attention, Attention)
    bare = replace(
        block,
        attention=replace(block.attention, bias=Biases()),
        feedforward=Dense(4 * shape.width, "gelu", bias=False),
        attention_norm=norm,
        feedforward_norm=norm,
    )
    return replace(gpt, decoder=replace(gpt.decoder, blocks=(bare,) * shape.layers, final_norm=norm))

"""Demonstration 7: the parameters of the paper's base model, by formula and from the spec's weight table."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import Message
from clearformer.messages import lab_model as say
from clearformer.reference.initial import shapes
from clearformer.spec import Attention, Biases, Block, EncoderDecoder, Stack
from clearformer.spec.presets import transformer_base

NAME = say.COUNTING

WIDTH, HIDDEN, VOCABULARY, LAYERS = 512, 2048, 37000, 6


def demonstrate(page: Page, parts: Parts) -> None:
    """Matrices, then biases and norms, then the shares that follow. No part of attention is run, so no fault shows."""
    table = {name: math.prod(shape) for name, shape in shapes(transformer_base()).items()}
    page.say(say.COUNTING_RULES, width=WIDTH, hidden=HIDDEN, vocabulary=VOCABULARY)

    def line(what: Message, formula: str, count: int, *within: str, but: str = "\0") -> int:
        """Require a formula's count of the weights whose names hold all of `within`."""
        found = sum(size for name, size in table.items() if all(part in name for part in within) and but not in name)
        words = {"what": what, "formula": formula, "count": count}
        page.require(found == count, say.COUNT_FIGURE_LAW, expected=count, found=found, **words)
        return count

    attention = line(say.ONE_ATTENTION, "4·d²", 4 * WIDTH**2, "encoder.blocks.0.attention.")
    network = line(say.ONE_FEEDFORWARD, "2·d·d_ff", 2 * WIDTH * HIDDEN, "encoder.blocks.0.feedforward.", "weight")
    layer = line(say.ONE_LAYER, "4·d² + 2·d·d_ff", attention + network, "encoder.blocks.0.", "weight", but="norm")
    encoder = line(say.ENCODER, "6·(4·d² + 2·d·d_ff)", LAYERS * layer, "encoder.blocks.", "weight", but="norm")
    decoder = LAYERS * (2 * attention + network)
    line(say.DECODER, "6·(2·4·d² + 2·d·d_ff)", decoder, "decoder.blocks.", "weight", but="norm")
    embedding = line(say.EMBEDDING, "V·d", VOCABULARY * WIDTH, "embed.")
    matrices = line(say.TOTAL, "Σ", encoder + decoder + embedding, "weight", but="norm")

    page.say(say.COUNTING_REST)
    biases = line(say.FEEDFORWARD_BIASES, "12·(d_ff + d)", 2 * LAYERS * (HIDDEN + WIDTH), "feedforward.", "bias")
    norms = line(say.NORMS, "(6·2 + 6·3)·2·d", (LAYERS * 2 + LAYERS * 3) * 2 * WIDTH, "norm")
    whole, found = matrices + biases + norms, sum(table.values())
    page.require(found == whole, say.WHOLE_LAW, expected=whole, found=found, count=whole)
    small, found = biases + norms + 3 * LAYERS * 4 * WIDTH, count_with_biases() - matrices
    page.require(found == small == 98_304, say.SMALL_LAW, expected=98_304, found=found, count=small)
    share, uncrossed = Fraction(2 * LAYERS * network, matrices - embedding), Fraction(network, layer)
    held = (share, uncrossed) == (Fraction(4, 7), Fraction(2, 3))
    page.require(held, say.SHARE_LAW, expected="4/7, 2/3", found=f"{share}, {uncrossed}")

    page.record(attention=attention, feedforward=network, layer=layer, encoder=encoder, decoder=decoder)
    page.record(embedding=embedding, matrices=matrices, biases_and_norms=small, feedforward_share=float(share))


def count_with_biases() -> int:
    """All weights of the base model if its attention projections had biases, as some implementations give them."""
    base = transformer_base()
    biased = replace(base, encoder=with_biases(base.encoder), decoder=with_biases(base.decoder))
    assert isinstance(biased, EncoderDecoder)
    return sum(math.prod(shape) for shape in shapes(biased).values())


def with_biases(stack: Stack) -> Stack:
    """The same stack, every projection with a bias."""

    def biased(block: Block) -> Block:
        assert isinstance(block.attention, Attention)
        assert block.cross_attention is None or isinstance(block.cross_attention, Attention)
        own = replace(block.attention, bias=Biases.everywhere())
        cross = block.cross_attention and replace(block.cross_attention, bias=Biases.everywhere())
        return replace(block, attention=own, cross_attention=cross)

    return replace(stack, blocks=tuple(map(biased, stack.blocks)))

"""Demonstration 5: many heads are one array seen from another side."""

from __future__ import annotations

import numpy as np

from clearformer.lab.demos.page import Page
from clearformer.lab.demos.parts import Parts
from clearformer.messages import lab_model as say
from clearformer.reference.attention import merge_heads, split_heads
from clearformer.reference.initial import shapes
from clearformer.spec import Attention, Block, DecoderOnly, Dense, Hidden, Stack, Tokens, split_width

NAME = say.HEADS

LENGTH, WIDTH, HEADS = 5, 8, 2


def demonstrate(page: Page, parts: Parts) -> None:
    """Split, merge, attend head by head, count."""
    x = np.arange(LENGTH * WIDTH, dtype=float).reshape(LENGTH, WIDTH)
    split = split_heads(x, HEADS)
    merged = merge_heads(split)
    page.say(say.HEADS_SPLIT)
    page.show("X", x)
    page.show("split", split)
    page.say(say.HEADS_SHAPES, before=list(x.shape), split=list(split.shape), merged=list(merged.shape))
    found, expected = [x.shape, split.shape, merged.shape], [(5, 8), (2, 5, 4), (5, 8)]
    page.require(found == expected, say.SHAPES_LAW, expected=expected, found=found)
    page.require(np.array_equal(split[1], x[:, 4:]), say.COLUMNS_LAW, expected=x[:, 4:], found=split[1])
    page.require(np.array_equal(merged, x), say.INVERSE_LAW, expected=x, found=merged)

    query, key, value = split_heads(np.random.default_rng(5).standard_normal((3, LENGTH, WIDTH)), HEADS)
    together = merge_heads(parts.attend(query, key, value)[0])
    alone = np.concatenate([parts.attend(query[h], key[h], value[h])[0] for h in range(HEADS)], axis=-1)
    page.show("heads merged", together)
    page.require(np.allclose(together, alone, atol=1e-12), say.ONE_BY_ONE_LAW, expected=alone, found=together)

    one, two = projection_numbers(1), projection_numbers(HEADS)
    page.say(say.HEADS_COUNT, one=one, two=two)
    page.require(one == two == 4 * WIDTH**2, say.COUNT_LAW, expected=4 * WIDTH**2, found=f"{one}, {two}")
    page.record(split_shape=np.array(split.shape), merged_shape=np.array(merged.shape), parameters=two)


def projection_numbers(heads: int) -> int:
    """The weights of one attention of the demonstration's width, as its spec lists them."""
    width = split_width(WIDTH, heads)
    block = Block(Attention(heads, heads, width, width), Dense(WIDTH), None, None)
    listed = shapes(DecoderOnly(Stack(WIDTH, Tokens(1), (block,)), Hidden(), context=1))
    return sum(int(np.prod(shape)) for name, shape in listed.items() if ".attention." in name)

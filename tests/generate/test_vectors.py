"""Sentence vectors: a text's vector is the same in every company."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from clearformer import spec as specs
from clearformer.errors import GenerationError, UsageError
from clearformer.generate.vectors import cosine_similarity, embed
from clearformer.spec.presets import tiny_gpt

TEXTS = ["a cat", "", "世界和平", *(f"sentence number {n}" + "!" * (n % 7) for n in range(34))]


@pytest.fixture(params=[specs.First(), specs.Mean(), specs.Last()])
def encoder(request: pytest.FixtureRequest, speaker: Any, toys: Any) -> Any:
    spec = tiny_gpt(width=16, heads=2, layers=2, vocabulary=259, context=64)
    block = replace(
        spec.decoder.blocks[0], attention=replace(spec.decoder.blocks[0].attention, visibility=specs.Full())
    )
    stack = replace(spec.decoder, blocks=(block, block))
    head = specs.Vector(specs.Pooling(request.param))
    return replace(speaker, model=toys.small(specs.EncoderOnly(stack, head, context=64)))


def test_each_vector_is_that_of_the_text_alone(encoder: Any) -> None:
    texts = [text for text in TEXTS if text]
    together = embed(encoder, texts)
    alone = [encoder.model(torch.tensor([list(text.encode())]))[0] for text in texts]
    torch.testing.assert_close(together, torch.stack(alone), rtol=0, atol=1e-12)


def test_cosines_are_those_of_the_formula() -> None:
    vectors = torch.tensor([[3.0, 4.0], [4.0, 3.0], [-3.0, -4.0]])
    expected = torch.tensor([[1, 0.96, -1], [0.96, 1, -0.96], [-1, -0.96, 1]], dtype=torch.float64)
    torch.testing.assert_close(cosine_similarity(vectors), expected)


def test_what_has_no_vector_is_refused_by_name(encoder: Any, speaker: Any) -> None:
    with pytest.raises(GenerationError, match="Text 2 is empty"):
        embed(encoder, ["a", ""])
    with pytest.raises(GenerationError, match="65 tokens; toy reads 64"):
        embed(encoder, ["x" * 65])
    with pytest.raises(UsageError, match="a list of texts"):
        embed(encoder, "one text")
    with pytest.raises(UsageError, match="at least one"):
        embed(encoder, [])
    with pytest.raises(UsageError, match="its head is Language"):
        embed(speaker, ["a"])

"""What both models read: one text, image or series, the same numbers for either."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.errors import UsageError
from clearformer.load import Loaded
from clearformer.messages import inspect as messages_of_inspect
from clearformer.messages import verify as messages
from clearformer.spec import (
    EncoderDecoder,
    EndToken,
    Input,
    Patches,
    Series,
    SingleStack,
    Spec,
    Stack,
    Tokens,
    TwoTowers,
    main_stack,
    pooling_of,
)
from clearformer.text.tokenizer import Tokenizer

TEXT = (
    "Each word asks a question of every other word and listens to the answers in proportion to how well they fit. "
    "Nothing in this step knows which word came first, so the order is written into the words themselves, or into the "
    "way in which they are compared: 1, 2, 3, 5, 8, 13. 注意力是读者，位置是路标。"
)
"""Read where no text is given: plain words, digits and Chinese, so that few rows of the token table are read twice."""

MOST_TOKENS = 256
_USUAL = 64
_STEPS = 8
"""Patches of a series that are read."""


@dataclass(frozen=True)
class Reading:
    """A batch of one: `data` is ids (1 T), an image (1 C height width) or a series (1 S C).

    `beside` is the target of an encoder-decoder (1 T), or the image of two towers. `left_out` counts the tokens of the
    text past the most that are read; `drawn` says that the ids are no text.
    """

    spec: Spec
    data: Tensor
    beside: Tensor | None = None
    segments: Int[Tensor, "B T"] | None = None
    left_out: int = 0
    drawn: bool = False

    @property
    def positions(self) -> int:
        """Positions of the longest stack."""
        return max(_length(self.spec, self.data), 0 if self.beside is None else self.beside.shape[1])

    def twice(self) -> Reading:
        """The same as both rows of a batch of two: every answer is there twice."""
        both = (None if each is None else torch.cat((each, each)) for each in (self.data, self.beside, self.segments))
        data, beside, segments = both
        assert data is not None
        return replace(self, data=data, beside=beside, segments=segments)

    def first(self, values: Tensor) -> Float[Tensor, "..."]:
        """What of a batch's tensor belongs to its first row; rows of one sequence lie together."""
        if len(self.data) == 1:
            return values
        if isinstance(self.spec, TwoTowers) and values.shape == (2, 2):
            return values[:1, :1]
        return values[: len(values) // len(self.data)] if values.dim() else values


def reading_for(loaded: Loaded, text: str | None) -> Reading:
    """The text's tokens, at most `MOST_TOKENS` and the context; drawn ids, pixels or steps where it reads no text.

    Raises UsageError for a text that the model has no tokenizer for, or that it cannot read at all.
    """
    spec = loaded.spec
    source = _first_input(spec)
    if text is not None and not isinstance(source, Tokens):
        raise UsageError(messages.READS_NO_TEXT, name=loaded.name, found=type(source).__name__)
    match spec:
        case EncoderDecoder():
            written = _tokens(loaded, loaded.tokenizer, spec.decoder, text, spec.context, share=0.6)
            start = loaded.generation.start_id
            target = written.data if start is None else torch.cat((torch.tensor([[start]]), written.data[:, :-1]), 1)
            return replace(_one(loaded, spec.encoder, text, spec.context), spec=spec, beside=target)
        case TwoTowers():
            image = _drawn_image(spec.image.encoder.input)
            return replace(_one(loaded, main_stack(spec.text), text, spec.text.context), spec=spec, beside=image)
        case _:
            return _one(loaded, main_stack(spec), text, spec.context)


def _one(loaded: Loaded, stack: Stack, text: str | None, context: int) -> Reading:
    match stack.input:
        case Tokens():
            return _tokens(loaded, loaded.source_tokenizer or loaded.tokenizer, stack, text, context)
        case Patches():
            return Reading(loaded.spec, _drawn_image(stack.input))
        case Series() as series:
            steps = min(series.patch + (_STEPS - 1) * series.stride, series.patch + (context - 1) * series.stride)
            numbers = torch.randn(1, _steps(loaded.spec, series, steps), series.channels, generator=_generator())
            return Reading(loaded.spec, numbers.double() + 2)


def _steps(spec: Spec, series: Series, usual: int) -> int:
    """A head that flattens all positions reads exactly as many as it was made for."""
    if isinstance(spec, SingleStack) and (pooling := pooling_of(spec.head)) is not None:
        length = getattr(pooling.take, "length", None)
        return usual if length is None else series.patch + (length - 1) * series.stride
    return usual


def _tokens(
    loaded: Loaded, tokenizer: Tokenizer | None, stack: Stack, text: str | None, context: int, share: float = 1.0
) -> Reading:
    """Ids, of which no head count is the number: two axes of one size could be taken for each other."""
    assert isinstance(stack.input, Tokens)
    if text is not None and tokenizer is None:
        raise UsageError(messages_of_inspect.NO_TOKENIZER, name=loaded.name)
    most = min(MOST_TOKENS, context)
    if tokenizer is None:
        ids = _drawn_ids(loaded, stack.input, min(_USUAL, most))
    else:
        ids = tokenizer.encode(TEXT if text is None else text)
        most = most if text is not None else min(_USUAL, most)
    if not ids:
        raise UsageError(messages.EMPTY_TEXT)
    count = max(1, int(share * min(len(ids), most)))
    while count > 1 and count in {block.attention.heads for block in stack.blocks}:
        count -= 1
    left_out = len(ids) - count if text is not None and share == 1.0 else 0
    ids = _ended(loaded.spec, ids[:count])
    data = torch.tensor([ids])
    segments = torch.arange(len(ids))[None] * stack.input.segments // len(ids) if stack.input.segments else None
    return Reading(loaded.spec, data, segments=segments, left_out=left_out, drawn=tokenizer is None)


def _ended(spec: Spec, ids: list[int]) -> list[int]:
    """CLIP's text tower looks for the end of the text."""
    tower = spec.text if isinstance(spec, TwoTowers) else spec
    pooling = pooling_of(tower.head)
    if pooling is not None and isinstance(pooling.take, EndToken) and pooling.take.id not in ids:
        return [*ids[: max(len(ids) - 1, 1)], pooling.take.id]
    return ids


def _drawn_ids(loaded: Loaded, source: Tokens, count: int) -> list[int]:
    """Never the padding, at which RoBERTa does not count and transformers looks for a sequence's end."""
    tower = loaded.spec.text if isinstance(loaded.spec, TwoTowers) else loaded.spec
    pooling = pooling_of(tower.head)
    barred = {loaded.generation.pad_id, *loaded.generation.end_ids}
    if pooling is not None and isinstance(pooling.take, EndToken):
        barred.add(pooling.take.id)
    drawn = torch.randint(source.vocabulary, (8 * count,), generator=_generator()).tolist()
    return [each for each in drawn if each not in barred][:count] or [0]


def _drawn_image(source: Input) -> Float[Tensor, "1 C height width"]:
    assert isinstance(source, Patches)
    return torch.randn(1, source.channels, source.height, source.width, generator=_generator()).double()


def _generator() -> torch.Generator:
    return torch.Generator().manual_seed(7)


def _first_input(spec: Spec) -> Input:
    match spec:
        case EncoderDecoder():
            return spec.encoder.input
        case TwoTowers():
            return main_stack(spec.text).input
        case _:
            return main_stack(spec).input


def _length(spec: Spec, data: Tensor) -> int:
    source = _first_input(spec)
    match source:
        case Tokens():
            return data.shape[1]
        case Patches():
            return source.length
        case Series():
            return source.length(data.shape[1])

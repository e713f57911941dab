"""What is looked at: a model, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.errors import GenerationError, UsageError
from clearformer.load import Loaded
from clearformer.messages import inspect as messages
from clearformer.model import DecoderOnly, EncoderDecoder, EncoderOnly, Model, TwoTowers
from clearformer.spec import Stack, Tokens
from clearformer.text.display import display_tokens
from clearformer.text.tokenizer import Tokenizer

SingleWay = DecoderOnly | EncoderOnly | EncoderDecoder
Input = str | Sequence[int] | Tensor
"""A text, its token ids, or a tensor with its batch: ids (B T), an image (B C height width), a series (B S C)."""


@dataclass(frozen=True)
class Subject:
    """A model and its input. `tokens` are the labels of the first row, its ids where there is no tokenizer; an
    encoder-decoder also has the target that its decoder reads."""

    model: SingleWay
    data: Tensor
    tokens: tuple[str, ...]
    target: Tensor | None = None
    target_tokens: tuple[str, ...] = ()


def subject_of(looked_at: Loaded | Model, given: Input, target: Sequence[int] | None = None) -> Subject:
    """The model with its input as a tensor on its device.

    Raises UsageError for two towers, for text without a tokenizer, for ids that are no tokens of the model and for an
    encoder-decoder without a target to start from; GenerationError for an input that is empty or past the context.
    """
    loaded = looked_at if isinstance(looked_at, Loaded) else None
    model = single_way(looked_at)
    stack, context = first_stack(model), model.spec.context
    if isinstance(given, Tensor) and not isinstance(stack.input, Tokens):
        data, labels = given, []
    else:
        data = _ids(loaded, model, given)
        _require_tokens(data, stack, context)
        labels = _shown(_reading(loaded), data[0].tolist())
    written: Tensor | None = None
    written_labels: list[str] = []
    if isinstance(model, EncoderDecoder):
        first = _start(loaded, model) if target is None else list(target)
        written = torch.tensor([first], dtype=torch.long).expand(data.shape[0], -1)
        _require_tokens(written, model.spec.decoder, context)
        written_labels = _shown(None if loaded is None else loaded.tokenizer, first)
    device = next(model.parameters()).device
    target_data = None if written is None else written.to(device)
    return Subject(model, data.to(device), tuple(labels), target_data, tuple(written_labels))


def single_way(looked_at: Loaded | Model) -> SingleWay:
    """The model. Raises UsageError for two towers."""
    model = looked_at.model if isinstance(looked_at, Loaded) else looked_at
    if isinstance(model, TwoTowers):
        raise UsageError(messages.TWO_TOWERS)
    return model


def first_stack(model: SingleWay) -> Stack:
    """The stack that reads the input: an encoder-decoder's encoder."""
    return model.encoder.spec if isinstance(model, EncoderDecoder) else model.stack.spec


@contextmanager
def evaluating(model: Model) -> Iterator[None]:
    """No dropout while the body runs; each module's mode is put back after."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def undisturbed(model: Model) -> Iterator[None]:
    """No gradients and no dropout while the body runs."""
    with evaluating(model), torch.inference_mode():
        yield


def _ids(loaded: Loaded | None, model: SingleWay, given: Input) -> Tensor:
    if isinstance(given, Tensor):
        return given if given.dim() == 2 else given[None]
    if not isinstance(given, str):
        # Made of what was given, and judged after: a float would be cut to a whole number here.
        try:
            return torch.tensor([list(given)]) if len(given) else torch.empty(1, 0, dtype=torch.long)
        except (TypeError, ValueError, RuntimeError):
            raise UsageError(messages.NO_IDS, found=list(given), shape="") from None
    if (tokenizer := _reading(loaded)) is None:
        raise UsageError(messages.NO_TOKENIZER, name=loaded.name if loaded else type(model).__name__)
    return torch.tensor([tokenizer.encode(given)], dtype=torch.long)


def _shown(tokenizer: Tokenizer | None, ids: list[int]) -> list[str]:
    return list(map(str, ids)) if tokenizer is None else display_tokens(tokenizer, ids)


def _reading(loaded: Loaded | None) -> Tokenizer | None:
    """The vocabulary of what the first stack reads."""
    return None if loaded is None else loaded.source_tokenizer or loaded.tokenizer


def _require_tokens(ids: Tensor, stack: Stack, context: int) -> None:
    if not isinstance(stack.input, Tokens):
        raise UsageError(messages.NOT_TOKENS, found=type(stack.input).__name__)
    if not ids.numel():
        raise GenerationError(messages.NO_TOKENS)
    if ids.dim() != 2 or ids.dtype not in (torch.int32, torch.int64):
        raise UsageError(messages.NO_IDS, found=str(ids.dtype).removeprefix("torch."), shape=tuple(ids.shape))
    if ids.shape[1] > context:
        raise GenerationError(messages.TOO_LONG, found=ids.shape[1], context=context)
    vocabulary = stack.input.vocabulary
    outside = ids[(ids < 0) | (ids >= vocabulary)]
    if outside.numel():
        raise UsageError(messages.BAD_ID, found=int(outside[0]), vocabulary=vocabulary, last=vocabulary - 1)


def _start(loaded: Loaded | None, model: EncoderDecoder) -> list[int]:
    begin = None
    if loaded is not None:
        start = loaded.generation.start_id
        begin = loaded.generation.begin_id if start is None else start
    if begin is None and loaded is not None and loaded.tokenizer is not None:
        begin = loaded.tokenizer.bos_id
    if begin is None:
        raise UsageError(messages.NO_TARGET, name=loaded.name if loaded else type(model).__name__)
    return [begin]

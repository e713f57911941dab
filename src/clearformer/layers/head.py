"""What leaves the stack: logits, numbers or a vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from clearformer.errors import UsageError
from clearformer.layers.dropout import Dropout
from clearformer.layers.feedforward import activation
from clearformer.layers.norm import make_norm
from clearformer.messages import layers as messages
from clearformer.spec import (
    Classes,
    EndToken,
    First,
    Flatten,
    Last,
    Mean,
    Regression,
    Series,
    Stack,
    Tokens,
)
from clearformer.spec import Forecast as ForecastSpec
from clearformer.spec import Head as HeadSpec
from clearformer.spec import Hidden as HiddenSpec
from clearformer.spec import Language as LanguageSpec
from clearformer.spec import Pooling as PoolingSpec
from clearformer.spec import Transform as TransformSpec
from clearformer.spec import Vector as VectorSpec
from clearformer.taps import OFF, Tap


@dataclass(frozen=True)
class Rows:
    """What a pooling may need to know of its sequences."""

    ids: Int[Tensor, "B T"] | None = None
    real: Bool[Tensor, "B T"] | None = None


class Transform(nn.Module):
    """norm(activation(x W + b)), width to width."""

    def __init__(self, width: int, spec: TransformSpec) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width, bias=spec.bias)
        self.activation = activation(spec.activation)
        self.norm = make_norm(width, spec.norm)

    def forward(self, x: Float[Tensor, "*any D"]) -> Float[Tensor, "*any D"]:
        return self.norm(self.activation(self.dense(x)))


class Language(nn.Module):
    """Logits over the vocabulary; a tied head multiplies by the token table that it is given."""

    def __init__(self, width: int, vocabulary: int, spec: LanguageSpec) -> None:
        super().__init__()
        self.spec = spec
        self.transform = Transform(width, spec.transform) if spec.transform else None
        self.project = None if spec.tied else nn.Linear(width, vocabulary, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocabulary)) if spec.bias else None

    def forward(
        self, x: Float[Tensor, "*any D"], table: Float[Tensor, "V D"], tap: Tap = OFF
    ) -> Float[Tensor, "*any V"]:
        if self.spec.hidden_scale != 1.0:
            x = x * self.spec.hidden_scale
        if self.transform is not None:
            x = self.transform(x)
        logits = self.product(x, table if self.project is None else self.project.weight)
        if (cap := self.spec.cap) is not None:
            logits = cap * torch.tanh(logits / cap)
        return tap("logits", logits)

    def product(self, x: Float[Tensor, "*any D"], rows: Float[Tensor, "V D"]) -> Float[Tensor, "*any V"]:
        """How well each hidden state fits each token's row."""
        return functional.linear(x, rows, self.bias)


class Pooling(nn.Module):
    """One vector a sequence."""

    def __init__(self, width: int, spec: PoolingSpec) -> None:
        super().__init__()
        self.spec = spec
        self.width = width * spec.take.length if isinstance(spec.take, Flatten) else width
        self.transform = Transform(width, spec.transform) if spec.transform else None

    def forward(self, x: Float[Tensor, "B T D"], rows: Rows) -> Float[Tensor, "B pooled"]:
        taken = self._take(x, rows)
        return taken if self.transform is None else self.transform(taken)

    def _take(self, x: Float[Tensor, "B T D"], rows: Rows) -> Float[Tensor, "B pooled"]:
        every = torch.arange(x.shape[0], device=x.device)
        match self.spec.take:
            case First():
                return x[:, 0] if rows.real is None else x[every, rows.real.int().argmax(1)]
            case Mean():
                if rows.real is None:
                    return x.mean(1)
                real = rows.real[..., None]
                return (x * real).sum(1) / real.sum(1).clamp(min=1)
            case Last():
                if rows.real is None:
                    return x[:, -1]
                return x[every, (rows.real.long().cumsum(1) * rows.real).argmax(1)]
            case EndToken(id=end):
                return x[every, _first_end(rows, end)]
            case Flatten(length=length):
                if x.shape[1] != length:
                    raise UsageError(messages.FLATTEN_LENGTH, expected=length, found=x.shape[1])
                return x.flatten(1)
            case _:
                assert_never(self.spec.take)


def _first_end(rows: Rows, end: int) -> Int[Tensor, " B"]:
    assert rows.ids is not None
    ends = rows.ids == end if rows.real is None else (rows.ids == end) & rows.real
    if not torch.compiler.is_compiling() and not bool(ends.any(1).all()):
        raise UsageError(messages.NO_END_TOKEN, id=end)
    return ends.int().argmax(1)


class Numbers(nn.Module):
    """A pooled vector projected to class logits, regression outputs or a forecast."""

    def __init__(self, width: int, outputs: int, pooling: PoolingSpec, *, bias: bool, dropout: float) -> None:
        super().__init__()
        self.pooling = Pooling(width, pooling)
        self.dropout = Dropout(dropout)
        self.project = nn.Linear(self.pooling.width, outputs, bias=bias)

    def forward(self, x: Float[Tensor, "B T D"], rows: Rows, tap: Tap = OFF) -> Float[Tensor, "B outputs"]:
        pooled = tap("pooled", self.pooling(x, rows))
        return tap("logits", self.project(self.dropout(pooled)))


class Vector(nn.Module):
    """A pooled vector, projected and brought to length one as the spec says."""

    def __init__(self, width: int, spec: VectorSpec) -> None:
        super().__init__()
        self.normalise = spec.normalise
        self.pooling = Pooling(width, spec.pooling)
        self.project = nn.Linear(self.pooling.width, spec.width, bias=False) if spec.width else None

    def forward(self, x: Float[Tensor, "B T D"], rows: Rows, tap: Tap = OFF) -> Float[Tensor, "B width"]:
        pooled = tap("pooled", self.pooling(x, rows))
        vector = pooled if self.project is None else self.project(pooled)
        return tap("logits", functional.normalize(vector, dim=-1, eps=1e-12) if self.normalise else vector)


class Hidden(nn.Module):
    """No head."""

    def forward(self, x: Float[Tensor, "B T D"], rows: Rows, tap: Tap = OFF) -> Float[Tensor, "B T D"]:
        return x


Head = Language | Numbers | Vector | Hidden


def make_head(spec: HeadSpec, stack: Stack) -> Head:
    """The head module for the stack that it reads."""
    match spec:
        case HiddenSpec():
            return Hidden()
        case LanguageSpec():
            assert isinstance(stack.input, Tokens)
            return Language(stack.width, stack.input.vocabulary, spec)
        case Classes():
            return Numbers(stack.width, spec.count, spec.pooling, bias=spec.bias, dropout=spec.dropout)
        case Regression():
            return Numbers(stack.width, spec.outputs, spec.pooling, bias=spec.bias, dropout=spec.dropout)
        case ForecastSpec():
            assert isinstance(stack.input, Series)
            channels = 1 if stack.input.independent else stack.input.channels
            return Numbers(stack.width, spec.horizon * channels, spec.pooling, bias=True, dropout=spec.dropout)
        case VectorSpec():
            return Vector(stack.width, spec)
        case _:
            assert_never(spec)

"""The whole Transformer: decoder, encoder, encoder-decoder, and two towers.

`real` marks tokens (True) against padding (False); None says that there is no padding. Padding may stand on any side.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer import spec as specs
from clearformer.errors import UsageError
from clearformer.layers.cache import Cache
from clearformer.layers.embed import Level, SeriesEmbedding, TokenEmbedding
from clearformer.layers.frame import Memory
from clearformer.layers.head import Hidden, Language, Numbers, Rows, Vector, make_head
from clearformer.layers.stack import Stack
from clearformer.messages import layers as messages
from clearformer.taps import OFF, Tap


class SingleStack(nn.Module):
    """A stack and its head."""

    role: str

    def __init__(self, spec: specs.SingleStack) -> None:
        super().__init__()
        self.spec = spec
        stack = specs.main_stack(spec)
        self.add_module(self.role, Stack(stack))
        self.head = make_head(spec.head, stack)

    @property
    def stack(self) -> Stack:
        found: Stack = getattr(self, self.role)
        return found

    def answer(
        self,
        x: Float[Tensor, "rows T D"],
        rows: Rows,
        *,
        level: Level | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "..."]:
        """The head's output for the stack's hidden states."""
        inside = tap.within("head")
        match self.head:
            case Language():
                return self.logits(x, tap)
            case Numbers() if isinstance(self.spec.head, specs.Forecast):
                return self._forecast(self.head(x, rows, inside), level)
            case Numbers() | Vector() | Hidden():
                return self.head(x, rows, inside)

    def _forecast(self, numbers: Float[Tensor, "rows outputs"], level: Level | None) -> Float[Tensor, "B horizon C"]:
        embed = self.stack.embed
        assert isinstance(embed, SeriesEmbedding)
        assert isinstance(self.spec.head, specs.Forecast)
        channels = embed.spec.channels
        if embed.spec.independent:
            forecast = numbers.unflatten(0, (-1, channels)).transpose(1, 2)
        else:
            forecast = numbers.unflatten(1, (self.spec.head.horizon, channels))
        if embed.normalise is None or level is None:
            return forecast
        return embed.normalise.restore(forecast, level)

    def forward(
        self,
        inputs: Tensor,
        *,
        real: Bool[Tensor, "B T"] | None = None,
        positions: Int[Tensor, "B T"] | None = None,
        segments: Int[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        prefix: Int[Tensor, " B"] | None = None,
        length_bound: Int[Tensor, " B"] | None = None,
        cache: Cache | None = None,
        losses: list[Tensor] | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "..."]:
        """ids (B T), image (B C height width) or series (B S C) → what the head gives; logits are B T V.

        With a cache the ids continue what it holds. `positions` replaces counted ones. `documents` numbers the document
        of each position: each is read as if alone. `prefix` is each row's number of prefix tokens (prefix LM);
        `length_bound` the declared length of each sequence, for tables chosen by length (DynamicNTK, LongRoPE).
        `losses` receives balance losses while training.
        """
        inside = tap.within(self.role)
        if not isinstance(self.stack.embed, TokenEmbedding):
            given = {"real": real, "positions": positions, "segments": segments, "documents": documents}
            _refuse(self.stack, **given, prefix=prefix, cache=cache)
            x, level = self.stack.read_patches(inputs, losses=losses, tap=inside)
            return self.answer(x, Rows(), level=level, tap=tap)
        if documents is not None and specs.pooling_of(self.spec.head) is not None:
            raise UsageError(messages.POOLED_DOCUMENTS, found=type(self.spec.head).__name__)
        if cache is not None and not self.answers_as_it_reads:
            raise UsageError(messages.POOLED_CACHE, found=type(self.spec.head).__name__)
        x = self.stack.read_tokens(
            inputs,
            real=real,
            positions=positions,
            segments=segments,
            documents=documents,
            prefix=prefix,
            length_bound=length_bound,
            cache=cache,
            losses=losses,
            tap=inside,
        )
        return self.answer(x, Rows(inputs, real), tap=tap)

    def hidden(
        self,
        ids: Int[Tensor, "B T"],
        *,
        real: Bool[Tensor, "B T"] | None = None,
        segments: Int[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        prefix: Int[Tensor, " B"] | None = None,
        losses: list[Tensor] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The states that `logits` reads; together they are `forward`, for a loss that never holds all logits."""
        return self.stack.read_tokens(
            ids, real=real, segments=segments, documents=documents, prefix=prefix, losses=losses
        )

    def logits(self, states: Float[Tensor, "*any D"], tap: Tap = OFF) -> Float[Tensor, "*any V"]:
        """The language head on any of the states."""
        assert isinstance(self.head, Language)
        assert isinstance(self.stack.embed, TokenEmbedding)
        return self.head(states, self.stack.embed.token.weight, tap.within("head"))

    @property
    def answers_as_it_reads(self) -> bool:
        """True where an answer needs no later position and no earlier hidden state, so that a cache can serve it."""
        pooling = specs.pooling_of(self.spec.head)
        return self.role == "decoder" and (pooling is None or isinstance(pooling.take, specs.Last))


class DecoderOnly(SingleStack):
    """Every position sees the past: GPT, Llama."""

    role = "decoder"


class EncoderOnly(SingleStack):
    """Every position sees every other: BERT, ViT."""

    role = "encoder"


class EncoderDecoder(nn.Module):
    """A source read both ways and a target written with an eye on it (Vaswani et al. 2017, figure 1)."""

    def __init__(self, spec: specs.EncoderDecoder) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = Stack(spec.encoder)
        self.decoder = Stack(spec.decoder, memory_width=spec.encoder.width)
        self.head = make_head(spec.head, spec.decoder)
        if spec.shared_vocabulary:
            assert isinstance(self.encoder.embed, TokenEmbedding)
            assert isinstance(self.decoder.embed, TokenEmbedding)
            self.decoder.embed.token = self.encoder.embed.token

    def encode(
        self,
        source: Tensor,
        *,
        real: Bool[Tensor, "B S"] | None = None,
        length_bound: Int[Tensor, " B"] | None = None,
        losses: list[Tensor] | None = None,
        tap: Tap = OFF,
    ) -> Memory:
        """Source ids (B S), image or series → the memory that every decoder layer reads."""
        tap = tap.within("encoder")
        if isinstance(self.encoder.embed, TokenEmbedding):
            states = self.encoder.read_tokens(source, real=real, length_bound=length_bound, losses=losses, tap=tap)
            return Memory(states, real)
        return Memory(self.encoder.read_patches(source, losses=losses, tap=tap)[0])

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Memory,
        *,
        real: Bool[Tensor, "B T"] | None = None,
        positions: Int[Tensor, "B T"] | None = None,
        prefix: Int[Tensor, " B"] | None = None,
        length_bound: Int[Tensor, " B"] | None = None,
        cache: Cache | None = None,
        losses: list[Tensor] | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "B T V"]:
        """Logits of the token after each target token."""
        x = self.decoder.read_tokens(
            target,
            real=real,
            positions=positions,
            prefix=prefix,
            length_bound=length_bound,
            memory=memory,
            cache=cache,
            losses=losses,
            tap=tap.within("decoder"),
        )
        return self.logits(x, tap)

    def decode_hidden(
        self,
        target: Int[Tensor, "B T"],
        memory: Memory,
        *,
        real: Bool[Tensor, "B T"] | None = None,
        losses: list[Tensor] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """The states that `logits` reads; together they are `decode`, for a loss that never holds all logits."""
        return self.decoder.read_tokens(target, real=real, memory=memory, losses=losses)

    def logits(self, states: Float[Tensor, "*any D"], tap: Tap = OFF) -> Float[Tensor, "*any V"]:
        """The language head on any of the decoder's states."""
        assert isinstance(self.head, Language)
        assert isinstance(self.decoder.embed, TokenEmbedding)
        return self.head(states, self.decoder.embed.token.weight, tap.within("head"))

    def forward(
        self,
        source: Tensor,
        target: Int[Tensor, "B T"],
        *,
        source_real: Bool[Tensor, "B S"] | None = None,
        target_real: Bool[Tensor, "B T"] | None = None,
        losses: list[Tensor] | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "B T V"]:
        memory = self.encode(source, real=source_real, losses=losses, tap=tap)
        return self.decode(target, memory, real=target_real, losses=losses, tap=tap)


class TwoTowers(nn.Module):
    """Text and image in one space, compared by scaled cosine (Radford et al. 2021, arXiv 2103.00020)."""

    def __init__(self, spec: specs.TwoTowers) -> None:
        super().__init__()
        self.spec = spec
        self.text = DecoderOnly(spec.text) if isinstance(spec.text, specs.DecoderOnly) else EncoderOnly(spec.text)
        self.image = EncoderOnly(spec.image)
        self.scale = nn.Parameter(torch.tensor(spec.initial_scale))

    def forward(
        self,
        ids: Int[Tensor, "texts T"],
        images: Float[Tensor, "images C height width"],
        *,
        real: Bool[Tensor, "texts T"] | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "texts images"]:
        """exp(scale) · text · imageᵀ."""
        text = self.text(ids, real=real, tap=tap.within("text"))
        image = self.image(images, tap=tap.within("image"))
        return self.scale.exp() * text @ image.T


def _refuse(stack: Stack, **given: object) -> None:
    """Arguments about tokens, for a model that reads none."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(messages.TOKENS_ONLY, given=name, found=type(stack.spec.input).__name__)


Model = DecoderOnly | EncoderOnly | EncoderDecoder | TwoTowers

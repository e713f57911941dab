"""The model as generation sees it: feed tokens, get the logits of the next one.

With a cache each token is read once. Without, the whole text is read at every step: slow, and the oracle of the other.
Only the last position goes through the head: at 49,152 words it costs as much as a fifth of a 135M-parameter model.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.cache.static import StaticCache, cache_bytes
from clearformer.layers.embed import TokenEmbedding
from clearformer.layers.frame import Memory
from clearformer.layers.head import Language
from clearformer.layers.stack import Stack
from clearformer.machine import check_memory
from clearformer.messages import generate as messages
from clearformer.model import DecoderOnly, EncoderDecoder
from clearformer.spec import Causal
from clearformer.speed.native import NativeDecoder

Speaking = DecoderOnly | EncoderDecoder


class Reader(Protocol):
    """What decoding asks of a model."""

    @property
    def length(self) -> int:
        """Slots read so far, padding included."""

    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        """Logits after the last of these tokens, which continue those read before. Padding stands on the left."""

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        """Go on with these rows, in this order; a row may be kept several times."""


class CachedReader:
    """Reads each token once. `capacity` slots are allocated at the start.

    `length_bound` is each row's declared length; `prefix` each row's number of tokens that see one another both ways,
    which no chunk may cut. Raises MachineError if the cache does not fit into memory.
    """

    def __init__(
        self,
        model: Speaking,
        *,
        capacity: int,
        length_bound: Int[Tensor, " B"],
        prefix: Int[Tensor, " B"] | None = None,
        memory: Memory | None = None,
        chunk: int = 512,
    ) -> None:
        self._model, self._memory, self._prefix = model, memory, prefix
        self._chunk = chunk if prefix is None else capacity
        table = _embedding(model).token.weight
        batch = length_bound.shape[0]
        self._check_memory(batch, capacity)
        self.cache = StaticCache(
            _stack(model).spec,
            batch=batch,
            capacity=capacity,
            dtype=table.dtype,
            device=table.device,
            length_bound=length_bound,
        )

    @property
    def length(self) -> int:
        return self.cache.length

    @property
    def capacity(self) -> int:
        return self.cache.capacity

    @torch.inference_mode()
    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        for start in range(0, ids.shape[1], self._chunk):
            end = start + self._chunk
            hidden = _stack(self._model).read_tokens(
                ids[:, start:end],
                real=None if real is None else real[:, start:end],
                prefix=self._prefix,
                memory=self._memory,
                cache=self.cache,
            )
        return _logits(self._model, hidden)

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        if len(rows) > len(self.cache.counts):
            self._check_memory(len(rows), self.cache.capacity)
        self.cache.keep(rows)
        self._prefix = None if self._prefix is None else self._prefix[rows]
        self._memory = _kept(self._memory, rows)

    def _check_memory(self, batch: int, capacity: int) -> None:
        table = _embedding(self._model).token.weight
        check_memory(
            cache_bytes(_stack(self._model).spec, batch, capacity, table.dtype), messages.CACHE, str(table.device)
        )


class UncachedReader:
    """Reads everything again at every step."""

    def __init__(
        self,
        model: Speaking,
        *,
        length_bound: Int[Tensor, " B"],
        prefix: Int[Tensor, " B"] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._model, self._memory, self._prefix = model, memory, prefix
        self._bound = length_bound
        self._ids = torch.empty(length_bound.shape[0], 0, dtype=torch.long, device=length_bound.device)
        self._real = torch.empty_like(self._ids, dtype=torch.bool)
        self._padded = False

    @property
    def length(self) -> int:
        return self._ids.shape[1]

    @torch.inference_mode()
    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        self._padded = self._padded or real is not None
        fresh = torch.ones_like(ids, dtype=torch.bool) if real is None else real
        self._ids, self._real = torch.cat((self._ids, ids), 1), torch.cat((self._real, fresh), 1)
        hidden = _stack(self._model).read_tokens(
            self._ids,
            real=self._real if self._padded else None,
            prefix=self._prefix,
            length_bound=self._bound,
            memory=self._memory,
        )
        return _logits(self._model, hidden)

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        self._ids, self._real, self._bound = self._ids[rows], self._real[rows], self._bound[rows]
        self._prefix = None if self._prefix is None else self._prefix[rows]
        self._memory = _kept(self._memory, rows)


class MutedReader:
    """A reader whose model may not write some tokens: Marian's padding, to which its tied table gives a logit of 0."""

    def __init__(self, reader: Reader, never: Collection[int]) -> None:
        self._reader, self._never = reader, sorted(never)

    @property
    def length(self) -> int:
        return self._reader.length

    @torch.inference_mode()
    def read(self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None = None) -> Float[Tensor, "B V"]:
        logits = self._reader.read(ids, real)
        muted = [token_id for token_id in self._never if token_id < logits.shape[-1]]
        return logits.index_fill(-1, torch.tensor(muted, device=logits.device, dtype=torch.long), -torch.inf)

    def keep(self, rows: Int[Tensor, " rows"]) -> None:
        self._reader.keep(rows)


def reads_prefix(model: Speaking) -> bool:
    """True for a prefix language model, whose prompt is read both ways."""
    visible = (block.attention.visibility for block in _stack(model).spec.blocks)
    return any(isinstance(visibility, Causal) and visibility.prefix for visibility in visible)


def device_of(model: Speaking) -> torch.device:
    """Where the token table lies, and ids must; packed weights are the processor's."""
    return torch.device("cpu") if isinstance(model, NativeDecoder) else _embedding(model).token.weight.device


def _stack(model: Speaking) -> Stack:
    return model.stack if isinstance(model, DecoderOnly) else model.decoder


def _embedding(model: Speaking) -> TokenEmbedding:
    embed = _stack(model).embed
    assert isinstance(embed, TokenEmbedding)
    return embed


def _logits(model: Speaking, hidden: Float[Tensor, "B T D"]) -> Float[Tensor, "B V"]:
    assert isinstance(model.head, Language)
    logits: Tensor = model.head(hidden[:, -1:], _embedding(model).token.weight)[:, 0]
    # Filters and log-probabilities are computed in no less than float32.
    return logits.float() if logits.dtype.itemsize < 4 else logits


def _kept(memory: Memory | None, rows: Int[Tensor, " rows"]) -> Memory | None:
    if memory is None:
        return None
    return Memory(memory.states[rows], None if memory.real is None else memory.real[rows])

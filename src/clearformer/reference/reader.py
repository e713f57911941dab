"""A language model with what it has read: give it tokens, it gives the logits of the next."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int

from clearformer.errors import GenerationError
from clearformer.messages import reference as messages
from clearformer.reference.block import Memory
from clearformer.reference.cache import Cache
from clearformer.reference.model import decode, run
from clearformer.spec import DecoderOnly, EncoderDecoder, Language


class Reader:
    """Reads chunks of a batch and remembers them, in a cache or, with `cached=False`, as tokens to be read again.

    `length_bound` is the length that each row may reach; an encoder-decoder also looks at its `memory`.
    """

    def __init__(
        self,
        spec: DecoderOnly | EncoderDecoder,
        weights: Mapping[str, np.ndarray],
        *,
        capacity: int,
        length_bound: Int[np.ndarray, " B"],
        memory: Memory | None = None,
        cached: bool = True,
    ) -> None:
        if not isinstance(spec.head, Language):
            raise GenerationError(messages.NO_WORDS, head=type(spec.head).__name__)
        if (longest := int(length_bound.max())) > spec.context:
            raise GenerationError(messages.PAST_CONTEXT, expected=spec.context, found=longest)
        self._spec, self._weights, self._memory = spec, weights, memory
        self._bound = length_bound
        self._cache = Cache(capacity, length_bound) if cached else None
        self._ids = np.zeros((len(length_bound), 0), dtype=np.int64)
        self._real = np.zeros((len(length_bound), 0), dtype=bool)

    def read(self, ids: Int[np.ndarray, "B T"], real: Bool[np.ndarray, "B T"]) -> Float[np.ndarray, "B V"]:
        """The logits that follow each row's last real token of this chunk."""
        if self._cache is None:
            earlier = self._ids.shape[1]
            self._ids, self._real = np.concatenate([self._ids, ids], 1), np.concatenate([self._real, real], 1)
            logits = self._logits(self._ids, self._real)[:, earlier:]
        else:
            logits = self._logits(ids, real)
        last = real.shape[1] - 1 - np.argmax(real[:, ::-1], axis=1)
        return logits[np.arange(len(ids)), last]

    def _logits(self, ids: np.ndarray, real: np.ndarray) -> np.ndarray:
        spec = self._spec
        if isinstance(spec, DecoderOnly):
            return run(spec, self._weights, ids, real=real, length_bound=self._bound, cache=self._cache)
        assert self._memory is not None
        return decode(spec, self._weights, ids, self._memory, real=real, length_bound=self._bound, cache=self._cache)

    def keep(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Go on with these rows, in this order; a row may be named more than once."""
        self._ids, self._real, self._bound = self._ids[rows], self._real[rows], self._bound[rows]
        if self._memory is not None:
            self._memory = Memory(self._memory.states[rows], self._memory.real[rows])
        if self._cache is not None:
            self._cache.keep(rows, self._memory)

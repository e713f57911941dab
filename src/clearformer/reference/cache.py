"""What a decoder keeps of the past: keys and values a layer, and where each of them stands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Int

from clearformer.errors import UsageError
from clearformer.messages import reference as messages

Arrays = tuple[np.ndarray, ...]
Remember = Callable[[Callable[[], Arrays]], Arrays]


def forget(compute: Callable[[], Arrays]) -> Arrays:
    """No cache: what is computed is all there is."""
    return compute()


class Cache:
    """Arrays that grow along their slots (axis −2), up to `capacity` slots, for one batch.

    `length_bound` is the length that each row is declared to reach; None declares the capacity.
    """

    def __init__(self, capacity: int, length_bound: Int[np.ndarray, " B"] | None = None) -> None:
        self.capacity = capacity
        self.length_bound = length_bound
        self.position: np.ndarray | None = None
        self.real: np.ndarray | None = None
        self.memory: object | None = None
        self._kept: dict[str, Arrays] = {}

    @property
    def length(self) -> int:
        """Slots in use, pads included."""
        return 0 if self.real is None else self.real.shape[1]

    def seen(self, batch: int) -> Int[np.ndarray, " B"]:
        """Real tokens so far, a row."""
        if self.real is None:
            return np.zeros(batch, dtype=np.int64)
        if len(self.real) != batch:
            raise UsageError(messages.CACHE_ROWS, expected=len(self.real), found=batch)
        return self.real.sum(axis=1)

    def declare(self, batch: int, length_bound: Int[np.ndarray, " B"] | None) -> Int[np.ndarray, " B"]:
        """The one bound of this cache: keys turned under another could not be compared with new queries."""
        if self.length_bound is None:
            self.length_bound = np.full(batch, self.capacity) if length_bound is None else length_bound
        if length_bound is not None and not np.array_equal(length_bound, self.length_bound):
            raise UsageError(messages.CACHE_OF_ANOTHER, what="length_bound")
        return self.length_bound

    def enter(
        self, position: Int[np.ndarray, "B T"], real: Bool[np.ndarray, "B T"]
    ) -> tuple[Int[np.ndarray, "B S"], Bool[np.ndarray, "B S"]]:
        """Take the slots for a call's tokens, once a call; gives position and reality of all slots."""
        if self.length + real.shape[1] > self.capacity:
            found = self.length + real.shape[1]
            raise UsageError(messages.CACHE_FULL, expected=self.capacity, found=found)
        self.position = position if self.position is None else np.concatenate([self.position, position], axis=1)
        self.real = real if self.real is None else np.concatenate([self.real, real], axis=1)
        return self.position, self.real

    def hold(self, memory: object) -> None:
        """Bind the cache to the memory that its layers look at."""
        if self.memory is not None and self.memory is not memory:
            raise UsageError(messages.CACHE_OF_ANOTHER, what="memory")
        self.memory = memory

    def growing(self, layer: str) -> Remember:
        """The layer's own past: what is computed for new tokens is appended, and the whole comes back."""

        def remember(compute: Callable[[], Arrays]) -> Arrays:
            new = compute()
            past = self._kept.get(layer, tuple(array[..., :0, :] for array in new))
            self._kept[layer] = tuple(np.concatenate(pair, axis=-2) for pair in zip(past, new, strict=True))
            return self._kept[layer]

        return remember

    def once(self, layer: str) -> Remember:
        """The layer's view of a memory: computed by the first call and kept."""

        def remember(compute: Callable[[], Arrays]) -> Arrays:
            if layer not in self._kept:
                self._kept[layer] = compute()
            return self._kept[layer]

        return remember

    def keep(self, rows: Int[np.ndarray, " rows"], memory: object | None = None) -> None:
        """Keep these rows, in this order, again and again if named so (beams); `memory` is theirs."""
        for name in ("position", "real", "length_bound"):
            if (array := getattr(self, name)) is not None:
                setattr(self, name, array[rows])
        self._kept = {layer: tuple(array[rows] for array in arrays) for layer, arrays in self._kept.items()}
        self.memory = memory

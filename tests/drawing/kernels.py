"""Every attention of a model by one kernel, and the tiled one with tiles so small that a short sequence has many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from clearformer.layers import attention, latent_attention, tiles
from clearformer.layers.kernels import Kernel, attend
from clearformer.layers.tiles import Sizes

SMALL = Sizes(2, 3, 2)


@contextmanager
def everywhere(kernel: Kernel) -> Iterator[None]:
    """Until the block ends attention is computed by this kernel, whatever a model's modules say."""

    def by_kernel(*given: Any, **named: Any) -> Any:
        return attend(*given, **{**named, "kernel": kernel})

    with ExitStack() as stack:
        for room in (attention, latent_attention):
            stack.enter_context(mock.patch.object(room, "attend", by_kernel))
        stack.enter_context(small_tiles())
        yield


@contextmanager
def small_tiles(sizes: Sizes = SMALL) -> Iterator[None]:
    with mock.patch.object(tiles, "sizes", return_value=sizes):
        yield

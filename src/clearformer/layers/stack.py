"""Input, blocks, final norm: one side of the paper's figure."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from clearformer.layers import checks
from clearformer.layers.block import Block
from clearformer.layers.cache import Cache
from clearformer.layers.documents import lengths as document_lengths
from clearformer.layers.documents import places as places_in_documents
from clearformer.layers.documents import runs as document_runs
from clearformer.layers.embed import (
    Level,
    PatchEmbedding,
    SeriesEmbedding,
    TokenEmbedding,
    count_positions,
    make_embedding,
)
from clearformer.layers.frame import Frame, Memory
from clearformer.layers.norm import make_norm
from clearformer.layers.positions.learned import Learned
from clearformer.spec import Attention, RelativeBias
from clearformer.spec import Stack as StackSpec
from clearformer.taps import OFF, Tap


class Stack(nn.Module):
    """The blocks in turn over one residual stream.

    With `recompute`, training keeps each block's input only and computes the block again in the backward pass
    (Chen et al. 2016, arXiv 1604.06174): the same gradients, for less memory and a third more time.
    """

    def __init__(self, spec: StackSpec, *, memory_width: int | None = None) -> None:
        super().__init__()
        self.spec = spec
        self.recompute = False
        self.embed = make_embedding(spec.width, spec.input)
        owners = bias_owners(spec)
        self.blocks = nn.ModuleList(
            Block(spec.width, block, memory_width=memory_width, owns_bias=index in owners)
            for index, block in enumerate(spec.blocks)
        )
        self.final_norm = make_norm(spec.width, spec.final_norm)

    def forward(
        self, x: Float[Tensor, "B T D"], frame: Frame, cache: Cache | None = None, tap: Tap = OFF
    ) -> Float[Tensor, "B T D"]:
        """The residual stream from the embedded input to the final norm."""
        x = tap("embed", x)
        again = self.recompute and self.training and cache is None and not tap.on
        for index, block in enumerate(self.blocks):
            if again:
                x = checkpoint(block, x, frame, use_reentrant=False)
                continue
            x = block(x, frame, cache.layer(index) if cache is not None else None, tap.within(f"blocks.{index}"))
        if again and frame.losses is not None:
            # A block computed again notes its balance loss again: by then on a list that nobody reads.
            frame.losses = []
        if cache is not None:
            cache.advance()
        return x if self.spec.final_norm is None else tap("final_norm", self.final_norm(x))

    def read_tokens(
        self,
        ids: Int[Tensor, "B T"],
        *,
        real: Bool[Tensor, "B T"] | None = None,
        positions: Int[Tensor, "B T"] | None = None,
        segments: Int[Tensor, "B T"] | None = None,
        documents: Int[Tensor, "B T"] | None = None,
        prefix: Int[Tensor, " B"] | None = None,
        length_bound: Int[Tensor, " B"] | None = None,
        memory: Memory | None = None,
        cache: Cache | None = None,
        losses: list[Tensor] | None = None,
        tap: Tap = OFF,
    ) -> Float[Tensor, "B T D"]:
        """Hidden states of token ids; arguments as `DecoderOnly.forward` gives them."""
        assert isinstance(self.embed, TokenEmbedding)
        checks.token_ids(ids, self.embed.spec, real, segments)
        checks.segments_and_prefix(self.spec, segments, prefix, cache)
        checks.documents(ids, documents, prefix, cache)
        runs = None if documents is None else document_runs(documents)
        in_order = False
        if positions is None:
            placed = self._positions(ids, real, cache) if runs is None else (places_in_documents(runs, real), False)
            positions, in_order = placed
        self._require_room(ids, positions, in_order, cache)
        key_positions, key_real = positions, real
        if cache is not None:
            key_positions, key_real = cache.open(positions, real)
        frame = Frame(
            query_positions=positions,
            key_positions=key_positions,
            key_real=key_real,
            in_order=in_order,
            length_bound=self._length_bound(length_bound, positions, real, runs, cache),
            dtype=self.embed.token.weight.dtype,
            prefix=prefix,
            query_real=real,
            documents=runs,
            memory=memory,
            losses=losses,
        )
        return self(self.embed(ids, positions, segments), frame, cache, tap)

    def read_patches(
        self, data: Tensor, *, losses: list[Tensor] | None = None, tap: Tap = OFF
    ) -> tuple[Float[Tensor, "rows T D"], Level | None]:
        """Hidden states of an image (B C height width) or a series (B S C), and the level taken from a series."""
        level = None
        if isinstance(self.embed, SeriesEmbedding):
            x, level = self.embed(data)
        else:
            assert isinstance(self.embed, PatchEmbedding)
            x = self.embed(data)
        positions = torch.arange(x.shape[1], device=x.device)[None]
        bound = torch.full((1,), x.shape[1], device=x.device)
        frame = Frame(positions, positions, None, in_order=True, length_bound=bound, dtype=x.dtype, losses=losses)
        return self(x, frame, tap=tap), level

    def _positions(
        self, ids: Int[Tensor, "B T"], real: Bool[Tensor, "B T"] | None, cache: Cache | None
    ) -> tuple[Int[Tensor, "#B T"], bool]:
        """Positions of the new tokens, and whether they are the slots themselves."""
        start = cache.length if cache is not None else 0
        if real is None and not (cache is not None and cache.padded):
            return torch.arange(start, start + ids.shape[1], device=ids.device)[None], True
        real = torch.ones_like(ids, dtype=torch.bool) if real is None else real
        return count_positions(real, cache.counts if cache is not None else None), False

    def _length_bound(
        self,
        declared: Int[Tensor, " B"] | None,
        positions: Int[Tensor, "#B T"],
        real: Bool[Tensor, "B T"] | None,
        runs: Int[Tensor, "B T"] | None,
        cache: Cache | None,
    ) -> Int[Tensor, " #B"] | Int[Tensor, "B T"]:
        """What was declared, for the call or for the cache; else the tokens at hand."""
        if declared is not None:
            return declared
        if runs is not None:
            return document_lengths(runs, positions, real)
        if cache is not None:
            return cache.length_bound
        return positions.amax(1) + 1 if real is None else real.sum(1)

    def _require_room(
        self, ids: Int[Tensor, "B T"], positions: Int[Tensor, "#B T"], in_order: bool, cache: Cache | None
    ) -> None:
        if isinstance(self.embed.position, Learned):
            start = cache.length if cache is not None else 0
            end = start + ids.shape[1] if in_order else int(positions.max()) + 1
            self.embed.position.require_room(end)


def bias_owners(spec: StackSpec) -> set[int]:
    """The blocks that keep a relative-bias table: each its own, or the first for all that share."""
    having = {
        index: block.attention.position
        for index, block in enumerate(spec.blocks)
        if isinstance(block.attention, Attention) and isinstance(block.attention.position, RelativeBias)
    }
    sharing = [index for index, position in having.items() if position.shared]
    return {index for index, position in having.items() if not position.shared} | set(sharing[:1])

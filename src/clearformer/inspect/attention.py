"""Who reads whom: the weights of every head, and what kind of reader each head is."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from clearformer.errors import GenerationError, UsageError
from clearformer.inspect.subject import Input, first_stack, subject_of, undisturbed
from clearformer.layers.mask import Mask
from clearformer.load import Loaded
from clearformer.messages import inspect as messages
from clearformer.model import EncoderDecoder, Model
from clearformer.taps import record


@dataclass(frozen=True)
class Manner:
    """How a head reads, as means over its queries: entropy in bits, and the weight on three places.

    Entropy 0 is one token alone. The first token has none before it and does not count for `previous`.
    """

    entropy: float
    previous: float
    first: float
    itself: float


@dataclass(frozen=True)
class AttentionMaps:
    """The weights of one pass over one text: `maps[layer]` is H T T, rows asking, columns read; each row sums to 1.

    `visible[layer]` (T T) tells a weight that is small from one that the mask forbids.
    """

    tokens: tuple[str, ...]
    maps: dict[int, Float[Tensor, "H T T"]]
    visible: dict[int, Bool[Tensor, "T T"]]

    def manner(self, layer: int, head: int) -> Manner:
        """What kind of reader a head is."""
        weights = self.maps[layer][head].double()
        entropy = -torch.special.xlogy(weights, weights).sum(-1).mean() / torch.log(torch.tensor(2.0)).double()
        before = weights.diagonal(-1)
        return Manner(
            entropy=float(entropy),
            previous=float(before.mean()) if before.numel() else 0.0,
            first=float(weights[:, 0].mean()),
            itself=float(weights.diagonal().mean()),
        )

    def most_backward(self) -> tuple[int, int]:
        """The layer and head that put the most weight on the token before: the plainest habit that heads have."""
        heads = [(layer, head) for layer, weights in self.maps.items() for head in range(len(weights))]
        return max(heads, key=lambda at: self.manner(*at).previous)

    def strongest(self, layer: int, head: int, count: int) -> list[list[tuple[int, float]]]:
        """For each query, the keys that it reads most and their weights, strongest first; hidden keys are left out."""
        rows = []
        for weights, seen in zip(self.maps[layer][head], self.visible[layer], strict=True):
            best = weights.topk(min(count, int(seen.sum()))).indices.tolist()
            rows.append([(key, float(weights[key])) for key in best])
        return rows


def attention(looked_at: Loaded | Model, given: Input, *, layer: int | None = None) -> AttentionMaps:
    """Read `given` once and keep the attention weights of every layer, or of one.

    Of a batch the first row is kept; of an encoder-decoder, the encoder's attention. Raises UsageError for a layer that
    there is not, GenerationError for weights that are NaN, and as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target=[0])
    blocks = first_stack(subject.model).blocks
    if layer is not None and not 0 <= layer < len(blocks):
        raise UsageError(messages.NO_LAYER, found=layer, count=len(blocks), last=len(blocks) - 1)
    wanted = range(len(blocks)) if layer is None else [layer]
    role = "encoder" if isinstance(subject.model, EncoderDecoder) else subject.model.role
    names = {index: f"{role}.blocks.{index}.attention.weights" for index in wanted}
    seen, tap = record(*names.values())
    with undisturbed(subject.model):
        if isinstance(subject.model, EncoderDecoder):
            subject.model.encode(subject.data, tap=tap)
        else:
            subject.model(subject.data, tap=tap)
    maps = {index: seen[name][0] for index, name in names.items()}
    if damaged := [index for index, weights in maps.items() if not weights.isfinite().all()]:
        raise GenerationError(messages.NOT_FINITE, layer=damaged[0])
    places = torch.arange(next(iter(maps.values())).shape[-1])[None]
    visible = {index: Mask(blocks[index].attention.visibility, places, places).visible()[0, 0] for index in wanted}
    tokens = subject.tokens or tuple(map(str, range(places.shape[1])))
    return AttentionMaps(tokens, {index: weights.cpu() for index, weights in maps.items()}, visible)

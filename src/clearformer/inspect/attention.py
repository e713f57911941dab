"""Who reads whom: the weights of every head, and what kind of reader each head is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from clearformer.errors import GenerationError, UsageError
from clearformer.inspect.subject import Input, Subject, subject_of, undisturbed
from clearformer.layers.block import Block
from clearformer.layers.mask import Mask
from clearformer.load import Loaded
from clearformer.messages import inspect as messages
from clearformer.model import EncoderDecoder, Model
from clearformer.spec import Full
from clearformer.taps import record

Part = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class Manner:
    """How a head reads, as means over its queries: entropy in bits, and the weight on certain places.

    Entropy 0 is one token alone. The first token has none before it and does not count for `previous`. `induction` is
    the weight on what followed the same token earlier (Olsson et al. 2022, arXiv 2209.11895), None where no token
    comes again. Where another sequence is read, only entropy and `first` have a meaning.
    """

    entropy: float
    previous: float | None
    first: float
    itself: float | None
    induction: float | None


@dataclass(frozen=True)
class AttentionMaps:
    """The weights of one pass over one text: `maps[layer]` is H T S, rows asking, columns read; each row sums to 1.

    `visible[layer]` (T S) tells a weight that is small from one that the mask forbids. `tokens` ask; `keys` are read,
    where they are others (cross-attention). `ids` are those of `tokens`; the first `given` were given, the others
    written by the model (None: all were given).
    """

    tokens: tuple[str, ...]
    maps: dict[int, Float[Tensor, "H T S"]]
    visible: dict[int, Bool[Tensor, "T S"]]
    part: Part = "decoder"
    keys: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    given: int | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """The labels of the columns."""
        return self.keys or self.tokens

    def manner(self, layer: int, head: int) -> Manner:
        """What kind of reader a head is."""
        weights = self.maps[layer][head].double()
        entropy = -torch.special.xlogy(weights, weights).sum(-1).mean() / torch.log(torch.tensor(2.0)).double()
        if self.part == "cross":
            return Manner(float(entropy), None, float(weights[:, 0].mean()), None, None)
        before = weights.diagonal(-1)
        return Manner(
            entropy=float(entropy),
            previous=float(before.mean()) if before.numel() else 0.0,
            first=float(weights[:, 0].mean()),
            itself=float(weights.diagonal().mean()),
            induction=self._induction(weights),
        )

    def _induction(self, weights: Float[Tensor, "T T"]) -> float | None:
        ids = torch.tensor(self.ids)
        if not len(ids):
            return None
        # after[t, k]: token k − 1 was the same as token t, and k lies before t.
        same = (ids[:, None] == ids[None]).tril(-1)
        after = torch.zeros_like(same)
        after[:, 1:] = same[:, :-1]
        after = after.tril(-1)
        asking = after.any(-1)
        return float((weights.cpu() * after).sum(-1)[asking].mean()) if bool(asking.any()) else None

    def manners(self) -> dict[int, list[Manner]]:
        """Every head's, layer by layer."""
        return {layer: [self.manner(layer, head) for head in range(len(maps))] for layer, maps in self.maps.items()}

    def only_head(self, head: int) -> AttentionMaps:
        """The maps of one head of each layer. Raises UsageError where a layer has no such head."""
        for layer, weights in self.maps.items():
            if not 0 <= head < len(weights):
                raise UsageError(messages.NO_HEAD, found=head, layer=layer, count=len(weights), last=len(weights) - 1)
        return replace(self, maps={layer: weights[head : head + 1] for layer, weights in self.maps.items()})

    def most_backward(self) -> tuple[int, int]:
        """The layer and head that put the most weight on the token before: the plainest habit that heads have. Where
        another sequence is read, the head of least entropy."""
        heads = [(layer, head) for layer, weights in self.maps.items() for head in range(len(weights))]
        if self.part == "cross":
            return self.sharpest()
        return max(heads, key=lambda at: self.manner(*at).previous or 0.0)

    def sharpest(self) -> tuple[int, int]:
        """The layer and head of least entropy."""
        heads = [(layer, head) for layer, weights in self.maps.items() for head in range(len(weights))]
        return min(heads, key=lambda at: self.manner(*at).entropy)

    def strongest(self, layer: int, head: int, count: int) -> list[list[tuple[int, float]]]:
        """For each query, the keys that it reads most and their weights, strongest first; hidden keys are left out."""
        rows = []
        for weights, seen in zip(self.maps[layer][head], self.visible[layer], strict=True):
            best = weights.topk(min(count, int(seen.sum()))).indices.tolist()
            rows.append([(key, float(weights[key])) for key in best])
        return rows


def attention(
    looked_at: Loaded | Model,
    given: Input,
    *,
    layer: int | None = None,
    part: Part | None = None,
    target: Sequence[int] | None = None,
    written: int = 0,
) -> AttentionMaps:
    """Read `given` once and keep the attention weights of every layer, or of one.

    Of a batch the first row is kept. An encoder-decoder has three parts: `encoder` (the default), `decoder` and
    `cross`, whose queries are the `target` ids (the start token if none are given). The last `written` of the tokens
    that ask are marked as the model's own. Raises UsageError for a layer or part that there is not, GenerationError
    for weights that are NaN, and as `subject_of` does.
    """
    subject = subject_of(looked_at, given, target=target if target or part in ("decoder", "cross") else [0])
    role, module = _place(subject, part)
    blocks = subject.model.get_submodule(f"{role}.blocks")
    assert isinstance(blocks, torch.nn.ModuleList)
    if layer is not None and not 0 <= layer < len(blocks):
        raise UsageError(messages.NO_LAYER, found=layer, count=len(blocks), last=len(blocks) - 1)
    wanted = range(len(blocks)) if layer is None else [layer]
    names = {index: f"{role}.blocks.{index}.{module}.weights" for index in wanted}
    seen, tap = record(*names.values())
    with undisturbed(subject.model):
        if isinstance(subject.model, EncoderDecoder) and role == "encoder":
            subject.model.encode(subject.data, tap=tap)
        else:
            subject.model(*([subject.data] if subject.target is None else [subject.data, subject.target]), tap=tap)
    maps = {index: seen[name][0].cpu() for index, name in names.items()}
    if damaged := [index for index, weights in maps.items() if not weights.isfinite().all()]:
        raise GenerationError(messages.NOT_FINITE, layer=damaged[0])
    return _labelled(subject, maps, {index: blocks[index] for index in wanted}, role, module, written)


def parts_of(model: Model) -> tuple[Part, ...]:
    """The attentions that a model has."""
    if isinstance(model, EncoderDecoder):
        return "encoder", "decoder", "cross"
    return ("decoder",) if hasattr(model, "decoder") else ("encoder",)


def _place(subject: Subject, part: Part | None) -> tuple[str, str]:
    """The stack and the module of a part."""
    known = parts_of(subject.model)
    if part is not None and part not in known:
        raise UsageError(messages.NO_PART, found=part, expected=", ".join(known))
    chosen = part or known[0]
    return ("decoder", "cross_attention") if chosen == "cross" else (chosen, "attention")


def _labelled(
    subject: Subject, maps: dict[int, Tensor], blocks: dict[int, torch.nn.Module], role: str, module: str, written: int
) -> AttentionMaps:
    """The maps with the labels of what asks and of what is read."""
    queries, keys = next(iter(maps.values())).shape[1:]
    asks_target = isinstance(subject.model, EncoderDecoder) and role == "decoder"
    asking = subject.target_tokens if asks_target else subject.tokens
    data = subject.target if asks_target else subject.data
    tokens = asking or tuple(map(str, range(queries)))
    visible = {}
    for index, block in blocks.items():
        assert isinstance(block, Block)
        visibility = Full() if module == "cross_attention" else block.attention.spec.visibility
        places = torch.arange(queries)[None], torch.arange(keys)[None]
        visible[index] = Mask(visibility, *places).visible()[0, 0]
    part: Part = "cross" if module == "cross_attention" else "decoder" if role == "decoder" else "encoder"
    read = (subject.tokens or tuple(map(str, range(keys)))) if part == "cross" else ()
    whole = data is not None and not data.is_floating_point() and data.dim() == 2
    ids = tuple(data[0].tolist()) if whole and data is not None else ()
    return AttentionMaps(tokens, maps, visible, part, read, ids, len(tokens) - written if written else None)

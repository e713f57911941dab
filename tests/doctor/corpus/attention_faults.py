"""One fault in the self-attention, each in a decoder, an encoder-decoder and an `nn.TransformerDecoder`."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from doctor.corpus.case import Parts, enter
from doctor.corpus.hand_written import VOCAB, Attention, Decoder, EncoderDecoder
from doctor.corpus.torch_modules import Translator


class Unmasked(Attention):
    def __init__(self) -> None:
        super().__init__(causal=False)


class Inverted(Attention):
    def hidden(self, queries: int, keys: int) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool).tril()


class OneAhead(Attention):
    def hidden(self, queries: int, keys: int) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool).triu(2)


class OneBehind(Attention):
    """Hides the query's own position; the first row sees nothing."""

    def hidden(self, queries: int, keys: int) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool).triu(0)


class FiniteFill(Attention):
    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return scores.masked_fill(hidden, -1e4)


class SmallFill(Attention):
    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return torch.where(hidden, -100.0, scores)


class OverQueries(Attention):
    def weigh(self, scores: Tensor) -> Tensor:
        return F.softmax(scores, dim=2)


class OverHeads(Attention):
    def weigh(self, scores: Tensor) -> Tensor:
        return F.softmax(scores, dim=1)


class MergedAsIs(Attention):
    def merge(self, x: Tensor) -> Tensor:
        rows, heads, length, size = x.shape
        return x.reshape(rows, length, heads * size)


class SplitAsIs(Attention):
    def split(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        return x.view(rows, self.heads, length, width // self.heads)


class ScaledByWidth(Attention):
    def scale(self, scores: Tensor, size: int) -> Tensor:
        return scores / (size * self.heads) ** 0.5


class Unscaled(Attention):
    def scale(self, scores: Tensor, size: int) -> Tensor:
        return scores


class ScaledUp(Attention):
    def scale(self, scores: Tensor, size: int) -> Tensor:
        return scores * size**0.5


class AddedMask(Attention):
    """A 0/1 table meant as boolean, added to the scores."""

    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return scores + (~hidden).to(scores.dtype)


class MultipliedMask(Attention):
    def cover(self, scores: Tensor, hidden: Tensor) -> Tensor:
        return scores * ~hidden


class MaskedAfterwards(Attention):
    """The weights are zeroed after the softmax has counted the future in."""

    def attend(self, query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        scores = self.scale(query @ key.transpose(-2, -1), query.shape[-1])
        weights = self.weigh(scores)
        return (weights if hidden is None else weights.masked_fill(hidden, 0.0)) @ value


class DroppedAlways(Attention):
    def weigh(self, scores: Tensor) -> Tensor:
        return F.dropout(scores.softmax(-1), 0.1)


FAULTS: dict[str, tuple[type[Attention], tuple[str, ...], str]] = {
    "no causal mask": (Unmasked, ("no causal mask",), "M3"),
    "mask inverted": (Inverted, ("mask inverted",), "M1"),
    "mask shows the next token": (OneAhead, ("mask off by one",), "M1"),
    "mask hides the query itself": (OneBehind, ("mask off by one",), "M1"),
    "fill of -1e4": (FiniteFill, ("finite fill reachable",), "M4"),
    "fill of -100": (SmallFill, ("finite fill reachable",), "M4"),
    "softmax over queries": (OverQueries, ("softmax over the wrong axis",), "M7"),
    "softmax over heads": (OverHeads, ("softmax over the wrong axis",), "M7"),
    "heads merged by reshape": (MergedAsIs, ("heads merged without transpose",), "M8"),
    "heads split by view": (SplitAsIs, ("heads split without transpose", "heads merged without transpose"), "M9"),
    "scale by the width": (ScaledByWidth, ("scale wrong",), "N1"),
    "no scale": (Unscaled, ("scale missing", "scale wrong"), "N1"),
    "scale the wrong way": (ScaledUp, ("scale wrong",), "N1"),
    "0/1 mask added": (AddedMask, ("mask added as 0 and 1",), "B4"),
    "mask multiplied into the scores": (MultipliedMask, ("mask multiplied", "mask added as 0 and 1"), "B4"),
    "mask after the softmax": (MaskedAfterwards, ("mask after softmax",), "M7"),
    "dropout on the weights in eval": (DroppedAlways, ("dropout in evaluation",), "F4"),
}
HOSTS: dict[str, tuple[type[nn.Module], str]] = {
    "decoder": (Decoder, "decoder"),
    "encoder-decoder": (EncoderDecoder, "encoder-decoder"),
    "nn.TransformerDecoder": (Translator, "encoder-decoder"),
}


def _in_host(host: str, attention: type[Attention]) -> Parts:
    module, kind = HOSTS[host]
    return {"model": module(attention), "kind": kind, "vocab_size": VOCAB}


for _host in HOSTS:
    for _fault, (_attention, _causes, _report) in FAULTS.items():
        enter(f"{_fault}, {_host}", partial(_in_host, _host, _attention), _causes, _report)

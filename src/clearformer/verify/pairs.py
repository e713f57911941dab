"""Which foreign module computes what one of ours computes: read off the weight table, which pairs their weights.

A product's outputs lie as its weight's rows do, so the row that carries foreign weights to ours carries the outputs of
the foreign module too: fused projections are cut, permuted heads put in order. No foreign name stands here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.checkpoint.renames import Permuted, Row, Same, Split, Table, Transposed
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.checkpoint.weight_table import claims_of

_WEIGHT = ".weight"
_NUMBERED = re.compile(r"(?:[A-Za-z_]\w*\.)*\d+")
_BLOCK = re.compile(r"((?:\w+\.)*blocks\.\d+)\.")
_ATTENTION = re.compile(r"((?:\w+\.)*blocks\.\d+\.(?:cross_)?attention)\.(?:query|key|value)\.weight")


@dataclass(frozen=True)
class Pair:
    """A foreign module by its name, and ours, in the order of the row that pairs them."""

    theirs: str
    ours: tuple[str, ...]
    row: Row

    def parts(self, output: Tensor) -> Iterator[tuple[str, Tensor]]:
        """A foreign module's output as outputs of our modules, positions × width."""
        if isinstance(self.row, Same):
            yield self.ours[0], output
            return
        flat = output.flatten(0, -2)
        inputs_first = isinstance(self.row, Transposed) or (isinstance(self.row, Split) and self.row.transposed)
        for name, part in zip(self.ours, self.row.to_ours((flat if inputs_first else flat.t(),)), strict=True):
            yield name, part.t()


@dataclass(frozen=True)
class Pairs:
    """Modules that compute the same, blocks that add to the same stream, attentions that weigh the same scores.

    `blocks` and `attentions` map the foreign module's name to ours.
    """

    modules: tuple[Pair, ...]
    blocks: dict[str, str]
    attentions: dict[str, str]

    @property
    def ours(self) -> frozenset[str]:
        return frozenset(name for pair in self.modules for name in pair.ours)


def pairs_between(table: Table, our_names: Collection[str], foreign: nn.Module, file: TensorFile | None) -> Pairs:
    """What the table pairs and both models have as modules. `file` holds the foreign weights, where it names them as
    the table does: a module that was renamed since is known by its weight."""
    known = _Modules(foreign, file)
    modules: dict[tuple[str, ...], Pair] = {}
    blocks: dict[str, str] = {}
    attentions: dict[str, str] = {}
    for claim in claims_of(table, our_names):
        names = (*claim.theirs, *claim.ours)
        if not isinstance(claim.row, Same | Split | Transposed | Permuted) or not all(
            n.endswith(_WEIGHT) for n in names
        ):
            continue
        theirs = known.named(claim.theirs[0])
        # Embeddings are scaled inside the module by one library and behind it by another; tables of relative positions
        # are looked up in other orders. What they give is compared where the first block reads it.
        if theirs is None or isinstance(known[theirs], nn.Embedding):
            continue
        ours = tuple(name.removesuffix(_WEIGHT) for name in claim.ours)
        modules.setdefault(ours, Pair(theirs, ours, claim.row))
        if (inside := _BLOCK.match(claim.ours[0])) and (block := _NUMBERED.match(theirs)):
            blocks.setdefault(block[0], inside[1])
        if weighing := _ATTENTION.fullmatch(claim.ours[0]):
            attentions.setdefault(theirs.rpartition(".")[0], weighing[1])
    return Pairs(tuple(modules.values()), blocks, attentions)


class _Modules:
    """A foreign model's modules, found by the names that its files give to their weights."""

    def __init__(self, foreign: nn.Module, file: TensorFile | None) -> None:
        self._modules = dict(foreign.named_modules())
        self._stem = f"{getattr(foreign, 'base_model_prefix', '')}."
        self._file = file

    def __getitem__(self, name: str) -> nn.Module:
        return self._modules[name]

    def named(self, weight: str) -> str | None:
        """The module of a weight: by its name, with or without the outer module that a bare model lacks, or by its
        content."""
        name = weight.removesuffix(_WEIGHT)
        for each in (name, self._stem + name, name.removeprefix(self._stem)):
            if each in self._modules:
                return each
        if self._file is None or weight not in self._file.names():
            return None
        return self._by_content.get(_fingerprint(self._file.tensor(weight)))

    @cached_property
    def _by_content(self) -> dict[str, str]:
        """Weights that no other module has too, such as norms that are all ones."""
        found: dict[str, list[str]] = {}
        for name, module in self._modules.items():
            if isinstance(weight := getattr(module, "weight", None), Tensor):
                found.setdefault(_fingerprint(weight), []).append(name)
        return {content: names[0] for content, names in found.items() if len(names) == 1}


def _fingerprint(weight: Tensor) -> str:
    content = weight.detach().to("cpu", torch.float32).contiguous()
    return hashlib.sha256(content.numpy().tobytes()).hexdigest() + str(tuple(content.shape))


def first_tensor(output: Any) -> Tensor | None:
    """What a module gives first: itself, or the first tensor of a tuple."""
    if isinstance(output, Tensor):
        return output
    given: Sequence[Any] = output if isinstance(output, tuple | list) else ()
    return next((each for each in given if isinstance(each, Tensor)), None)


def weights_among(output: Any) -> Tensor | None:
    """The attention weights among what an attention module gives: not negative, each row a sum of 1."""
    given: Sequence[Any] = output if isinstance(output, tuple | list) else ()
    tables = (each for each in given if isinstance(each, Tensor) and each.dim() == 4 and each.numel())
    return next((each for each in tables if _sums_to_one(each)), None)


def _sums_to_one(table: Tensor) -> bool:
    return bool((table >= 0).all()) and bool(((table.sum(-1) - 1).abs() < 1e-3).all())

"""The experts of a layer in one foreign tensor: a row of a weight table, beside those of `renames`."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from clearformer.checkpoint.renames import Numbers, Row, Tensors


@dataclass(frozen=True)
class StackedExperts(Row):
    """One foreign tensor, experts × rows × columns, that holds the same matrices of each of `count` experts.

    `ours` name an expert by `{e}`. `sizes` are their rows, which lie one matrix after another within an expert: gate
    and up in one (transformers' gate_up_proj), or down alone.
    """

    ours: tuple[str, ...]
    sizes: tuple[int, ...]
    count: int

    def match(self, our_name: str) -> Numbers | None:
        numbers = super().match(our_name)
        if numbers is None or int(numbers["e"]) >= self.count:
            return None
        return {name: number for name, number in numbers.items() if name != "e"}

    def our_names(self, numbers: Numbers) -> tuple[str, ...]:
        experts = [{**numbers, "e": str(index)} for index in range(self.count)]
        return tuple(template.format_map(expert) for expert in experts for template in self.ours)

    def to_ours(self, theirs: Tensors) -> Tensors:
        parts = torch.split(theirs[0], list(self.sizes), dim=1)
        return tuple(part[index] for index in range(self.count) for part in parts)

    def to_theirs(self, ours: Tensors) -> Tensors:
        each = len(self.ours)
        return (torch.stack([torch.cat(ours[start : start + each]) for start in range(0, len(ours), each)]),)

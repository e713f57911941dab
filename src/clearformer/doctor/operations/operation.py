"""One call of a torch function, under one name whatever way it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

SCALING = frozenset({"mul", "multiply", "rmul", "div", "divide", "true_divide", "truediv"})
ADDING = frozenset({"add", "radd", "sub", "subtract"})
PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm"})
REDUCTIONS = frozenset({"sum", "mean", "amax", "amin"})
NORMS = frozenset({"layer_norm", "rms_norm", "normalize"})
MOVES = frozenset({
    "reshape", "view", "transpose", "permute", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "expand_as",
    "repeat", "repeat_interleave", "tile", "split", "chunk", "unbind", "select", "narrow", "getitem", "cat", "concat",
    "concatenate", "stack", "movedim", "moveaxis", "swapaxes", "swapdims", "t", "T", "mT", "H", "mH", "view_as",
    "reshape_as", "index_select", "flip", "roll", "tensor_split", "broadcast_to", "unfold", "split_with_sizes",
    "hstack", "vstack", "ravel",
})  # fmt: skip
"""Functions that put numbers elsewhere and change none."""

OTHER_NAMES = {
    "linear": "linear", "scaled_dot_product_attention": "fused attention",
    "multi_head_attention_forward": "whole attention",
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """`name` without underscores: `Tensor.__matmul__`, `torch.matmul` and `@` are all "matmul", `add_` is "add"."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        return self.args[place] if len(self.args) > place else self.kwargs.get(name, default)

    def with_argument(self, place: int, name: str, value: Any) -> Operation:
        """The same call with one argument changed, left where it was."""
        if len(self.args) > place:
            return replace(self, args=(*self.args[:place], value, *self.args[place + 1 :]))
        return replace(self, kwargs={**self.kwargs, name: value})

    def operands(self) -> Iterator[Tensor]:
        """Every tensor among the arguments, those in lists included."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, Tensor):
                yield value
            elif isinstance(value, list | tuple):
                yield from (each for each in value if isinstance(each, Tensor))


def name_of(function: Callable[..., Any]) -> str:
    """The one name of a torch function."""
    name = getattr(function, "__name__", "")
    if name == "__get__":
        name = getattr(getattr(function, "__self__", None), "__name__", "")
    name = name.strip("_") or name
    return OTHER_NAMES.get(name, name)

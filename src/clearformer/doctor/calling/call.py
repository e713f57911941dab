"""How a module is called, as data: which argument takes what, and what form it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Marking = Literal["keep", "hide", "add"]
"""What a mask's entries mean: 1 or True for what is read (keep), for what is hidden (hide), or numbers that are added
to the scores (add)."""

Takes = Literal["ids", "vectors", "series"]


@dataclass(frozen=True)
class Mask:
    """One mask argument. `shape` is in the dimension key: "B T" for padding, "T T" or "B 1 T T" for who sees whom."""

    name: str
    marking: Marking
    shape: str = "B T"


@dataclass(frozen=True)
class CacheForm:
    """How a cache is handed in and comes back: the argument, where it is in the output, the switch that asks for it."""

    argument: str
    output: str | int
    switch: str | None = None
    """A flag such as `use_cache` that must be True."""
    offset: str | None = None
    """The argument that takes the first position of the new tokens, where the module wants to be told."""
    inside: bool = False
    """The module keeps the cache itself and has a `reset`."""


@dataclass(frozen=True)
class Call:
    """`main` is the name of the first input's argument, None where it is given by place."""

    main: str | None = None
    takes: Takes = "ids"
    source: str | None = None
    """An encoder-decoder's source argument; `main` is then the target."""
    padding: Mask | None = None
    source_padding: Mask | None = None
    memory_padding: Mask | None = None
    """A decoder's own mask over the source, where it takes one beside `source_padding`."""
    seeing: Mask | None = None
    """A mask of who sees whom that must be handed in for the module to be causal."""
    positions: str | None = None
    cache: CacheForm | None = None
    batch_first: bool = True
    output: str | int | None = None
    """Where in the output the answer lies: an attribute or key, a number in a tuple, None for the output itself."""
    fixed: tuple[tuple[str, object], ...] = ()
    """Arguments that are given the same value each time, such as `use_cache=False`."""

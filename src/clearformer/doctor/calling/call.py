"""How a module is called, as data: which argument takes what, and what form it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Marking = Literal["keep", "hide", "add", "count"]
"""What a mask's entries mean: 1 or True for what is read (keep), for what is hidden (hide), or numbers that are added
to the scores (add). `count` is no mask but each row's number of real tokens."""

Takes = Literal["ids", "vectors", "series"]

Answers = Literal["positions", "channels", "flat", "last", "whole"]
"""What comes out: something for each position (B T …), the same as (B V T), the same with rows and positions as one
axis, the last position only, or one thing for the whole row."""

Number = Literal["bool", "int", "float"]


@dataclass(frozen=True)
class Mask:
    """One mask argument. `shape` is in the dimension key: "B T" for padding, "T T" or "B 1 T T" for who sees whom."""

    name: str
    marking: Marking
    shape: str = "B T"
    number: Number = "bool"
    """The number type in which it is handed in."""
    by_trial: bool = False
    """The marking was seen to work; otherwise it is what the argument's name says."""


@dataclass(frozen=True)
class CacheForm:
    """How a cache is handed in and comes back: the argument, where it is in the output, the switch that asks for it."""

    argument: str | None
    output: str | int | None = None
    """None where the module changes what it was handed, or keeps the cache itself."""
    switch: str | None = None
    """A flag such as `use_cache` that must be True."""
    offset: str | None = None
    """The argument that takes the first position of the new tokens, where the module wants to be told."""
    inside: bool = False
    """The module keeps the cache itself and has a `reset`."""
    start: str = "none"
    """What an empty cache is: a word of `caches`, or the name of the module's method that makes it."""
    reset: str | None = None
    """The method that empties a cache kept inside."""
    whole: bool = False
    """The module wants the sequence from its start each time, and itself cuts off all but the last token."""


@dataclass(frozen=True)
class Call:
    """`main` is the name of the first input's argument, None where it is given by place."""

    main: str | None = None
    takes: Takes = "ids"
    source: str | None = None
    """An encoder-decoder's source argument; `main` is then the target."""
    source_takes: Takes = "ids"
    padding: Mask | None = None
    source_padding: Mask | None = None
    memory_padding: Mask | None = None
    """A decoder's own mask over the source, where it takes one beside `source_padding`."""
    seeing: Mask | None = None
    """A mask of who sees whom that must be handed in for the module to be causal."""
    positions: str | None = None
    documents: str | None = None
    """The argument that numbers each position's document, for packed rows."""
    labels: str | None = None
    """Targets, without which the module gives the last position only; it is handed the inputs themselves."""
    cache: CacheForm | None = None
    batch_first: bool = True
    output: str | int | None = None
    """Where in the output the answer lies: an attribute or key, a number in a tuple, None for the output itself."""
    answers: Answers = "positions"
    packed: str | None = None
    """The one argument that takes all others as a dictionary, where the module wants its batch so."""
    needed: frozenset[str] = frozenset()
    """Arguments without a default: masks, positions and documents among them are given even when a probe gives none."""
    fixed: tuple[tuple[str, object], ...] = ()
    """Arguments that are given the same value each time, such as `use_cache=False`."""

    @property
    def source_masks(self) -> tuple[Mask, ...]:
        """The masks over the source, its encoder's and its decoder's."""
        return tuple(mask for mask in (self.source_padding, self.memory_padding) if mask is not None)

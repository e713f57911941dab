"""Which activations a model has, what they are called and how many bytes they take: known before anything is run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from math import prod

from clearformer.errors import UsageError
from clearformer.inspect.plan import Reading, Shape, plan
from clearformer.messages import capture as messages
from clearformer.spec import Spec
from clearformer.taps import STACKS, matches

# Computed in float32 at least, whatever the model's number type.
_EXACT = ("scores", "masked_scores", "weights", "router")
_NEAREST = 3


def points(spec: Spec, reading: Reading) -> dict[str, Shape]:
    """The name of every activation and its shape, in the order of computing."""
    found: dict[str, Shape] = {}
    for step in plan(spec, reading):
        if step.op == "output" and len(step.reads) == 2:
            # A last addition that no norm follows is heard under both of its names.
            found[f"{step.stage}.feedforward_sum"] = step.shape
        found[step.name] = step.shape
    return found


def chosen(spec: Spec, reading: Reading, patterns: Sequence[str]) -> dict[str, Shape]:
    """Those that match one of the patterns (`taps.matches`).

    Raises UsageError, naming the nearest, for a pattern that matches nothing.
    """
    known = points(spec, reading)
    for pattern in patterns:
        if not any(matches(name, pattern) for name in known):
            raise UsageError(messages.NO_POINT, pattern=pattern, near=", ".join(nearest(pattern, known)))
    return {name: shape for name, shape in known.items() if any(matches(name, pattern) for pattern in patterns)}


def nearest(pattern: str, known: Sequence[str] | dict[str, Shape]) -> list[str]:
    """Known names that look like the pattern, layers as the pattern has them: a wrong word is nearer than a number."""
    wrong, kinds = general(pattern), sorted({general(name) for name in known})
    close = sorted(kinds, key=lambda kind: -_likeness(wrong, kind))[:_NEAREST]
    layer = re.search(r"blocks\.([^.]+)", pattern)
    wanted = layer.group(1) if layer else "*"
    there = {part for name in known for part in re.findall(r"blocks\.(\d+)\.", name)}
    number = wanted if wanted in there else "*"
    return [kind.replace("blocks.#", f"blocks.{number}") for kind in close]


def _likeness(wrong: str, kind: str) -> float:
    """Of the whole names, or of their last words alone: `gate` means a gate wherever it stands."""
    pairs = ((wrong, kind), (wrong.rpartition(".")[2], kind.rpartition(".")[2]))
    whole, last = (difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)
    return max(whole, 0.9 * last)


def general(name: str) -> str:
    """A name without its stack, its layers all alike."""
    first, _, rest = name.partition(".")
    return re.sub(r"blocks\.[^.]+", "blocks.#", rest if first in STACKS else name)


def bytes_of(shapes: dict[str, Shape], itemsize: int) -> int:
    """What these activations take in a model of numbers of `itemsize` bytes."""
    return sum(
        prod(shape) * (max(4, itemsize) if name.rpartition(".")[2] in _EXACT else itemsize)
        for name, shape in shapes.items()
    )


def narrower(shapes: dict[str, Shape]) -> str:
    """The largest of these activations, for one layer alone."""
    name = max(shapes, key=lambda each: prod(shapes[each]))
    first, _, rest = name.partition(".")
    return rest if first in STACKS else name

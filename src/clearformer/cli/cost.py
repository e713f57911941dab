"""`clearformer cost MODEL`: what a model takes, from its spec alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken, Whole
from clearformer.cli.screen import Screen, aligned, visible
from clearformer.cli.spec_source import spec_of
from clearformer.errors import UsageError
from clearformer.messages import cost as say

if TYPE_CHECKING:
    from clearformer.cost.pricing import Cost
    from clearformer.spec import Spec

Priced = Annotated[
    str, Parameter(help="A preset, a model as other verbs take it, or a config.json or a spec's JSON of any size.")
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Pricing(Progressing):
    """What is asked of the model."""

    batch: Whole = 1
    """Sequences in a batch."""
    length: Whole | None = None
    """Positions of each sequence; the model's context if left out."""
    source_length: Whole | None = None
    """Positions that the encoder reads in front of a decoder; --length if left out."""
    dtype: Literal["float32", "bfloat16", "float16", "float64"] = "float32"
    """The number type of weights, cache and activations."""
    optimizer: Literal["adamw", "adam", "muon"] = "adamw"
    """What trains it."""
    kernel: Literal["sdpa", "plain", "tiled"] = "sdpa"
    """Attention in the totals: plain holds tables of scores, sdpa only with dropout or a cap, tiled never."""
    recompute: bool = False
    """Keep each block's input alone and compute the block again in the backward pass."""
    generate: str | None = None
    """Sum up writing: prompt+new tokens, such as 512+128, with and without a cache."""
    fit: str | None = None
    """Find the largest batch, length and number of blocks for this much memory, such as 24GB."""
    compare: Annotated[tuple[str, ...], Parameter(consume_multiple=1)] = ()
    """Further models, for a table side by side."""


def cost(model: Priced, /, *, flags: Pricing = Pricing(), language: Spoken = "en") -> None:
    """Parameters, FLOPs, memory and time, with the formula beside each number; nothing is built."""
    from clearformer.cost.facts import compared, facts

    screen = Screen(language, flags)
    names = [model, *flags.compare]
    specs = [spec_of(name, screen) for name in names]
    found = [priced(spec, flags if spec is specs[0] else beside(flags, spec)) for spec in specs]
    rows = [compared(name, each) for name, each in zip(names, found, strict=True)] if flags.compare else []
    if screen.as_json:
        screen.json(facts(found[0]) | {"compared": rows})
        return
    if rows:
        tell_compared(rows, screen)
        print(end="\n" if flags.generate or flags.fit else "")
    if not rows or flags.generate or flags.fit:
        tell(found[0], screen)
    if found[0].time.basis is None:
        screen.note(say.NOT_MEASURED)


def beside(flags: Pricing, spec: Spec) -> Pricing:
    """What is asked of a model beside the first: not about writing and fitting, nor a length that it cannot take."""
    from clearformer.cost.work import takes_length, takes_source

    return replace(
        flags,
        generate=None,
        fit=None,
        length=flags.length if takes_length(spec) else None,
        source_length=flags.source_length if takes_source(spec) else None,
    )


def priced(spec: Spec, flags: Pricing) -> Cost:
    """The costs of a model."""
    from clearformer.cost.fitting import bytes_of
    from clearformer.cost.pricing import cost as price
    from clearformer.machine import remembered, remembered_backends
    from clearformer.speed.native_scope import native_lacks
    from clearformer.store.places import home

    # The last that runs this spec, which `auto` would take.
    foreign = ("native",) if native_lacks(spec) else ()
    known = (each for each in remembered_backends(home()) if not each.backend.startswith(foreign))
    measured = [each for each in known if each.dtype == flags.dtype]
    return price(
        spec,
        batch=flags.batch,
        length=flags.length,
        source=flags.source_length,
        dtype=flags.dtype,
        optimizer=flags.optimizer,
        kernel=flags.kernel,
        recompute=flags.recompute,
        generate=None if flags.generate is None else prompt_and_new(flags.generate),
        fit=None if flags.fit is None else bytes_of(flags.fit),
        speed=remembered(home()),
        backend=measured[-1] if measured else None,
    )


def prompt_and_new(text: str) -> tuple[int, int]:
    """`512+128`. Raises UsageError for anything else."""
    found = re.fullmatch(r"(\d{1,13})\+(\d{1,13})", text)
    if found is None or not int(found[1]) or not int(found[2]):
        raise UsageError(say.BAD_GENERATE, found=text)
    return int(found[1]), int(found[2])


def tell(found: Cost, screen: Screen) -> None:
    """One table a section, numbers to the right, formulas last: they may be long."""
    from clearformer.cost.report import heading, sections

    print(heading(found, screen.language))
    for section in sections(found, screen.language):
        print(f"\n{section.title}")
        cells = [(f"  {row.name}", row.value, row.formula) for row in section.rows]
        print("\n".join(aligned(cells, (False, True, False))))


def tell_compared(rows: Sequence[dict[str, Any]], screen: Screen) -> None:
    """A model a row."""
    from clearformer.cost.report import seconds, size

    headings = (
        say.MODEL,
        say.NUMBERS,
        say.USED,
        say.PER_POSITION,
        say.CACHE_TOKEN,
        say.KEPT,
        say.TRAINED,
        say.WRITTEN,
    )
    cells = [[heading.text(screen.language) for heading in headings]]
    for row in rows:
        written = row["decode_s_per_token"]
        cells.append(
            [
                visible(row["name"]),
                f"{row['parameters']:,}",
                f"{row['active']:,}",
                f"{row['flops_per_position']:.4g}",
                size(row["kv_bytes_per_token"]),
                size(row["weights"]),
                size(row["training"]),
                "–" if written is None else seconds(written),
            ]
        )
    print("\n".join(aligned(cells, [False, *[True] * 7])))

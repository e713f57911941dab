"""One attention, step by step: queries, keys, values, their products, scaled, masked, softmax, mixed values.

The table that a programmer needs most: what is multiplied with what, and how large the numbers are in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from torch import Tensor

from clearformer.errors import UsageError
from clearformer.inspect.plan import Planned, Reading, Shape, plan
from clearformer.inspect.subject import Input, subject_of, undisturbed
from clearformer.inspect.trace import Measured, Row, Sizes, Trace, meaning_of, reading_of, sizes, trace_spec
from clearformer.layers.kernels import score
from clearformer.load import Loaded
from clearformer.messages import inspect as messages
from clearformer.model import Model
from clearformer.spec import ALiBi, AnyAttention, Attention, EncoderDecoder, RelativeBias, Rotary, Spec, TwoTowers
from clearformer.spec import main_stack as main_stack_of
from clearformer.taps import Listening

Module = Literal["attention", "cross_attention"]


@dataclass(frozen=True)
class _Formula:
    """A step: its tap's last name, how it is written, and the shapes that it multiplies."""

    name: str
    operation: str
    reads: tuple[Shape, ...]


def expand(
    looked_at: Loaded | Model,
    given: Input,
    *,
    layer: int = 0,
    module: Module = "attention",
    target: Sequence[int] | None = None,
) -> Trace:
    """The steps of one layer's attention while it reads `given`; of both stacks, where both have such a layer.

    Raises UsageError for a layer or an attention that the model has not, else as `trace` does.
    """
    subject = subject_of(looked_at, given, target)
    spec, reading = subject.model.spec, reading_of(subject)
    # Refused before anything is computed.
    steps = expand_spec(spec, reading, layer=layer, module=module).rows
    measured, products = Measured(), _Products()

    def listen(name: str, value: Tensor) -> None:
        measured.listen(name, value)
        products.listen(name, value)

    with undisturbed(subject.model):
        tap = Listening(listen, patterns=(f"blocks.{layer}.{module}.*",))
        subject.model(*([subject.data] if subject.target is None else [subject.data, subject.target]), tap=tap)
    rows = []
    for row in steps:
        name = f"{row.stage}.{row.op}"
        mean, std, absmax = measured.sizes.get(name) or products.found[row.stage]
        rows.append(replace(row, mean=mean, std=std, absmax=absmax, odd=measured.odd.get(name, ())))
    return Trace(subject.tokens, tuple(rows))


def expand_spec(spec: Spec, reading: Reading, *, layer: int = 0, module: Module = "attention") -> Trace:
    """The same steps from a spec alone: shapes without numbers."""
    trace_spec(spec, reading)
    assert not isinstance(spec, TwoTowers)
    stacks = (
        {"encoder": spec.encoder, "decoder": spec.decoder}
        if isinstance(spec, EncoderDecoder)
        else {plan(spec, reading)[0].stage: main_stack_of(spec)}
    )
    count = max(len(stack.blocks) for stack in stacks.values())
    if not 0 <= layer < count:
        raise UsageError(messages.NO_LAYER, found=layer, count=count, last=count - 1)
    planned = {step.name: step for step in plan(spec, reading)}
    rows: list[Row] = []
    for role, stack in stacks.items():
        if layer < len(stack.blocks) and (attention := getattr(stack.blocks[layer], module)) is not None:
            rows += _rows(f"{role}.blocks.{layer}", module, attention, stack.width, planned)
    if not rows:
        raise UsageError(messages.NO_CROSS_ATTENTION)
    return Trace((), tuple(rows))


def _rows(stage: str, module: Module, spec: AnyAttention, width: int, planned: dict[str, Planned]) -> Iterator[Row]:
    shapes = {name.removeprefix(f"{stage}.{module}."): step for name, step in planned.items()}
    number = 0
    for formula in _formulas(spec, width, shapes):
        # A turn belongs to the queries and keys before it; the eight steps are counted without it.
        counted = not formula.name.endswith("_rotated") and formula.name != "output"
        number += counted
        step = shapes["scores" if formula.name == "product" else formula.name]
        yield Row(
            stage,
            f"{module}.{formula.name}",
            formula.reads,
            step.shape,
            step.letters,
            None,
            None,
            None,
            meaning_of(f"{module}.{formula.name}"),
            operation=formula.operation,
            number=number if counted else None,
        )


def _formulas(spec: AnyAttention, width: int, shapes: dict[str, Planned]) -> Iterator[_Formula]:
    query, key = shapes["query"].reads[0], shapes["key"].reads[0]
    if isinstance(spec, Attention):
        normed = "norm({})" if spec.qk_norm else "{}"
        yield _Formula("query", normed.format("X · W_Q"), (query, (width, spec.heads * spec.key_width)))
        source = "X" if query == key else "M"
        keys = (key[-1], spec.kv_heads * spec.key_width)
        yield _Formula("key", normed.format(f"{source} · W_K"), (key, keys))
        yield _Formula("value", f"{source} · W_V", (key, (key[-1], spec.kv_heads * spec.value_width)))
        turned = isinstance(spec.position, Rotary)
    else:
        yield _Formula("query", "X · W_Q" if spec.query_rank is None else "X · W_DQ · W_UQ", (query,))
        yield _Formula("key", "X · W_DKV · W_UK, X · W_KR", (key,))
        yield _Formula("value", "X · W_DKV · W_UV", (key,))
        turned = True
    if turned:
        yield _Formula("query_rotated", "turn(Q)", (shapes["query"].shape,))
        yield _Formula("key_rotated", "turn(K)", (shapes["key"].shape,))
    table = shapes["scores"].shape
    yield _Formula("product", "Q · Kᵀ", (shapes["query"].shape, shapes["key"].shape))
    yield _Formula("scores", _scaling(spec), (table,))
    yield _Formula("masked_scores", "−∞ if hidden", (table,))
    yield _Formula("weights", "softmax over S", (table,))
    yield _Formula("heads", "weights · V", (table, shapes["value"].shape))
    merged = (*shapes["output"].shape[:2], spec.heads * spec.value_width)
    yield _Formula("output", "concat · W_O", (merged, (merged[-1], width)))


def _scaling(spec: AnyAttention) -> str:
    """How a product becomes a score: scaled, perhaps bent, perhaps biased by distance."""
    inverse = spec.score_scale**-2
    whole = abs(inverse - round(inverse)) < 1e-6 * inverse
    written = f"/ √{round(inverse)}" if whole and round(inverse) != 1 else f"· {spec.score_scale:.4g}"
    if not isinstance(spec, Attention):
        return written
    if spec.score_cap is not None:
        written = f"{written}, capped at {spec.score_cap:g}"
    match spec.position:
        case ALiBi():
            return f"{written} − slope · |i − j|"
        case RelativeBias():
            return f"{written} + bias(j − i)"
        case None | Rotary():
            return written
        case _:
            assert_never(spec.position)


class _Products:
    """Q Kᵀ before it is scaled has no tap: it is computed again from the queries and keys that are multiplied."""

    def __init__(self) -> None:
        self.found: dict[str, Sizes] = {}
        self._query: Tensor | None = None
        self._key: Tensor | None = None

    def listen(self, name: str, value: Tensor) -> None:
        place, _, op = name.rpartition(".")
        if op in ("query", "query_rotated"):
            self._query = value
        elif op in ("key", "key_rotated"):
            self._key = value
        elif op == "scores":
            assert self._query is not None
            assert self._key is not None
            product = score(self._query, self._key, scale=1.0)
            self.found[place.rpartition(".")[0]] = sizes(product)

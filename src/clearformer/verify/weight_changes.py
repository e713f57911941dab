"""Faults of weights, undone: rows in another order, matrices on their side, norms off by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from torch import Tensor

from clearformer.messages import Message
from clearformer.messages import verify as messages
from clearformer.spec import Attention, Block
from clearformer.verify.change import Change, Known, with_weights
from clearformer.verify.ours import Suspect
from clearformer.verify.places import blocks, scopes
from clearformer.verify.row_orders import Order, Turned, by_heads, keys_in, regrouped, turned

_KINDS = ("weight", "bias")
_NUMBER = re.compile(r"\.blocks\.\d+\.")
_NORM = re.compile(r".*norm\.weight")
_HEAD_NORM = re.compile(r".*\.(?:query|key)_norm\.weight")

Form = Literal["halves", "pairs"]
Step = tuple[Literal["heads", "kv_heads"], Form]
_CUT_WRONGLY: tuple[tuple[tuple[Step, ...], Form | None], ...] = (
    ((("kv_heads", "pairs"), ("heads", "halves")), None),
    ((("heads", "pairs"), ("kv_heads", "halves")), None),
    ((("heads", "halves"),), None),
    ((("heads", "pairs"),), None),
    ((("kv_heads", "halves"),), None),
    ((("kv_heads", "pairs"),), None),
    ((("heads", "halves"),), "halves"),
    ((("heads", "pairs"),), "pairs"),
)
"""What mends keys that were put into halves or pairs as if they had another number of heads: the steps, each with the
number of heads that it takes them for; and what the queries need beside."""


def rotary_layout(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Rows of queries and keys whose rotary pairs lie side by side, read as halves; or the other way round."""
    for where, scope in scopes(suspect.spec, known.clue):
        places = [(name, each) for name, block in _within(suspect, scope) for each in turned(block)]
        for message, orders in (
            (messages.PAIRS_FOR_HALVES, [each.halves() for _, each in places]),
            (messages.HALVES_FOR_PAIRS, [each.pairs() for _, each in places]),
        ):
            changed: dict[str, Tensor] = {}
            for (name, each), order in zip(places, orders, strict=True):
                changed |= _reordered(suspect, f"{name}.{each.name}", order)
            yield from _change(suspect, changed, message, where)


def key_permutation(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Keys put into halves or pairs as if they had another number of heads: the query's, most often."""
    for where, scope in scopes(suspect.spec, known.clue):
        found = list(_within(suspect, scope))
        for steps, queries in _CUT_WRONGLY:
            changed: dict[str, Tensor] = {}
            for name, block in found:
                order = _key_order(block, steps)
                if order is not None:
                    changed |= _reordered(suspect, f"{name}.attention.key", order)
                    changed |= _query_order(suspect, name, block, queries)
            counted = steps[0][0]
            heads = {getattr(block.attention, counted) for _, block in found if isinstance(block.attention, Attention)}
            yield from _change(suspect, changed, messages.KEYS_CUT, where, heads=", ".join(map(str, sorted(heads))))


def gqa_order(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Query heads that read key head h mod G, where h // (H/G) was meant; or the other way round."""
    for where, scope in scopes(suspect.spec, known.clue):
        for dealt in (True, False):
            changed: dict[str, Tensor] = {}
            for name, block in _within(suspect, scope):
                spec = block.attention
                if isinstance(spec, Attention) and 1 < spec.kv_heads < spec.heads:
                    order = regrouped(spec.heads, spec.heads // spec.kv_heads if dealt else spec.kv_heads)
                    changed |= _reordered(suspect, f"{name}.attention.query", by_heads(order, spec.key_width))
                    output = f"{name}.attention.output.weight"
                    changed[output] = suspect.weights[output][:, by_heads(order, spec.value_width)]
                    if spec.qk_norm is not None and spec.qk_norm.over == "projection":
                        rows = by_heads(order, spec.key_width)
                        changed |= _reordered(suspect, f"{name}.attention.query_norm", rows)
            yield from _change(suspect, changed, messages.HEADS_DEALT, where)


def transposed_linear(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Square matrices kept inputs first, which no shape betrays."""
    square = {
        name: value
        for name, value in suspect.weights.items()
        if name.endswith(".weight") and value.dim() == 2 and value.shape[0] == value.shape[1] and ".embed." not in name
    }
    for where, scope in scopes(suspect.spec, known.clue):
        kinds: dict[str, list[str]] = {}
        for name in square:
            role = _NUMBER.sub(".", name)
            if role == name or name[: _NUMBER.search(name).end() - 1] in scope:  # type: ignore[union-attr]
                kinds.setdefault(role, []).append(name)
        for role, names in kinds.items():
            matrix = role.removesuffix(".weight")
            changed = {name: square[name].t().contiguous() for name in names}
            yield from _change(suspect, changed, messages.TRANSPOSED, where, matrix=matrix)
        if len(kinds) > 1:
            every = {name: square[name].t().contiguous() for names in kinds.values() for name in names}
            yield from _change(suspect, every, messages.ALL_TRANSPOSED, where)


def norm_offset(suspect: Suspect, known: Known) -> Iterator[Change]:
    """Norm weights that are w where 1 + w is read, or 1 + w where w is read: in all norms, in all but those of queries
    and keys, in those alone, and in what the clue points at."""
    norms = [name for name in suspect.weights if _NORM.fullmatch(name)]
    heads = {name for name in norms if _HEAD_NORM.fullmatch(name)}
    groups: list[tuple[str | Message, list[str]]] = [(messages.ALL_NORMS, norms)]
    if heads:
        rest = [name for name in norms if name not in heads]
        groups += [(messages.ALL_BUT_HEAD_NORMS, rest), (messages.HEAD_NORMS, sorted(heads))]
    for where, scope in list(scopes(suspect.spec, known.clue))[1:]:
        groups.append((where, [name for name in norms if any(name.startswith(f"{each}.") for each in scope)]))
    if known.clue is not None:
        groups.append((known.clue, [name for name in norms if name == f"{known.clue}.weight"]))
    for place, names in groups:
        for offset, message in ((-1.0, messages.NORM_ONE_MORE), (1.0, messages.NORM_ONE_LESS)):
            changed = {name: suspect.weights[name] + offset for name in names}
            for change in _change(suspect, changed, message, place):
                yield replace(change, blurred=frozenset(changed))


def gate_up_swapped(suspect: Suspect, known: Known) -> Iterator[Change]:
    """The two matrices of a gated network, each under the other's name."""
    for where, scope in scopes(suspect.spec, known.clue):
        changed: dict[str, Tensor] = {}
        for name, value in suspect.weights.items():
            block = next((each for each in scope if name.startswith(f"{each}.feedforward.")), None)
            for one, other in ((".gate.", ".up."), (".up.", ".gate.")):
                beside = name.replace(one, other)
                if block is not None and beside != name and beside in suspect.weights:
                    changed[beside] = value
        yield from _change(suspect, changed, messages.SWAPPED, where)


def _within(suspect: Suspect, scope: frozenset[str]) -> Iterator[tuple[str, Block]]:
    return ((name, block) for name, block in blocks(suspect.spec).items() if name in scope)


def _reordered(suspect: Suspect, module: str, order: Order) -> dict[str, Tensor]:
    names = [f"{module}.{kind}" for kind in _KINDS if f"{module}.{kind}" in suspect.weights]
    return {name: suspect.weights[name][order] for name in names}


def _key_order(block: Block, steps: tuple[Step, ...]) -> Order | None:
    """The order that the steps make of a block's key rows; None where its keys cannot be cut so, or nothing moves."""
    spec, orders = block.attention, []
    for counted, form in steps:
        cut = keys_in(block, getattr(spec, counted)) if isinstance(spec, Attention) else None
        if cut is None:
            return None
        orders.append(cut.halves() if form == "halves" else cut.pairs())
    order = orders[0] if len(orders) == 1 else orders[0][orders[1]]
    return None if bool((order == order.sort().values).all()) else order


def _query_order(suspect: Suspect, name: str, block: Block, form: Form | None) -> dict[str, Tensor]:
    query: Turned | None = next((each for each in turned(block) if each.name == "attention.query"), None)
    if form is None or query is None:
        return {}
    return _reordered(suspect, f"{name}.{query.name}", query.halves() if form == "halves" else query.pairs())


def _change(
    suspect: Suspect, changed: dict[str, Tensor], what: Message, where: str | Message, **values: object
) -> Iterator[Change]:
    if changed:
        place = where or messages.IN_EVERY_BLOCK
        yield Change(with_weights(suspect, changed), what, {"where": place, **values})

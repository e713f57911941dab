"""Values that cannot both hold, told whatever the family is; and what the family itself refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from clearformer.card.entries import Entry
from clearformer.card.sentence import Sentence, sentence
from clearformer.errors import CheckpointError
from clearformer.messages import Message, families, verbatim
from clearformer.messages import card as say

_SPECIAL = ("bos_token_id", "eos_token_id", "pad_token_id", "cls_token_id", "sep_token_id", "mask_token_id")


@dataclass(frozen=True)
class Conflict:
    """Two keys that cannot both hold; both are marked."""

    first: Entry
    second: Entry
    why: Sentence


def marks(entries: Iterable[Entry], refusal: CheckpointError | None) -> dict[str, list[Sentence]]:
    """Key → what it contradicts, and what its family refused it for where it is the only one to say so."""
    found: dict[str, list[Sentence]] = {}
    listed = tuple(entries)
    for tower in dict.fromkeys(each.tower for each in listed):
        for each in _within([entry for entry in listed if entry.tower == tower]):
            for one, other in ((each.first, each.second), (each.second, each.first)):
                found.setdefault(one.key, []).append(_contradicts(other, each.why))
    if refusal is not None:
        for key, why in _refused(refusal).items():
            found.setdefault(key, [why])
    return found


def _contradicts(other: Entry, why: Sentence) -> Sentence:
    return sentence(say.CONTRADICTS, other=other.key, value=str(other.value)[:40], why=why.message, **why.values)


def _within(entries: list[Entry]) -> Iterator[Conflict]:
    """Contradictions inside one model's config."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if entry.concept is not None and entry.value is not None and entry.side != "decoder":
            first.setdefault(entry.concept, entry)
    yield from _divisions(first)
    yield from _bounds(first)
    yield from _counts(first, entries)
    if (vocabulary := first.get("vocab_size")) is not None and (size := _whole(vocabulary)):
        for entry in entries:
            if entry.key.rpartition(".")[2] in _SPECIAL and type(entry.value) is int and entry.value >= size:
                yield Conflict(vocabulary, entry, sentence(say.OUTSIDE))


def _counts(first: Mapping[str, Entry], entries: list[Entry]) -> Iterator[Conflict]:
    """Lists against the number of what they list."""
    layers, kinds = first.get("num_hidden_layers"), first.get("layer_types")
    if layers is not None and kinds is not None and isinstance(kinds.value, list) and len(kinds.value) != layers.value:
        yield Conflict(layers, kinds, sentence(say.LISTED, count=len(kinds.value)))
    named = {entry.key.rpartition(".")[2]: entry for entry in entries}
    count, labels = named.get("num_labels"), named.get("id2label")
    if count is not None and labels is not None and isinstance(labels.value, dict) and len(labels.value) != count.value:
        yield Conflict(count, labels, sentence(say.LABELS, count=len(labels.value)))


def _divisions(first: Mapping[str, Entry]) -> Iterator[Conflict]:
    apart = ("head_dim", "qk_nope_head_dim", "kv_lora_rank")
    pairs = [("num_attention_heads", "num_key_value_heads", say.KV_DIVIDE), ("image_size", "patch_size", say.PATCHES)]
    if not any(name in first for name in apart):
        pairs.append(("hidden_size", "num_attention_heads", say.HEADS_DIVIDE))
    for whole, part, why in pairs:
        if whole in first and part in first:
            a, b = _whole(first[whole]), _whole(first[part])
            if a and b and a % b:
                yield Conflict(first[whole], first[part], sentence(why))


def _bounds(first: Mapping[str, Entry]) -> Iterator[Conflict]:
    """The second may not pass the first."""
    bounds: tuple[tuple[str, str, Message], ...] = (
        ("num_local_experts", "num_experts_per_tok", say.CHOSEN),
        ("n_group", "topk_group", say.GROUPS_CHOSEN),
        ("max_position_embeddings", "original_max_position_embeddings", say.NARROWER),
    )
    for most, least, why in bounds:
        if most in first and least in first:
            a, b = _whole(first[most]), _whole(first[least])
            if a and b and b > a:
                yield Conflict(first[most], first[least], sentence(why))


def _whole(entry: Entry) -> int:
    """A whole number from 1; 0 for anything else."""
    return entry.value if type(entry.value) is int and entry.value > 0 else 0


def _refused(refusal: CheckpointError) -> dict[str, Sentence]:
    """The keys that a family's error names."""
    values = refusal.values
    if refusal.failure is families.CONTRADICTION:
        first, second, why = (str(values["first"]), str(values["second"]), values["why"])
        assert isinstance(why, Message)
        rest = {name: value for name, value in values.items() if name not in ("why", "other", "value")}
        return {
            key: sentence(say.CONTRADICTS, other=other, value=values[f"{name}_value"], why=why, **rest)
            for key, other, name in ((first, second, "second"), (second, first, "first"))
        }
    if "key" not in values:
        return {}
    why = verbatim(refusal.cause("en"), refusal.cause("zh"))
    return {str(values["key"]): sentence(say.REFUSED_VALUE, why=why)}

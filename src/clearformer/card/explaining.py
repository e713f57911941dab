"""A model's config as a card: each key with what it chooses, what the paper had, why it changed and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from clearformer.card.conflicts import marks
from clearformer.card.costs import cost_of
from clearformer.card.entries import Entry
from clearformer.card.explained import CASES, EXPLAINED, HARMLESS, SECTION_OF
from clearformer.card.prices import Prices, all_of
from clearformer.card.sentence import Sentence, sentence
from clearformer.card.subject import Progress, Subject, silent, subject_of
from clearformer.card.summary import summary
from clearformer.card.values import brief
from clearformer.cost.work import BYTES, Dtype
from clearformer.families.activations import ACTIVATIONS
from clearformer.families.own import MODEL_TYPE
from clearformer.families.rope import KINDS
from clearformer.messages import Language, Message, verbatim
from clearformer.messages import card as say
from clearformer.spec import AnyAttention, Attention, EncoderDecoder, LatentAttention, Learned, RMSNorm, Rotary, Spec

_TOKEN, _NUMBER_TYPE, SPECIAL = "bos_token_id", "torch_dtype", "special_token"


@dataclass(frozen=True)
class Row:
    """A key of the config, in the card's language. `tower` is the section of a config of several models; `conflict`
    says what the value contradicts, and is None where it agrees."""

    section: str
    key: str
    value: object
    meaning: str
    in_2017: str
    why: str
    cost: str
    conflict: str | None
    concept: str
    tower: str


@dataclass(frozen=True)
class Card:
    """`family` is what the config calls itself, `loaded` whether that is a family of ours, `refused` why the model
    would not load all the same. `unknown` are the keys that nothing is known about, with their values. `spelt_out`: a
    spec of our own, which has every choice, those that are not made too."""

    name: str
    family: str | None
    loaded: bool
    summary: str
    refused: str | None
    rows: tuple[Row, ...]
    unknown: tuple[tuple[str, object], ...]
    language: Language
    spelt_out: bool = False

    def __str__(self) -> str:
        from clearformer.card.layout import as_text

        return as_text(self, 80)


def card(
    model: str | Path | Mapping[str, object] | Spec, *, language: Language = "en", progress: Progress = silent
) -> Card:
    """Explain a model line by line, from its config alone: no weight is read and no torch imported but for GGUF files.

    `model` is a name as other verbs take it, a path (a folder, a config.json, a .gguf file), a config as an object, or
    a spec. Raises UsageError, StoreError or CheckpointError for what is none of these.
    """
    return _Writer(subject_of(model, progress), language).card()


@dataclass(frozen=True)
class _Writer:
    """Puts one subject into one language. `costs` are those that were reckoned: many keys may ask for the same one."""

    subject: Subject
    language: Language
    costs: dict[tuple[str, ...], Sentence] = field(default_factory=dict)

    def card(self) -> Card:
        subject, found = self.subject, self.subject.examined
        conflicts = marks(subject.entries, found.refusal)
        known = [(entry, entry.concept) for entry in subject.entries if entry.concept is not None]
        prices = {name: Prices(spec, self._dtype(name)) for name, spec in subject.specs.items()}
        rows = [self._row(entry, concept, prices, conflicts.get(entry.key, [])) for entry, concept in known]
        order = list(say.SECTIONS)
        rows.sort(key=lambda row: (row.tower, order.index(row.section)))
        unknown = tuple((entry.key, brief(entry.value)) for entry in subject.entries if entry.concept is None)
        whole = prices.get("")
        return Card(
            subject.name,
            subject.family,
            subject.loaded,
            summary(whole, self.language) if whole else self._without_spec(),
            self._refused(),
            tuple(rows),
            unknown,
            self.language,
            spelt_out=subject.family == MODEL_TYPE,
        )

    def _dtype(self, tower: str) -> Dtype:
        """The number type that the tower names, else the whole, else float32."""
        found = {each.tower: each.value for each in self.subject.entries if each.concept == _NUMBER_TYPE}
        named = str(found.get(tower) or found.get("", "")).removeprefix("torch.")
        return named if named in BYTES else "float32"

    def _row(self, entry: Entry, concept: str, prices: Mapping[str, Prices], conflicts: Sequence[Sentence]) -> Row:
        concept = self._read(entry, concept)
        section = SECTION_OF[concept]
        spec = self.subject.specs.get(entry.tower)
        meaning, in_2017, why = self._explained(concept, entry, spec)
        return Row(
            section,
            entry.key,
            brief(entry.value),
            self._text(meaning),
            self._text(in_2017),
            self._text(why),
            self._cost(entry, concept, prices.get(entry.tower)).text(self.language),
            " ".join(each.text(self.language) for each in conflicts) or None,
            concept,
            entry.tower,
        )

    def _explained(self, concept: str, entry: Entry, spec: Spec | None) -> tuple[Message, Message, Message]:
        if concept in HARMLESS:
            return HARMLESS[concept], say.NOTHING, say.NOTHING
        found, case = EXPLAINED[concept], case_of(concept, entry, spec)
        if case is None:
            return found.meaning, found.in_2017, found.why
        special = CASES[case]
        return special.meaning, found.in_2017, special.why

    def _cost(self, entry: Entry, concept: str, prices: Prices | None) -> Sentence:
        found, section = self.subject.examined, SECTION_OF[concept]
        if entry.key in found.unread:
            return sentence(say.UNREAD, family=self.subject.family)
        if section == "model":
            return sentence(say.NOTHING)
        if section == "bookkeeping" or entry.key in found.unused:
            return sentence(say.HARMLESS)
        if entry.value is None:
            return sentence(say.NULL)
        if prices is None:
            return sentence(say.NOT_PRICED)
        side = entry.side
        if concept == "num_hidden_layers" and isinstance(prices.spec, EncoderDecoder):
            side = side or "encoder"
        same = (concept, entry.tower, side, entry.reach)
        if same not in self.costs:
            narrowed = replace(prices, side=side, reach=entry.reach) if side or entry.reach else prices
            self.costs[same] = cost_of(concept, narrowed)
        return self.costs[same]

    def _read(self, entry: Entry, concept: str) -> str:
        """A special token's id changes nothing, but where the family asked for it."""
        read = entry.tower in self.subject.specs and entry.key not in self.subject.examined.unused
        return SPECIAL if concept == _TOKEN and read and entry.value is not None else concept

    def _without_spec(self) -> str:
        subject = self.subject
        if subject.family is None:
            return self._text(say.NO_FAMILY)
        if not subject.loaded:
            return say.NOT_LOADED.text(self.language, family=subject.family)
        return self._text(say.NOT_PRICED)

    def _refused(self) -> str | None:
        """Why the model would not load, in the words of the error that it would give."""
        found = self.subject.examined
        if found.refusal is not None:
            why = verbatim(found.refusal.cause("en"), found.refusal.cause("zh"))
            return say.REFUSED.text(self.language, why=why)
        if found.spec is None or not found.unread:
            return None
        keys = ", ".join(sorted(found.unread))
        return say.REFUSED.text(self.language, why=say.NOT_READ, family=self.subject.family, keys=keys)

    def _text(self, message: Message) -> str:
        return message.text(self.language)


def case_of(concept: str, entry: Entry, spec: Spec | None) -> str | None:
    """Which of a concept's cases the value is, `concept:case`; None where it has none."""
    found = None
    value = entry.value
    match concept:
        case "hidden_act" if isinstance(value, str):
            found = ACTIVATIONS.get(value, value)
        case "rope_type" if isinstance(value, str):
            found = KINDS.get(value, value)
        case "partial_rotary_factor" if spec is not None:
            found = "whole" if all(_turns_whole(each) for each in Prices(spec, "float32").attentions) else None
        case "num_key_value_heads" if spec is not None:
            found = _sharing(spec, entry)
        case "max_position_embeddings" if spec is not None and _has(spec, Learned):
            found = "learned"
        case "layer_norm_eps" if spec is not None and _has(spec, RMSNorm):
            found = "rms"
    return f"{concept}:{found}" if f"{concept}:{found}" in CASES else None


def _sharing(spec: Spec, entry: Entry) -> str | None:
    attentions = Prices(spec, "float32", entry.side).attentions
    if any(isinstance(each, LatentAttention) for each in attentions):
        return "latent"
    found = [each for each in attentions if isinstance(each, Attention)]
    if not found:
        return None
    if all(each.kv_heads == each.heads for each in found):
        return "all"
    return "one" if all(each.kv_heads == 1 for each in found) else "grouped"


def _turns_whole(spec: AnyAttention) -> bool:
    turning = spec.rotary if isinstance(spec, LatentAttention) else spec.position
    return not isinstance(turning, Rotary) or turning.width in (None, spec.key_width)


def _has(spec: Spec, kind: type) -> bool:
    return next(all_of(spec, kind), None) is not None

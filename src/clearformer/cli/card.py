"""`clearformer card MODEL`: a config explained line by line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clearformer.cli.flags import Progressing, Spoken
from clearformer.cli.screen import Screen, columns
from clearformer.messages import cli as say
from clearformer.messages import store as store_say
from clearformer.store.presets import hides_preset

if TYPE_CHECKING:
    from clearformer.card import Card

Explained = Annotated[
    str, Parameter(help="A preset, a model as other verbs take it, or a config.json, of any family and size.")
]
_PIPED = 100


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Explaining(Progressing):
    """How a card is printed."""


def card(model: Explained, /, *, flags: Explaining = Explaining(), language: Spoken = "en") -> None:
    """Each key of a model's config: what it chooses, what the paper of 2017 had, why it changed, what it costs here."""
    from clearformer.card.explaining import card as explain
    from clearformer.card.layout import as_text

    screen = Screen(language, flags)
    if hides_preset(model):
        screen.note(store_say.NOT_THE_PRESET, name=model)
    with screen.progress(say.LOADING, in_bytes=True, name=model) as advance:
        found = explain(model, language=language, progress=advance)
    if screen.as_json:
        screen.json(contents(found))
    else:
        screen.text(as_text(found, columns(_PIPED)))


def contents(found: Card) -> dict[str, Any]:
    """The object that `--json` prints."""
    rows = [
        {
            "section": row.section,
            "key": row.key,
            "value": row.value,
            "meaning": row.meaning,
            "in_2017": row.in_2017,
            "why": row.why,
            "cost": row.cost,
            "conflict": row.conflict,
        }
        for row in found.rows
    ]
    return {
        "family": found.family,
        "loaded": found.loaded,
        "summary": found.summary,
        "refused": found.refused,
        "rows": rows,
        "unknown": [{"key": key, "value": value} for key, value in found.unknown],
    }

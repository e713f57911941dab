"""K26: generation stops where the tokenizer and the chat template say that an answer ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said
from clearformer.doctor.forms.special_ids import special_ids
from clearformer.doctor.forms.tokenizers import TokenizerForm, opened, tokenizer_form
from clearformer.errors import ClearformerError
from clearformer.messages import doctor_tokenizer as say
from clearformer.text.chat import turn_end_id
from clearformer.text.files import read_json
from clearformer.text.load import TOKENIZER, chat_template_from_folder, tokenizer_from_folder
from clearformer.text.template import shared_renderer

_WORDS = "Seventeen"


@dataclass(frozen=True)
class Ending:
    """`stops`: where generation stops; `eos`: the tokenizer's end; `turn`: what ends a turn, with its spelling."""

    stops: frozenset[int]
    eos: int | None
    turn: tuple[int, str] | None


def _probe(examination: Examination) -> Iterator[Breach]:
    parts = examination.parts
    ending = _of_folder(parts.folder) if parts.folder is not None else _of_objects(examination)
    if ending is None or not ending.stops:
        raise NotApplicable(say.NO_STOPS)
    stops = sorted(ending.stops)
    if ending.turn is not None and ending.turn[0] not in ending.stops:
        said = Said(say.TURN_END, {"word": ending.turn[1], "id": ending.turn[0], "stops": stops})
        yield Breach("K26", "WARN", (said,), ("turn end not in the stop set",))
    if ending.eos is not None and ending.eos not in ending.stops:
        yield Breach(
            "K26", "WARN", (Said(say.NO_EOS, {"id": ending.eos, "stops": stops}),), ("EOS not in the stop set",)
        )


def _of_folder(folder: Path) -> Ending | None:
    """As transformers reads it: `generation_config.json` first, else `config.json`, else the tokenizer's own end."""
    stops: frozenset[int] = frozenset()
    for name in ("generation_config.json", "config.json"):
        if not stops and (folder / name).is_file():
            try:
                stops = _ids(read_json(folder / name).get("eos_token_id"))
            except (ClearformerError, json.JSONDecodeError, OSError):
                continue
    if not (folder / TOKENIZER).is_file():
        return Ending(stops, None, None)
    try:
        tokenizer = tokenizer_from_folder(folder)
        template = chat_template_from_folder(folder)
        turn = None if template is None else turn_end_id(tokenizer, template, renderer=shared_renderer())
    except ClearformerError:
        return Ending(stops, None, None)
    spelled = {number: word for word, number in tokenizer.added_tokens.items()}
    stops = stops or _ids(tokenizer.eos_id)
    return Ending(stops, tokenizer.eos_id, None if turn is None else (turn, spelled.get(turn, "")))


def _of_objects(examination: Examination) -> Ending | None:
    parts = examination.parts
    stops: frozenset[int] = frozenset()
    for name in ("generation_config", "config"):
        stops = stops or _ids(getattr(getattr(parts.model, name, None), "eos_token_id", None))
    eos = special_ids(parts).eos
    if parts.tokenizer is None:
        return None
    form = tokenizer_form(opened(parts.tokenizer))
    own = next(
        (v for v in (getattr(form.tokenizer, n, None) for n in ("eos_token_id", "eos_id")) if isinstance(v, int)), eos
    )
    return Ending(stops or _ids(own), own, _turn(form))


def _turn(form: TokenizerForm) -> tuple[int, str] | None:
    """The first special token behind an assistant's words."""
    talk = getattr(form.tokenizer, "apply_chat_template", None)
    if talk is None or getattr(form.tokenizer, "chat_template", "") is None:
        return None
    conversation = [{"role": "user", "content": "1"}, {"role": "assistant", "content": _WORDS}]
    try:
        after = talk(conversation, tokenize=False).rpartition(_WORDS)[2]
    except Exception:
        return None  # a tokenizer without a template raises here
    special = set(getattr(form.tokenizer, "all_special_ids", None) or {number for _, number in form.special()})
    special |= set(getattr(form.tokenizer, "added_tokens_decoder", None) or ())
    found = next((number for number in form.encode_trusted(after) if number in special), None)
    return None if found is None else (found, form.decode([found]))


def _ids(value: Any) -> frozenset[int]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return frozenset(each for each in values if isinstance(each, int) and not isinstance(each, bool))


STOP_SET = Check(
    "K26", "stop set", say.STOPS, say.STOPS_RISK, _probe, needs=(), kinds=("decoder", "encoder-decoder")
)  # fmt: skip

"""K28: text survives the tokenizer, special tokens are single ids, and one beginning is enough."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from clearformer.doctor.check import Check, NotApplicable
from clearformer.doctor.examination import Examination
from clearformer.doctor.finding import Breach, Said, Severity
from clearformer.doctor.forms.special_ids import special_ids
from clearformer.doctor.forms.tokenizers import TokenizerForm, ids_in, tokenizer_form
from clearformer.messages import doctor_tokenizer as say

NASTY = (
    "The quick brown fox jumps over 13 lazy dogs.", "two  spaces", "  two in front", "at the end  ", "a\tb\t\tc",
    "a\n\nb\n\n\n c", " \n \n", "a\r\nb", "def f(x):\n    return  x[0]\n", "don't stop, she'll say: \"yes\"!",
    "a , b . c ? d", "3.14159 1,000,000", "中文，标点。", "日本語 한국어", "naïve café über",
    "cafe\u0301", "👩‍👩‍👧 👍🏽",
    "→ ≠ ∑ √", "\u00a0non\u2009breaking", "עברית العربية", "MiXeD CaSe", "x" * 40, "http://a.b/c?d=e&f=%20",
    "\\n is not a newline", "<b>tag</b>", "#hash @at $1",
)  # fmt: skip
MOST_TRIALS = 300
TALK = ({"role": "user", "content": "One?"}, {"role": "assistant", "content": "Two."})
Found = tuple[Severity, Said, str]


def _probe(examination: Examination) -> Iterator[Breach]:
    parts = examination.parts
    form = tokenizer_form(parts.tokenizer)
    found = [*_round_trip(form), *_special(form), *_beginning(examination, form), *_range(examination, form)]
    for severity, said, cause in found:
        yield Breach("K28", severity, (said,), (cause,))


def _round_trip(form: TokenizerForm) -> Iterator[Found]:
    """A tokenizer that normalises (lower case, NFKC) or has an unknown token loses by design: that is only noted."""
    lost: dict[str, tuple[str, bool]] = {}
    read, normalises = 0, _normalises(form)
    for text in NASTY:
        try:
            ids = form.encode(text)
            back = form.decode(ids)
        except (KeyError, ValueError, IndexError):
            continue  # a small alphabet
        read += 1
        if back == text:
            continue
        spaces = _bare(back) == _bare(text)
        cause = "tokenizer loses whitespace" if spaces else "tokenizer loses characters"
        by_design = _by_design(form, text, ids) or (normalises and _folded(back) == _folded(text))
        if cause not in lost or (lost[cause][1] and not by_design):
            lost[cause] = text, by_design
    if not read:
        raise NotApplicable(say.NOTHING_READ)
    for cause, (text, by_design) in lost.items():
        short = text if by_design else _shrunk(form, text, cause)
        values = {"text": repr(short), "back": repr(form.decode(form.encode(short)))}
        yield "INFO" if by_design else "ERROR", Said(say.ROUND_TRIP, values), cause


def _bare(text: str) -> str:
    return "".join(text.split())


def _folded(text: str) -> str:
    """Without case, accents, widths and spaces: what normalising may take away."""
    return _bare("".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold())


def _by_design(form: TokenizerForm, text: str, ids: list[int]) -> bool:
    """An unknown token stands for what is lost, or only the one leading space or a decoder's tidying is."""
    unknown = {getattr(form.tokenizer, name, None) for name in ("unk_token_id", "unk_id")} - {None}
    back, untidied = form.decode(ids), form.decode_untidied(ids)
    return bool(unknown & set(ids)) or back.lstrip(" ") == text.lstrip(" ") or untidied == text


def _normalises(form: TokenizerForm) -> bool:
    """Whether lower case or compatibility forms come back for what was written."""
    for text, plain in (("ABC", "abc"), ("\ufb01x", "fix"), ("\u2460b", "1b")):
        try:
            back = form.decode(form.encode(text)).strip()
        except (KeyError, ValueError, IndexError):
            continue
        if back == plain:
            return True
    return False


def _shrunk(form: TokenizerForm, text: str, cause: str) -> str:
    """The shortest text that fails in the same way, by leaving out a character at a time."""
    at = trials = 0
    while at < len(text) and trials < MOST_TRIALS:
        shorter = text[:at] + text[at + 1 :]
        trials += 1
        try:
            back = form.decode(form.encode(shorter))
        except (KeyError, ValueError, IndexError):
            back = shorter
        same = back != shorter and (_bare(back) == _bare(shorter)) == (cause == "tokenizer loses whitespace")
        text, at = (shorter, 0) if same else (text, at + 1)
    return text


def _special(form: TokenizerForm) -> Iterator[Found]:
    for word, number in form.special():
        try:
            ids = form.encode_trusted(word)
        except (KeyError, ValueError, IndexError):
            continue
        if ids != [number]:
            yield "ERROR", Said(say.SPLIT, {"word": word, "id": number, "ids": ids[:12]}), "special token split"
            return


def _beginning(examination: Examination, form: TokenizerForm) -> Iterator[Found]:
    begin = special_ids(examination.parts).bos
    if begin is not None and form.encode_whole("the")[:2] == [begin, begin]:
        yield "ERROR", Said(say.TWO_BEGIN, {"bos": begin}), "two BOS"
        return
    talk = getattr(form.tokenizer, "apply_chat_template", None)
    if talk is None or getattr(form.tokenizer, "chat_template", "") is None:
        return
    try:
        text, ids = talk(list(TALK), tokenize=False), ids_in(talk(list(TALK), tokenize=True))
    except Exception:
        return  # a tokenizer without a template raises here
    direct: list[int] = form.encode_whole(text)
    if begin is not None and direct[:2] == [begin, begin]:
        yield "WARN", Said(say.TWO_BEGIN_AFTER_TEMPLATE, {"bos": begin}), "two BOS"
    elif ids != direct and ids != form.encode(text):
        at = next((n for n, (a, b) in enumerate(zip(ids, direct, strict=False)) if a != b), min(len(ids), len(direct)))
        values = {"at": at, "template": ids[at : at + 4], "direct": direct[at : at + 4]}
        yield "WARN", Said(say.OTHER_PATH, values), "template and encode differ"


def _range(examination: Examination, form: TokenizerForm) -> Iterator[Found]:
    vocabulary = examination.parts.vocab_size
    if vocabulary is None:
        return
    largest: tuple[int, Any] = max((max(_ids(form, text), default=-1), text) for text in NASTY)
    largest = max([largest, *((number, word) for word, number in form.special())])
    if largest[0] >= vocabulary:
        values = {"id": largest[0], "text": repr(largest[1]), "vocab": vocabulary}
        yield "ERROR", Said(say.BEYOND, values), "ids beyond the vocabulary"


def _ids(form: TokenizerForm, text: str) -> list[int]:
    try:
        return form.encode(text)
    except (KeyError, ValueError, IndexError):
        return []


TOKENIZER = Check("K28", "tokenizer laws", say.TOKENIZER, say.TOKENIZER_RISK, _probe, needs=("tokenizer",))

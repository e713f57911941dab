"""A tokenizer as GGUF metadata: the inverse of `gguf.py`, for the same three kinds of vocabulary.

llama.cpp cuts text by a pattern that a name stands for, and joins by merges or scores. What it has no key for is
refused by name. Where its keys leave a difference (a normal form, spaces at the beginning of a text), the whole
tokenizer.json is put beside them under the format's own key, and our reader takes that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.fast import FastTokenizer
from clearformer.text.gguf import merges_from_scores, tokenizer_from_gguf
from clearformer.text.gguf_metadata import (
    BYTE,
    CONTROL,
    HUGGING_FACE,
    NAMED,
    NORMAL,
    PREFIX,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)
from clearformer.text.gguf_words import pre_name

Metadata = dict[str, object]

# Scripts, spaces, digits, marks, and a letter with its accent apart: where two tokenizers differ, some text here shows.
_PROBES = (
    "The capital of France is Paris.",
    " one space,  two\tand a tab \n\n  lines\r\n",
    "don't WE'VE 1234567 3.14 ½ x²",
    "注意力就是你所需要的一切。日本語 한국어",
    "naïve cafe\u0301 Größe ÉCOLE",
    "😀👨‍👩‍👧🇫🇷 \u00a0\u3000\u200b",
    "def f(x):\n    return x  # …",
    "",
)


def tokenizer_to_gguf(tokenizer: FastTokenizer, rows: int, architecture: str, ends: Sequence[int] = ()) -> Metadata:
    """The keys `tokenizer.*` that mean this tokenizer in a file of this architecture, whose table has `rows` rows.

    `ends` are further ids that end a text. Raises `TokenizerError` naming what llama.cpp cannot say.
    """
    parts = json.loads(tokenizer.to_json())
    describe = {"bytes": _byte_level, "pieces": _sentencepiece, "words": _wordpiece}[tokenizer.spelling]
    words = _words(tokenizer, rows)
    metadata: Metadata = {
        **describe(parts, words, _types(tokenizer, parts["model"], words)),
        **_ids(tokenizer, ends),
    }
    if tokenizer.spelling != "words":
        metadata |= _marks(tokenizer, metadata)
    if not _alike(tokenizer, tokenizer_from_gguf({"general.architecture": architecture, **metadata})):
        metadata[HUGGING_FACE] = json.dumps(parts, ensure_ascii=False)
    return metadata


def no_tokenizer(begin: int | None, ends: Sequence[int], pad: int | None) -> Metadata:
    """A file whose model reads ids alone; what begins and ends a text can still be said."""
    ids = dict(zip(("eos", "eot", "eom"), ends, strict=False)) | {"bos": begin, "padding": pad}
    said = {f"{PREFIX}{name}_token_id": token_id for name, token_id in ids.items() if token_id is not None}
    return {f"{PREFIX}model": "none", **said}


def _words(tokenizer: FastTokenizer, rows: int) -> list[str]:
    """Every row's word; llama.cpp wants one for the rows that no token has."""
    known: dict[int, str] = {index: word for word, index in tokenizer.vocabulary.items()}
    return [known.get(index, f"[PAD{index}]") for index in range(max(rows, tokenizer.vocabulary_size))]


def _types(tokenizer: FastTokenizer, model: Mapping[str, Any], words: Sequence[str]) -> list[int]:
    known, unknown = set(tokenizer.vocabulary.values()), model.get("unk_token")
    types = []
    for index, word in enumerate(words):
        if index not in known:
            types.append(UNUSED)
        elif word == unknown:
            types.append(UNKNOWN)
        elif index in tokenizer.special_ids:
            types.append(CONTROL)
        elif word in tokenizer.added_tokens:
            types.append(USER_DEFINED)
        else:
            types.append(BYTE if tokenizer.is_byte(index) else NORMAL)
    return types


def _ids(tokenizer: FastTokenizer, ends: Sequence[int]) -> Metadata:
    """The tokens that have a name, and up to two more that end a text."""
    ids = {key: tokenizer.added_tokens[tokenizer.special_names[name]] for name, key in NAMED.items()
           if name in tokenizer.special_names}  # fmt: skip
    ends = list(dict.fromkeys([*ends, *sorted(tokenizer.stop_ids)]))
    if ends:
        ids.setdefault("eos_token_id", ends[0])
    if tokenizer.spelling == "words":
        # llama.cpp puts these around a text.
        ids |= {mark: ids[name] for mark, name in (("bos_token_id", "cls_token_id"),) if name in ids}
    further = [end for end in ends if end != ids.get("eos_token_id")]
    if len(further) > 2:
        _refuse("eos_token_id", f"{len(further) + 1} ids", "at most 3")
    ids |= dict(zip(("eot_token_id", "eom_token_id"), further, strict=False))
    return {PREFIX + key: token_id for key, token_id in ids.items()}


def _marks(tokenizer: FastTokenizer, metadata: Metadata) -> Metadata:
    """Whether a begin mark and an end mark are put around a text."""
    plain, marked = tokenizer.encode("a", special=False), tokenizer.encode("a")
    start = next((at for at in range(len(marked)) if marked[at : at + len(plain)] == plain), None)
    if start is None:
        _refuse("post_processor", marked, "begin mark + text + end mark")
    before, after = marked[:start], marked[start + len(plain) :]
    begin, end = (metadata.get(f"{PREFIX}{name}_token_id") for name in ("bos", "eos"))
    added: Metadata = {}
    if before and begin is None and len(before) == 1:
        added[f"{PREFIX}bos_token_id"] = begin = before[0]
    if after and end is None and len(after) == 1:
        added[f"{PREFIX}eos_token_id"] = end = after[0]
    if before not in ([], [begin]) or after not in ([], [end]):
        _refuse("post_processor", [*before, "text", *after], "begin mark + text + end mark")
    return added | {f"{PREFIX}add_bos_token": bool(before), f"{PREFIX}add_eos_token": bool(after)}


def _byte_level(parts: Mapping[str, Any], words: list[str], types: list[int]) -> Metadata:
    model = _plain_bpe(parts)
    if (parts["normalizer"] or {}).get("type") not in (None, "NFC"):
        _refuse("normalizer", parts["normalizer"]["type"], "none | NFC")
    cuts = _cuts(parts["pre_tokenizer"])
    pre = pre_name(cuts, ignore_merges=bool(model.get("ignore_merges")))
    if pre is None:
        _refuse("pre_tokenizer", " then ".join(cuts) or "none", "gpt-2 | smollm | llama-bpe | qwen2 | tekken …")
    return {
        f"{PREFIX}model": "gpt2",
        f"{PREFIX}pre": pre,
        f"{PREFIX}tokens": words,
        f"{PREFIX}token_type": types,
        f"{PREFIX}merges": [" ".join(merge) for merge in _merges(model)],
    }


def _cuts(pre_tokenizer: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The patterns that a byte-level pre-tokenizer applies in turn."""
    pre_tokenizer = pre_tokenizer or {"type": "none"}
    steps = pre_tokenizer["pretokenizers"] if pre_tokenizer["type"] == "Sequence" else [pre_tokenizer]
    cuts: list[str] = []
    for step in steps:
        match step:
            case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated", "invert": False}:
                cuts.append(pattern)
            case {"type": "Digits", "individual_digits": True}:
                cuts.append(r"\p{N}")
            case {"type": "ByteLevel", "add_prefix_space": False, "use_regex": bool(cut)}:
                cuts += [_GPT2] if cut else []
            case _:
                _refuse("pre_tokenizer", step["type"], "Split | Digits | ByteLevel")
    return tuple(cuts)


# As the library's own ByteLevel cuts.
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def _sentencepiece(parts: Mapping[str, Any], words: list[str], types: list[int]) -> Metadata:
    """Scores fall with the rank of a word's first merge, which is what SentencePiece's own do."""
    model, merges = _plain_bpe(parts), _merges(_plain_bpe(parts))
    if not model.get("byte_fallback"):
        _refuse("model.byte_fallback", False, True)
    first: dict[str, int] = {}
    for rank, (left, right) in enumerate(merges):
        first.setdefault(left + right, rank)
    scores = [-float(first.get(word, len(merges) + index)) for index, word in enumerate(words)]
    written: Metadata = {
        f"{PREFIX}model": "llama",
        f"{PREFIX}pre": "default",
        f"{PREFIX}tokens": words,
        f"{PREFIX}scores": scores,
        f"{PREFIX}token_type": types,
        f"{PREFIX}add_space_prefix": _prefix(parts),
    }
    if merges_from_scores(words, scores) != merges:
        written[f"{PREFIX}merges"] = [" ".join(merge) for merge in merges]
    return written


def _prefix(parts: Mapping[str, Any]) -> bool:
    """Whether a space is put before a text; spaces must be written ▁, and nothing else be changed or cut."""
    normalizer, pre_tokenizer = parts["normalizer"] or {"type": "none"}, parts["pre_tokenizer"]
    steps = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    prefix = False
    for step in steps:
        match step:
            case {"type": "Prepend", "prepend": "▁"}:
                prefix = True
            case {"type": "Replace", "pattern": {"String": " "}, "content": "▁"} | {"type": "none"}:
                pass
            case _:
                _refuse("normalizer", step["type"], "Prepend ▁ | Replace ' ' by ▁")
    match pre_tokenizer:
        case None | {"type": "Split", "pattern": {"String": " "}}:
            pass
        case {"type": "Metaspace", "replacement": "▁", "prepend_scheme": str(scheme), "split": False}:
            prefix = scheme != "never"
        case _:
            _refuse("pre_tokenizer", pre_tokenizer["type"], "none | Metaspace(split=False)")
    return prefix


def _wordpiece(parts: Mapping[str, Any], words: list[str], types: list[int]) -> Metadata:
    model, normalizer = parts["model"], parts["normalizer"] or {"type": "none"}
    if model["type"] != "WordPiece" or model["continuing_subword_prefix"] != "##":
        _refuse("model", model["type"], "BPE | WordPiece")
    if normalizer["type"] != "BertNormalizer" or not (normalizer["clean_text"] and normalizer["handle_chinese_chars"]):
        _refuse("normalizer", normalizer["type"], "BertNormalizer")
    if (parts["pre_tokenizer"] or {}).get("type") != "BertPreTokenizer":
        _refuse("pre_tokenizer", (parts["pre_tokenizer"] or {"type": "none"})["type"], "BertPreTokenizer")
    strip = normalizer["strip_accents"]
    whole = {CONTROL, UNKNOWN, USER_DEFINED, UNUSED}
    spelt = [
        word if kind in whole else word[2:] if word.startswith("##") else f"▁{word}"
        for word, kind in zip(words, types, strict=True)
    ]
    return {
        f"{PREFIX}model": "bert",
        f"{PREFIX}tokens": spelt,
        f"{PREFIX}token_type": types,
        f"{PREFIX}normalizer.lowercase": normalizer["lowercase"],
        f"{PREFIX}normalizer.strip_accents": normalizer["lowercase"] if strip is None else strip,
    }


def _plain_bpe(parts: Mapping[str, Any]) -> Mapping[str, Any]:
    model: Mapping[str, Any] = parts["model"]
    if model["type"] != "BPE":
        _refuse("model", model["type"], "BPE | WordPiece")
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            _refuse(f"model.{key}", model[key], "none")
    return model


def _merges(model: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"]]
    return [(pair[0], pair[1]) for pair in pairs]


def _alike(first: FastTokenizer, second: FastTokenizer) -> bool:
    """The same words, and the same ids of every probe."""
    ids = first.vocabulary.values()
    return (
        second.vocabulary_size >= first.vocabulary_size
        and all(first.token_bytes(token_id) == second.token_bytes(token_id) for token_id in ids)
        and first.special_ids <= second.special_ids
        and all(first.encode(text) == second.encode(text) for text in _PROBES)
        and all(first.encode_trusted(text) == second.encode_trusted(text) for text in first.added_tokens)
    )


def _refuse(field: str, found: object, expected: object) -> NoReturn:
    raise TokenizerError(messages.GGUF_CANNOT_SAY, field=field, found=found, expected=expected)

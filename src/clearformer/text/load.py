"""A tokenizer, and the chat template beside it, from a model folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.fast import FastTokenizer, library_errors
from clearformer.text.files import read_json, read_text

_LARGEST_SETTINGS = 16 * 2**20
TOKENIZER = "tokenizer.json"
SOURCE_TOKENIZER = "source_tokenizer.json"
"""The language that a translator reads, where it has a vocabulary of its own."""
FILES = (TOKENIZER, SOURCE_TOKENIZER, "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")
_SENTENCEPIECE = ("source.spm", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def tokenizer_from_folder(folder: Path, name: str = TOKENIZER) -> FastTokenizer:
    """Read `tokenizer.json`, or the file of that name; `tokenizer_config.json` names its special tokens.

    What is put around a text is the file's own post-processor: where there is a `tokenizer.json`, transformers 5
    ignores the config's `add_bos_token` and `add_eos_token`, and so does this. Raises `TokenizerError` on any bad file.
    """
    import tokenizers

    path = folder / name
    text = read_text(path)
    settings = _settings(folder)
    with library_errors(messages.NOT_A_TOKENIZER, path=path):
        backend = tokenizers.Tokenizer.from_str(text)
        backend.add_tokens(_added_tokens(folder, settings, backend))
    names = {name: _content(folder, name, settings[name]) for name in _NAMED if settings.get(name) is not None}
    with library_errors(messages.NOT_A_TOKENIZER, path=path):
        return FastTokenizer(backend, names)


def refuse_sentencepiece(folder: Path | None) -> None:
    """Raises `TokenizerError` where a folder without `tokenizer.json` holds SentencePiece's own files."""
    if folder is not None and (found := [name for name in _SENTENCEPIECE if os.path.lexists(folder / name)]):
        raise TokenizerError(messages.ONLY_SENTENCEPIECE, path=folder, name=TOKENIZER, found=found[0])


def chat_template_from_folder(folder: Path) -> str | None:
    """The model's chat template: `chat_template.jinja`, else the config's string, else its list's entry `default`."""
    if os.path.lexists(folder / "chat_template.jinja"):
        return read_text(folder / "chat_template.jinja", limit=_LARGEST_SETTINGS)
    template = _settings(folder).get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    if template is not None and not isinstance(template, str):
        raise _wrong(folder, "chat_template", "a string or a list of named templates", template)
    return template


def _settings(folder: Path) -> dict[str, Any]:
    """`tokenizer_config.json`, completed by `special_tokens_map.json` where it names no token."""
    settings: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if os.path.lexists(folder / name):
            settings |= read_json(folder / name, limit=_LARGEST_SETTINGS)
    return settings


def _added_tokens(folder: Path, settings: Mapping[str, Any], backend: Any) -> list[Any]:
    """Tokens that the config adds and `tokenizer.json` lacks, in the order of their ids."""
    import tokenizers

    entries = settings.get("added_tokens_decoder", {})
    if not isinstance(entries, dict):
        raise _wrong(folder, "added_tokens_decoder", "an object", entries)
    known = {token.content for token in backend.get_added_tokens_decoder().values()}
    missing = [entry for _, entry in sorted(entries.items(), key=lambda item: int(item[0]))]
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    return [
        tokenizers.AddedToken(entry["content"], **{flag: bool(entry[flag]) for flag in flags if flag in entry})
        for entry in missing
        if entry["content"] not in known
    ]


def _content(folder: Path, name: str, value: object) -> str:
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str):
        raise _wrong(folder, name, "a string", value)
    return content


def _wrong(folder: Path, field: str, expected: str, found: object) -> TokenizerError:
    return TokenizerError(messages.BAD_FIELD, path=folder, field=field, expected=expected, found=type(found).__name__)

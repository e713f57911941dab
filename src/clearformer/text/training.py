"""Tokenizers learnt from a text by the `tokenizers` library, in the form that every other library reads.

`bpe_train.py` is the same algorithm to be read; this one is for speed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.fast import FastTokenizer, library_errors
from clearformer.text.interruptible import interruptibly

if TYPE_CHECKING:
    import tokenizers


_PART = re.compile(r"\S{1000}(?=\S)")


def train_characters(texts: Iterable[str], specials: Mapping[str, str]) -> FastTokenizer:
    """Each character of the texts is a token. `specials` maps `unk_token` and others to their strings."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    seen = sorted(set().union(*(set(text) for text in texts)))
    words = [*dict.fromkeys(specials.values()), *(c for c in seen if c not in specials.values())]
    model = models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=specials.get("unk_token"))
    with library_errors(messages.ENCODING_FAILED):
        backend = tokenizers.Tokenizer(model)
        backend.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]"), "isolated")
        backend.decoder = decoders.Fuse()
        return FastTokenizer(_with_specials(backend, specials), specials)


def train_bpe(
    texts: Iterable[str], vocabulary: int, specials: Mapping[str, str], *, lowercase: bool = False
) -> FastTokenizer:
    """Byte-level BPE of exactly `vocabulary` tokens: special ones, 256 bytes, merges (Sennrich et al. 2016, arXiv
    1508.07909). Raises TokenizerError where the texts do not give so many; it says how many they give."""
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

    special = list(dict.fromkeys(specials.values()))
    least = len(special) + 256
    if vocabulary < least:
        raise TokenizerError(messages.VOCABULARY_TOO_SMALL, least=least, found=vocabulary)
    with library_errors(messages.ENCODING_FAILED):
        backend = tokenizers.Tokenizer(models.BPE())
        if lowercase:
            backend.normalizer = normalizers.Lowercase()
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        trainer = trainers.BpeTrainer(
            vocab_size=vocabulary,
            show_progress=False,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )
        interruptibly(lambda: backend.train_from_iterator(_pieces(texts), trainer))
        found = backend.get_vocab_size()
        if found < vocabulary:
            raise TokenizerError(messages.VOCABULARY_PAST_TEXT, expected=vocabulary, found=found)
        return FastTokenizer(_with_specials(backend, specials), specials)


def tokenizer_files(tokenizer: FastTokenizer) -> dict[str, bytes]:
    """tokenizer.json and tokenizer_config.json, as `tokenizer_from_folder` and transformers read them."""
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **tokenizer.special_names}
    written = json.dumps(config, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    return {"tokenizer.json": tokenizer.to_json().encode("utf-8"), "tokenizer_config.json": written.encode("utf-8")}


def _with_specials(backend: tokenizers.Tokenizer, specials: Mapping[str, str]) -> tokenizers.Tokenizer:
    from tokenizers import AddedToken

    backend.add_special_tokens(
        [AddedToken(s, special=True, normalized=False) for s in dict.fromkeys(specials.values())]
    )
    return backend


def _pieces(texts: Iterable[str], size: int = 100_000) -> Iterator[str]:
    """Long texts in lines: the library counts words by text, and one text of a gigabyte would be one thread's.
    Very long words in parts: a merge reads a word to its end, and a text without a space would be read by every one."""
    for text in texts:
        for line in (text,) if len(text) <= size else text.splitlines(keepends=True):
            start = 0
            for part in _PART.finditer(line):
                yield line[start : part.end()]
                start = part.end()
            yield line[start:]

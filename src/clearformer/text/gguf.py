"""A tokenizer from the metadata of a GGUF file, which holds a vocabulary but no `tokenizer.json`.

Three kinds of vocabulary are known: `gpt2` (byte-level BPE with merges), `llama` (SentencePiece BPE with scores) and
`bert` (WordPiece). An unknown kind or pre-tokenizer is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages
from clearformer.text.byte_alphabet import byte_of_character, spell
from clearformer.text.fast import FastTokenizer, library_errors
from clearformer.text.files import LARGEST_FILE
from clearformer.text.gguf_metadata import (
    CONTROL,
    HUGGING_FACE,
    UNKNOWN,
    USER_DEFINED,
    GgufVocabulary,
    read_vocabulary,
    typed_value,
)
from clearformer.text.gguf_words import follows_llama3, word_patterns

if TYPE_CHECKING:
    import tokenizers

_GEMMA = {"gemma", "gemma2", "gemma3"}
# Qwen composes accents before it cuts; the file's keys have no word for it.
_NFC = {"qwen2", "qwen35"}


def tokenizer_from_gguf(metadata: Mapping[str, object]) -> FastTokenizer:
    """Build the tokenizer that GGUF metadata describes. Raises `TokenizerError` naming what is missing or not known."""
    import tokenizers

    vocabulary = read_vocabulary(metadata)
    builders = {"gpt2": _byte_level, "llama": _sentencepiece, "bert": _wordpiece}
    if vocabulary.kind not in builders:
        known = ", ".join(builders)
        raise TokenizerError(messages.GGUF_MODEL_UNKNOWN, name=vocabulary.kind, known=known)
    if metadata.get(HUGGING_FACE) is not None:
        return _whole(typed_value(metadata, HUGGING_FACE, str), vocabulary)
    with library_errors(messages.NOT_A_TOKENIZER, path="GGUF"):
        backend = builders[vocabulary.kind](vocabulary)
        control = vocabulary.words_of(CONTROL)
        backend.add_special_tokens([tokenizers.AddedToken(w, normalized=False, special=True) for w in control])
        own = vocabulary.words_of(USER_DEFINED)
        backend.add_tokens([tokenizers.AddedToken(word, normalized=False) for word in own])
        return FastTokenizer(backend, vocabulary.named, vocabulary.stop)


def describes_tokenizer(metadata: Mapping[str, object]) -> bool:
    """False for a file whose model reads ids alone."""
    return metadata.get("tokenizer.ggml.model") not in (None, "none", "no_vocab")


def _whole(contents: str, vocabulary: GgufVocabulary) -> FastTokenizer:
    """The tokenizer.json that stands beside llama.cpp's keys, and says more than they can."""
    import tokenizers

    if len(contents) > LARGEST_FILE:
        expected = f"at most {LARGEST_FILE} characters"
        raise TokenizerError(messages.GGUF_FIELD, key=HUGGING_FACE, expected=expected, found=len(contents))
    with library_errors(messages.NOT_A_TOKENIZER, path="GGUF"):
        backend = tokenizers.Tokenizer.from_str(contents)
        words = backend.get_vocab(with_added_tokens=True)
        found = 1 + max(words.values(), default=-1)
        if found > len(vocabulary.words):
            expected = f"at most {len(vocabulary.words)} words"
            raise TokenizerError(messages.GGUF_FIELD, key=HUGGING_FACE, expected=expected, found=found)
        if missing := next((word for word in vocabulary.named.values() if word not in words), None):
            raise TokenizerError(messages.GGUF_FIELD, key=HUGGING_FACE, expected=f"to hold {missing}", found="nothing")
        return FastTokenizer(backend, vocabulary.named, vocabulary.stop)


def chat_template_from_gguf(metadata: Mapping[str, object]) -> str | None:
    """The chat template in the metadata, None if there is none. Raises `TokenizerError` if it is no text."""
    if metadata.get("tokenizer.chat_template") is None:
        return None
    template: str = typed_value(metadata, "tokenizer.chat_template", str)
    return template


def _byte_level(vocabulary: GgufVocabulary) -> tokenizers.Tokenizer:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    patterns = word_patterns().get(vocabulary.pre)
    if patterns is None:
        known = ", ".join(sorted(word_patterns()))
        raise TokenizerError(messages.GGUF_PRE_UNKNOWN, name=vocabulary.pre, known=known)
    if vocabulary.merges is None:
        raise TokenizerError(messages.GGUF_FIELD, key="tokenizer.ggml.merges", expected="a list", found="nothing")
    alphabet = byte_of_character().keys()
    whole = set(vocabulary.words_of(CONTROL, USER_DEFINED))
    # Some converters leave a few ordinary words as plain text; they are respelled in the byte alphabet.
    words = [w if w in whole or set(w) <= alphabet else spell(w.encode()) for w in vocabulary.words]
    backend = Tokenizer(
        models.BPE(vocab=_ids(words), merges=list(vocabulary.merges), ignore_merges=follows_llama3(vocabulary.pre))
    )
    cuts = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    backend.decoder = decoders.ByteLevel()
    if vocabulary.pre in _NFC:
        backend.normalizer = normalizers.NFC()
    _put_around(backend, vocabulary)
    return backend


def _sentencepiece(vocabulary: GgufVocabulary) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer, decoders, models, normalizers

    words: Sequence[str] = vocabulary.words
    rank: Sequence[float] = vocabulary.scores
    if vocabulary.architecture in _GEMMA:
        # Gemma's files spell runs of spaces as spaces, and its merges follow the order of the words, not the scores.
        words = ["▁" * len(w) if w.isspace() and set(w) == {" "} else w for w in words]
        rank = [-float(index) for index in range(len(words))]
    backend = Tokenizer(
        models.BPE(
            vocab=_ids(words),
            merges=list(vocabulary.merges or merges_from_scores(words, rank)),
            unk_token=vocabulary.named.get("unk_token"),
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    text_steps: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if vocabulary.add_space_prefix:
        text_steps.append(decoders.Strip(content=" ", left=1))
    backend.decoder = decoders.Sequence(text_steps)
    if vocabulary.architecture in _GEMMA:
        backend.normalizer = normalizers.Replace(" ", "▁")
    else:
        # llama.cpp, and SentencePiece itself, put their space also before a text that begins with one.
        steps = [normalizers.Prepend("▁")] if vocabulary.add_space_prefix else []
        backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    _put_around(backend, vocabulary)
    return backend


def merges_from_scores(words: Sequence[str], scores: Sequence[float]) -> list[tuple[str, str]]:
    """The merges that a SentencePiece vocabulary implies: every way to cut a word into two words, best score first.

    SentencePiece joins the neighbours whose union scores highest (Kudo and Richardson 2018, arXiv 1808.06226); a list
    of pairs in that order says the same.
    """
    known = set(words)
    found = [
        (-score, -position, position - len(word), word[:position], word[position:])
        for word, score in zip(words, scores, strict=True)
        for position in range(1, len(word))
        if word[:position] in known and word[position:] in known
    ]
    found.sort(key=lambda merge: merge[:3])
    return [(left, right) for *_, left, right in found]


def _wordpiece(vocabulary: GgufVocabulary) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    whole = set(vocabulary.words_of(CONTROL, UNKNOWN, USER_DEFINED)) | set(vocabulary.named.values())
    # GGUF marks the beginning of a word by ▁ where WordPiece marks the continuation by ##.
    words = [w if w in whole else w[1:] if w.startswith("▁") else "##" + w for w in vocabulary.words]
    ids = _ids(words)
    backend = Tokenizer(models.WordPiece(vocab=ids, unk_token=vocabulary.named.get("unk_token", "[UNK]")))
    lowercase = vocabulary.lowercase
    if lowercase is None:
        # Older files do not say whether capitals were made small; a vocabulary without one says so.
        lowercase = not any(c != c.lower() for w in vocabulary.words if w not in whole for c in w)
    backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=vocabulary.strip_accents)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##")
    first = vocabulary.named.get("cls_token", vocabulary.named.get("bos_token"))
    last = vocabulary.named.get("sep_token", vocabulary.named.get("eos_token"))
    if first is None or last is None:
        key = "tokenizer.ggml.cls_token_id and seperator_token_id"
        raise TokenizerError(messages.GGUF_FIELD, key=key, expected="set", found="nothing")
    backend.post_processor = processors.TemplateProcessing(
        single=[first, "$A", last],
        pair=[first, "$A", last, "$B:1", f"{last}:1"],
        special_tokens=[(first, ids[first]), (last, ids[last])],
    )
    return backend


def _put_around(backend: tokenizers.Tokenizer, vocabulary: GgufVocabulary) -> None:
    """Set the post-processor that writes the begin and end marks, where the file asks for them."""
    from tokenizers import processors

    before = [vocabulary.named["bos_token"]] if vocabulary.add_bos and "bos_token" in vocabulary.named else []
    after = [vocabulary.named["eos_token"]] if vocabulary.add_eos and "eos_token" in vocabulary.named else []
    if before or after:
        backend.post_processor = processors.TemplateProcessing(
            single=[*before, "$A", *after],
            pair=[*before, "$A", *after, *(f"{w}:1" for w in before), "$B:1", *(f"{w}:1" for w in after)],
            special_tokens=[(word, backend.token_to_id(word)) for word in {*before, *after}],
        )


def _ids(words: Sequence[str]) -> dict[str, int]:
    return {word: index for index, word in enumerate(words)}

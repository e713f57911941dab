"""Where byte-level vocabularies cut text into words, by the name that GGUF's `tokenizer.ggml.pre` gives the pattern."""

from __future__ import annotations

from clearformer.text.bpe import GPT2_WORD

_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = (rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+", rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*")

ONE_DIGIT = r"\p{N}"
LLAMA3 = rf"{_SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
QWEN2 = rf"{_SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
QWEN35 = (
    rf"{_SUFFIX}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}"
)
TEKKEN = rf"{_CASED[0]}|{_CASED[1]}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
GPT4O = rf"{_CASED[0]}{_SUFFIX}?|{_CASED[1]}{_SUFFIX}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"

# Each name's patterns are applied in turn, each to the pieces that the one before it left.
_NAMES: dict[tuple[str, ...], str] = {
    (GPT2_WORD,): "default gpt-2 phi-2 mpt olmo jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code "
    "roberta-bpe gigachat a.x-4.0 mellum modern-bert",
    (ONE_DIGIT, GPT2_WORD): "smollm starcoder refact command-r codeshell exaone minerva-7b",
    (LLAMA3,): "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe",
    (QWEN2,): "qwen2 deepseek-r1-qwen kormo megrez f2llmv2 stablelm2",
    (QWEN35,): "qwen35",
    (TEKKEN,): "tekken",
    (GPT4O,): "gpt-4o llama4 kanana2 talkie minimax-m2",
}


def word_patterns() -> dict[str, tuple[str, ...]]:
    """Name of the pre-tokenizer → the patterns applied in turn."""
    return {name: patterns for patterns, names in _NAMES.items() for name in names.split()}


def follows_llama3(pre: str) -> bool:
    """Llama 3's way: a word that the vocabulary holds is taken before any merge, and a begin mark is the default."""
    return word_patterns().get(pre) in {(LLAMA3,), (TEKKEN,)} and pre not in {"dbrx", "smaug-bpe"}


def pre_name(patterns: tuple[str, ...], *, ignore_merges: bool) -> str | None:
    """The name by which llama.cpp and this library know the patterns, None if neither has one for them."""
    spelt = tuple(_SPELT.get(pattern, pattern) for pattern in patterns)
    return next(
        (name for name in _SAID if (word_patterns()[name], follows_llama3(name)) == (spelt, ignore_merges)), None
    )


# The best known name of each list of patterns.
_SAID = ("gpt-2", "smollm", "llama-bpe", "dbrx", "qwen2", "qwen35", "tekken", "gpt-4o")
# GPT-2's own spelling of its pattern.
_SPELT = {r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": GPT2_WORD}

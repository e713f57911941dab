"""How a tokenizer is asked, whoever made it: a path, one of ours, Hugging Face's, any object with encode and decode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clearformer.doctor.forms.trial import UnfitError, first_that_works
from clearformer.text.load import tokenizer_from_folder

_BARE: tuple[dict[str, bool], ...] = (
    {"add_special_tokens": False},
    {"special": False},
    {"bos": False, "eos": False},
    {},
)


@dataclass(frozen=True)
class TokenizerForm:
    """`encode` adds nothing around the text as far as that can be had, `encode_whole` what is added by itself."""

    tokenizer: Any
    bare: dict[str, bool]

    def encode(self, text: str) -> list[int]:
        return ids_in(self.tokenizer.encode(text, **self.bare))

    def encode_whole(self, text: str) -> list[int]:
        return ids_in(self.tokenizer.encode(text))

    def encode_trusted(self, text: str) -> list[int]:
        """With special strings read as special tokens, where the tokenizer tells the two apart."""
        trusted = getattr(self.tokenizer, "encode_trusted", None)
        return ids_in(trusted(text)) if trusted is not None else self.encode(text)

    def decode(self, ids: list[int]) -> str:
        return _text(self.tokenizer.decode(ids))

    def decode_untidied(self, ids: list[int]) -> str | None:
        """Without the tidying of spaces before punctuation that some decoders do unless told not to."""
        try:
            return _text(self.tokenizer.decode(ids, clean_up_tokenization_spaces=False))
        except TypeError:
            return None

    def special(self) -> Iterator[tuple[str, int]]:
        """Special strings with the id that each has."""
        for name in ("bos", "eos", "pad", "unk", "sep", "cls", "mask"):
            word = getattr(self.tokenizer, f"{name}_token", None)
            word = word or dict(getattr(self.tokenizer, "special_names", None) or {}).get(f"{name}_token")
            found = next((v for v in (getattr(self.tokenizer, f"{name}{tail}", None) for tail in ("_token_id", "_id"))
                          if isinstance(v, int)), None)  # fmt: skip
            if isinstance(word, str) and found is not None:
                yield word, found


def opened(tokenizer: Any) -> Any:
    """A path opened; anything else as it is. Raises TokenizerError on a bad file."""
    if not isinstance(tokenizer, (str, Path)):
        return tokenizer
    path = Path(tokenizer)
    return tokenizer_from_folder(path) if path.is_dir() else tokenizer_from_folder(path.parent, path.name)


def tokenizer_form(tokenizer: Any) -> TokenizerForm:
    """Raises NotApplicable where it does not encode a word to ids and decode them."""
    handed = opened(tokenizer)

    def form(bare: dict[str, bool]) -> TokenizerForm:
        found = TokenizerForm(handed, bare)
        for word in ("the", "a", "0"):
            try:
                found.decode(found.encode(word))
            except (KeyError, ValueError, IndexError):
                continue  # a small alphabet
            return found
        raise UnfitError("it encodes neither 'the' nor 'a' nor '0'")

    attempts = [(f"encode(text, {', '.join(bare)})", partial(form, bare)) for bare in _BARE]
    return first_that_works("tokenizer", attempts)


def ids_in(answer: Any) -> list[int]:
    """The ids in an answer: a list, a tensor (1 T), an Encoding, a dictionary."""
    if isinstance(answer, Mapping) or hasattr(answer, "keys"):
        answer = answer["input_ids"]
    answer = getattr(answer, "ids", answer)
    answer = answer.tolist() if hasattr(answer, "tolist") else list(answer)
    if len(answer) == 1 and isinstance(answer[0], list):
        answer = answer[0]
    if not all(isinstance(each, int) for each in answer):
        raise UnfitError("encode gives no ids")
    return list(answer)


def words_of(tokenizer: Any) -> int | None:
    """How many ids a tokenizer has; None where it does not tell."""
    handed = opened(tokenizer)
    for name in ("__len__", "get_vocab_size", "vocabulary_size", "vocab_size", "n_vocab", "get_piece_size"):
        held = getattr(handed, name, None)
        count = held() if callable(held) else held
        if isinstance(count, int) and count > 0:
            return count
    return None


def _text(decoded: Any) -> str:
    if isinstance(decoded, bytes):
        return decoded.decode(errors="replace")
    if not isinstance(decoded, str):
        raise UnfitError(f"decode gives {type(decoded).__name__}")
    return decoded

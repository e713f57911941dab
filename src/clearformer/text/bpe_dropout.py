"""BPE-dropout: a word is spelt otherwise each time, for each merge may be left out (Provilkov, Emelianenko and Voita
2020, arXiv 1910.13267, section 3).

A model that has met a word in several spellings knows its parts, too; where text is scarce it translates better. What
is translated later is spelt by the tokenizer itself, which leaves out nothing.
"""

from __future__ import annotations

import json
import random
from itertools import pairwise

from clearformer.errors import TokenizerError
from clearformer.messages import text as say
from clearformer.text.fast import FastTokenizer, library_errors
from clearformer.text.files import checked_text


class BpeDropout:
    """The spellings of words by a byte-pair tokenizer whose merges fail, each with probability `dropout`."""

    def __init__(self, tokenizer: FastTokenizer, dropout: float) -> None:
        """Raises TokenizerError where the tokenizer has no merges."""
        import tokenizers

        contents = json.loads(tokenizer.to_json())
        model = contents["model"]
        if model["type"] != "BPE" or tokenizer.spelling != "bytes":
            raise TokenizerError(say.NO_MERGES, found=model["type"])
        self._backend, self._dropout = tokenizers.Tokenizer.from_str(json.dumps(contents)), dropout
        self._ids: dict[str, int] = model["vocab"]
        ids = self._ids
        # A pair of ids → the merge's place in the order of learning, and the id that it makes.
        self._merges = {
            (ids[left], ids[right]): (rank, ids[left + right]) for rank, (left, right) in enumerate(model["merges"])
        }

    def words(self, text: str) -> list[str]:
        """What merges stay within, in the alphabet of bytes."""
        checked_text(text)
        with library_errors(say.ENCODING_FAILED):
            normalizer = self._backend.normalizer
            plain = normalizer.normalize_str(text) if normalizer else text
            return [word for word, _ in self._backend.pre_tokenizer.pre_tokenize_str(plain)]

    def spell(self, word: str, draw: random.Random) -> tuple[int, ...]:
        """The ids of one word. Without dropout they are the tokenizer's; with dropout 1 they are single bytes."""
        ids = [self._ids[character] for character in word]
        while True:
            found = [
                (*self._merges[pair], at)
                for at, pair in enumerate(pairwise(ids))
                if pair in self._merges and draw.random() >= self._dropout
            ]
            if not found:
                return tuple(ids)
            _, joined, at = min(found)
            ids[at : at + 2] = [joined]

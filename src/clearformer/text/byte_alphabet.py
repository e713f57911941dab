"""The byte alphabet of GPT-2: each of the 256 bytes written as one visible character.

A vocabulary of byte strings thus becomes one of words that JSON can hold, without a space or control character.
(GPT-2, "Language Models are Unsupervised Multitask Learners", 2019, section 2.2; its released encoder.)
"""

from __future__ import annotations

from functools import cache


@cache
def character_of_byte() -> tuple[str, ...]:
    """Visible Latin-1 characters stand for themselves; the other 68 bytes take U+0100 onward, in order."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    hidden = iter(range(256, 256 + 256 - len(visible)))
    return tuple(chr(byte) if byte in visible else chr(next(hidden)) for byte in range(256))


@cache
def byte_of_character() -> dict[str, int]:
    """The inverse of `character_of_byte`."""
    return {character: byte for byte, character in enumerate(character_of_byte())}


def spell(data: bytes) -> str:
    """Bytes in the alphabet: `spell(b" a")` is `"Ġa"`."""
    alphabet = character_of_byte()
    return "".join(alphabet[byte] for byte in data)


def unspell(word: str) -> bytes:
    """The bytes a vocabulary word stands for; a word outside the alphabet (an added token) is its own UTF-8."""
    alphabet = byte_of_character()
    try:
        return bytes(alphabet[character] for character in word)
    except KeyError:
        return word.encode("utf-8", "surrogatepass")

"""One token table for both sides of an encoder-decoder, as T5, BART and Marian keep it."""

from __future__ import annotations

from collections.abc import Iterable

from clearformer.checkpoint.renames import Fallback, Ignored, Row, Same, Tied

_PLACES = ("shared", "encoder.embed_tokens", "decoder.embed_tokens")
_OURS = "encoder.embed.token.weight"


def shared_table_rows(stems: Iterable[str], *, head: str | None) -> list[Row | Tied | Ignored]:
    """One token table for encoder, decoder and a tied `head`, under whichever of its names a file keeps it.

    `stems` are what may stand before all but the head's, first what is written.
    """
    names = [f"{stem}{place}.weight" for stem in stems for place in _PLACES] + ([head] if head else [])
    ties = [Tied(other, name) for index, name in enumerate(names) for other in names[index + 1 :]]
    return [Same(names[0], _OURS), *(Fallback(name, _OURS) for name in names[1:]), *ties]

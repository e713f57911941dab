"""One token table for both sides of an encoder-decoder, as T5, BART and Marian keep it."""

from __future__ import annotations

from clearformer.checkpoint.renames import Fallback, Ignored, Row, Same, Tied


def shared_table_rows(stem: str, *, head: str | None) -> list[Row | Tied | Ignored]:
    """One token table for encoder, decoder and a tied `head`, under whichever of its names a file keeps it."""
    first, ours = f"{stem}shared.weight", "encoder.embed.token.weight"
    others = [f"{stem}{side}.embed_tokens.weight" for side in ("encoder", "decoder")] + ([head] if head else [])
    return [Same(first, ours), *(Fallback(name, ours) for name in others), *(Tied(name, first) for name in others)]

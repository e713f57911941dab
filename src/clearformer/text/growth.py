"""How much longer a text may become while a tokenizer rewrites it: forty steps that double it would fill any memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearformer.errors import TokenizerError
from clearformer.messages import text as messages

# A published map of characters follows Unicode's compatibility forms, which write one character as at most 18. Those
# forms themselves change nothing the second time.
_MAPPED = 18
MOST = 1000


def require_bounded(part: str, steps: Mapping[str, Any]) -> None:
    """Refuse a normaliser or decoder, as its JSON, that could make a text more than `MOST` times as long."""
    if (found := growth(steps)) > MOST:
        raise TokenizerError(messages.TEXT_GROWS, part=part, found=f"{found:.3g}", limit=MOST)


def growth(steps: Mapping[str, Any]) -> float:
    """The largest factor by which these steps lengthen a text, counted in characters."""
    if steps.get("type") == "Sequence":
        factor = 1.0
        for step in steps.get("normalizers") or steps.get("decoders") or ():
            factor = min(factor * growth(step), 1e300)
        return factor
    if steps.get("type") == "Precompiled":
        return _MAPPED
    if steps.get("type") != "Replace":
        return 1.0
    pattern, content = steps.get("pattern") or {}, steps.get("content") or ""
    if "String" in pattern:
        return max(1.0, len(content) / max(len(pattern["String"]), 1))
    return 1.0 + len(content)  # a regular expression may match between any two characters

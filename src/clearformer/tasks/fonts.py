"""What the fonts at hand can show."""

from __future__ import annotations


def has_chinese() -> bool:
    """Whether matplotlib's default family can show Chinese; labels stay in English where it cannot."""
    from matplotlib import font_manager, rcParams

    families = set(rcParams["font.sans-serif"])
    return any(font.name in families and "CJK" in font.name for font in font_manager.fontManager.ttflist)

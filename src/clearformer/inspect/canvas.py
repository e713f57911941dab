"""Figures written as PNG, SVG or a page that opens without a network: text stays text, and a description goes along."""

from __future__ import annotations

import html
import io
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.errors import UsageError
from clearformer.messages import Language
from clearformer.messages import pictures as say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".html")
DPI = 150
LONGEST_SIDE = 60.0
"""Inches; beyond this an image has more pixels than viewers open."""


def checked_format(path: Path) -> Path:
    """The path, if its suffix names a format. Raises UsageError before anything is computed for nothing."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(say.BAD_FORMAT, found=path.name, expected=", ".join(FORMATS))
    return path


def save(figure: Figure, path: Path, title: str, description: str, language: Language) -> Path:
    """Write the figure in the format that the suffix names; `description` is for a reader who cannot see it."""
    checked_format(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix.lower():
        case ".png":
            with _quiet_about_weights():
                figure.savefig(path, dpi=DPI, metadata={"Title": title, "Description": description})
        case ".svg":
            path.write_text(svg(figure, title, description), encoding="utf-8")
        case _:
            body = f"<figure>{inline(svg(figure, title, description))}</figure>"
            path.write_text(page(title, description, body, language), encoding="utf-8")
    return path


def svg(figure: Figure, title: str, description: str) -> str:
    """The figure as SVG whose text is text, with a title and a description inside."""
    from matplotlib import rc_context

    stream = io.StringIO()
    # A fixed salt: the same figure is the same file.
    with _quiet_about_weights(), rc_context({"svg.fonttype": "none", "svg.hashsalt": "clearformer"}):
        figure.savefig(stream, format="svg", dpi=DPI, metadata={"Date": None, "Title": title})
    words = f"<title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>"
    return re.sub(r"(<svg )([^>]*>)", rf"\1role='img' \2{_literal(words)}", stream.getvalue(), count=1)


def inline(whole: str) -> str:
    """An SVG file as an element of a page, as wide as the page allows."""
    element = whole[whole.index("<svg ") :]
    return re.sub(r'width="[\d.]+pt" (?=xmlns)|height="[\d.]+pt" (?=\w)', "", element, count=2)


def page(title: str, description: str, body: str, language: Language) -> str:
    """A page by itself: no script, style, font or image comes from elsewhere, and its own policy says so."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    spoken = "zh-Hans" if language == "zh" else "en"
    return (
        f'<!doctype html>\n<html lang="{spoken}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(description)}</p>\n{body}\n</body>\n</html>\n"
    )


STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif;
  max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
.scroll { overflow: auto; max-height: 24rem; }
"""


def showable(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Font families that together show these texts, matplotlib's own first, and the characters that none here shows."""
    from matplotlib import font_manager

    missing = {character for text in texts for character in text if character.isprintable()}
    families = ["DejaVu Sans"]
    missing -= _characters(font_manager.findfont("DejaVu Sans"))
    for entry in font_manager.fontManager.ttflist:
        if not missing:
            break
        # The "last resort" font has a box for every character and shows none.
        if not entry.name.startswith("Last Resort") and (found := missing & _characters(entry.fname)):
            families.append(entry.name)
            missing -= found
    return families, missing


@cache
def _characters(path: str) -> frozenset[str]:
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (RuntimeError, OSError):
        return frozenset()


def plain(text: str) -> str:
    """A text as matplotlib shows it letter by letter: a dollar begins no formula."""
    return text.replace("$", r"\$")


def figure_of(width: float, height: float) -> Figure:
    """A figure of this many inches, kept alive by nobody but its caller."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(width, LONGEST_SIDE), min(height, LONGEST_SIDE)))
    FigureCanvasAgg(figure)
    return figure


@contextmanager
def written_in(families: list[str]) -> Iterator[None]:
    """Texts made in the body use these families, the first that has the letter."""
    from matplotlib import rc_context

    with rc_context({"font.family": families, "font.size": 9}):
        yield


def headline(figure: Figure, x: float, y: float, text: str) -> None:
    """The figure's title; Chinese fonts come in one weight, and bold Latin letters beside them would look chosen."""
    weight = "bold" if text.isascii() or ("×" in text and text.replace("×", "").isascii()) else "normal"
    figure.text(x, y, plain(text), fontsize=11, fontweight=weight)


@contextmanager
def _quiet_about_weights() -> Iterator[None]:
    """A font without the weight asked for is taken as it is: no matter for a warning on the screen."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\")

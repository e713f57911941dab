"""Attention as one page that opens without a network: all heads, then one head token by token, then their habits."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path

import numpy as np

from clearformer.errors import UsageError
from clearformer.inspect.attention import AttentionMaps
from clearformer.inspect.attention_picture import described, grid_figure
from clearformer.inspect.canvas import inline, page, svg
from clearformer.inspect.colours import SHADES
from clearformer.machine import in_binary_units
from clearformer.messages import Language
from clearformer.messages import inspect as say_of_heads
from clearformer.messages import pictures as say

LARGEST_PAGE = 64 * 2**20
"""Bytes of weights in a page; browsers grow slow beyond."""


def write_page(path: Path, found: AttentionMaps, name: str, *, language: Language = "en") -> Path:
    """Write the page. Raises UsageError for more heads and tokens than a page can hold."""
    numbers = sum(weights.numel() for weights in found.maps.values())
    if numbers > LARGEST_PAGE:
        sizes = {"size": in_binary_units(numbers), "limit": in_binary_units(LARGEST_PAGE)}
        raise UsageError(say.PAGE_TOO_LARGE, **sizes)
    title, words = say.ATTENTION_TITLE.text(language, name=name), described(found, None, language)
    figure, _ = grid_figure(found, title, language)
    sections = [
        f"<h2>{say.PAGE_HEAD.text(language)}</h2>\n<p>{say.PAGE_HOW.text(language)}</p>\n{_reader(found, language)}",
        f"<h2>{say.PAGE_OVERVIEW.text(language)}</h2>\n<figure>{inline(svg(figure, title, words))}</figure>",
        f"<h2>{say.PAGE_HABITS.text(language)}</h2>\n{_habits(found, language)}",
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(title, words, "\n".join(sections), language), encoding="utf-8")
    return path


def _reader(found: AttentionMaps, language: Language) -> str:
    """Tokens as a text; the script shades what the one pointed at reads."""
    layer, head = found.most_backward()
    data = {
        "layers": list(found.maps),
        "heads": [len(weights) for weights in found.maps.values()],
        "queries": len(found.tokens),
        "keys": len(found.read),
        "chosen": [layer, head],
        "shades": SHADES,
        # Square roots in a byte: small weights keep their digits.
        "weights": [
            base64.b64encode(np.round(weights.float().numpy() ** 0.5 * 255).astype(np.uint8).tobytes()).decode()
            for weights in found.maps.values()
        ],
    }
    chooser = "".join(
        f"<label>{word} <select id='{key}'></select></label> "
        for key, word in (("layer", say_of_heads.LAYER.text(language)), ("head", say_of_heads.HEAD.text(language)))
    )
    asking = _tokens(found.tokens, "asks", found.given)
    texts = f"<div class='text' id='asking' aria-label='{say.PAGE_ASKS.text(language)}'>{asking}</div>"
    if found.keys:
        read = _tokens(found.keys, "read", None)
        texts = f"<div class='text' id='reading' aria-label='{say.PAGE_IS_READ.text(language)}'>{read}</div>{texts}"
    # Within a script element only "</" could end it.
    content = json.dumps(data).replace("</", "<\\/")
    return (
        f"<style>{_STYLE}</style><p>{chooser}</p>{texts}<p id='said' aria-live='polite'></p>"
        f"<script type='application/json' id='data'>{content}</script><script>{_SCRIPT}</script>"
    )


def _tokens(tokens: tuple[str, ...], kind: str, given: int | None) -> str:
    spans = []
    for place, token in enumerate(tokens):
        own = " own" if given is not None and place >= given else ""
        shown = html.escape(token.replace("\n", "⏎").strip(" ") or "␣")
        reach = ' tabindex="0"' if kind == "asks" else ""
        spans.append(f'<span class="token{own}" data-place="{place}" title="{place}"{reach}>{shown}</span>')
    return " ".join(spans)


def _habits(found: AttentionMaps, language: Language) -> str:
    headings = (
        (say_of_heads.ENTROPY, "entropy"),
        (say_of_heads.PREVIOUS, "previous"),
        (say_of_heads.FIRST, "first"),
        (say_of_heads.ITSELF, "itself"),
        (say_of_heads.INDUCTION, "induction"),
    )
    head = "".join(f"<th scope='col'>{html.escape(message.text(language))}</th>" for message, _ in headings)
    corner = f"<th scope='col'>{say_of_heads.LAYER.text(language)}.{say_of_heads.HEAD.text(language)}</th>"
    rows = []
    for layer, manners in found.manners().items():
        for number, manner in enumerate(manners):
            values = (getattr(manner, name) for _, name in headings)
            cells = "".join(f"<td>{'–' if value is None else f'{value:.2f}'}</td>" for value in values)
            rows.append(f"<tr><th scope='row'>{layer}.{number}</th>{cells}</tr>")
    table = f"<table><thead><tr>{corner}{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div class='scroll' tabindex='0'>{table}</div>"


_STYLE = """
.text { line-height: 2; margin: .5rem 0 1rem; border-left: 3px solid #ddd; padding-left: .8rem; }
.token { padding: .1rem .3rem; border-radius: .2rem; border: 1px solid transparent; cursor: pointer; }
.token.own { border-bottom: 2px dashed #c0392b; }
.token.asking { border: 1px solid #1b1b1b; }
select { font: inherit; } #said { min-height: 1.5em; }
"""

_SCRIPT = """
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const [layer, head] = ['layer', 'head'].map(id => document.getElementById(id));
const asking = [...document.querySelectorAll('#asking .token')];
const read = [...document.querySelectorAll('#reading .token')];
const shown = read.length ? read : asking;
const tables = data.weights.map(text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0)));
let at = asking.length - 1;
function option(value) {
  const made = document.createElement('option');
  made.value = made.textContent = value;
  return made;
}
function shade(value) {
  const spot = value * (data.shades.length - 1), low = Math.min(Math.floor(spot), data.shades.length - 2);
  const parts = [low, low + 1].map(n => [1, 3, 5].map(k => parseInt(data.shades[n].slice(k, k + 2), 16)));
  return 'rgb(' + parts[0].map((from, k) => Math.round(from + (parts[1][k] - from) * (spot - low))).join(',') + ')';
}
function heads() {
  const chosen = Number(head.value) || 0, count = data.heads[layer.selectedIndex];
  head.replaceChildren(...Array.from({ length: count }, (_, n) => option(n)));
  head.value = Math.min(chosen, count - 1);
}
function draw() {
  const start = (Number(head.value) * data.queries + at) * data.keys;
  const row = tables[layer.selectedIndex].subarray(start, start + data.keys);
  asking.forEach((token, place) => token.classList.toggle('asking', place === at));
  shown.forEach((token, place) => {
    token.style.background = shade(row[place] / 255);
    token.style.color = row[place] > 150 ? '#fff' : '#1b1b1b';
  });
  const best = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, 5).filter(place => row[place] > 8);
  const share = place => shown[place].textContent + ' ' + Math.round((row[place] / 255) ** 2 * 100) + ' %';
  document.getElementById('said').textContent = asking[at].textContent + ' → ' + best.map(share).join(', ');
}
layer.replaceChildren(...data.layers.map(option));
layer.value = data.chosen[0]; heads(); head.value = data.chosen[1];
layer.addEventListener('change', () => { heads(); draw(); });
head.addEventListener('change', draw);
asking.forEach((token, place) => ['mouseenter', 'focus', 'click'].forEach(event =>
  token.addEventListener(event, () => { at = place; draw(); })));
draw();
"""

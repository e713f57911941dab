"""Pictures: open offline, text as text, words for those who cannot see them, a scale that lightness alone orders."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.errors import UsageError
from clearformer.inspect import attention_page, canvas
from clearformer.inspect.attention import AttentionMaps, attention
from clearformer.inspect.attention_page import write_page
from clearformer.inspect.attention_picture import draw, grid_figure, head_figure
from clearformer.inspect.colours import HIDDEN, SHADES, SIDES

SVG = "{http://www.w3.org/2000/svg}"


def made(layers: int, heads: int, tokens: int) -> AttentionMaps:
    generator = torch.Generator().manual_seed(0)
    seen = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    scores = 3 * torch.randn(layers, heads, tokens, tokens, generator=generator)
    maps = dict(enumerate(scores.masked_fill(~seen, -torch.inf).softmax(-1)))
    return AttentionMaps(tuple(f"word{n}" for n in range(tokens)), maps, dict.fromkeys(range(layers), seen))


def texts(path: Path) -> list[str]:
    return ["".join(each.itertext()).strip() for each in ElementTree.parse(path).iter(f"{SVG}text")]


# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as seen without one kind of cone.
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def luminance(colour: str, blindness: str) -> float:
    srgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return float(np.clip(np.array(BLINDNESS[blindness]) @ linear, 0, 1) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_lightness_alone_orders_the_scales(blindness: str) -> None:
    light = [luminance(colour, blindness) for colour in SHADES]
    assert all(brighter > 1.2 * darker for brighter, darker in pairwise(light))
    both = [luminance(colour, blindness) for colour in SIDES]
    middle = len(SIDES) // 2
    assert both[: middle + 1] == sorted(both[: middle + 1])
    assert both[middle:] == sorted(both[middle:], reverse=True)


def test_what_is_hidden_is_no_shade() -> None:
    assert HIDDEN not in SHADES
    assert len(set(HIDDEN[at : at + 2] for at in (1, 3, 5))) == 1


def test_an_svg_has_its_tokens_as_text_chinese_whole_and_a_description(llama, tmp_path) -> None:
    found = attention(llama.ours, "the cat sat on 中文 the mat.")
    path, missing = draw(tmp_path / "head.svg", found, "tiny", head=(1, 2), language="zh")
    shown = texts(path)
    assert shown.count("中") == shown.count("文") == 2
    assert "第 1 层，头 2" in " ".join(shown)
    root = ElementTree.parse(path).getroot()
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "谁在读谁：tiny"
    assert "最强的是" in root.find(f"{SVG}desc").text
    assert missing <= set("中文的解码器自注意力，第层头权重谁在读：")
    again, _ = draw(tmp_path / "again.svg", found, "tiny", head=(1, 2), language="zh")
    assert again.read_bytes() == path.read_bytes()


def test_a_png_says_in_words_what_it_shows(tmp_path) -> None:
    path, _ = draw(tmp_path / "grid.png", made(2, 3, 6), "tiny")
    with Image.open(path) as image:
        assert image.text["Title"] == "Who reads whom: tiny"
        assert "6 heads in 2 layers over 6 tokens" in image.text["Description"]


@pytest.mark.parametrize(("layers", "heads", "tokens"), [(1, 1, 8), (2, 12, 20), (3, 48, 130)])
def test_every_head_has_its_place_in_the_overview(layers: int, heads: int, tokens: int, tmp_path) -> None:
    found = made(layers, heads, tokens)
    figure, _ = grid_figure(found, "made", "en")
    axes = figure.axes[0]
    (image,) = axes.images
    mosaic, (height, width) = image.get_array(), image.get_array().shape
    marks = [text.get_text() for text in axes.get_xticklabels()]
    assert marks == [str(head) for head in range(heads)]
    # In the tile of each head, the strongest weight is the head's own.
    for layer, maps in found.maps.items():
        for head, weights in enumerate(maps):
            tall, wide = height // layers, width // heads
            tile = mosaic[layer * tall : (layer + 1) * tall, head * wide : (head + 1) * wide]
            assert tile.max() == pytest.approx(float(weights.max()))
    shown = texts(draw(tmp_path / "grid.svg", found, "made")[0])
    assert {str(head) for head in range(heads)} <= set(shown)


@pytest.mark.parametrize("tokens", [4, 60, 230, 900])
def test_a_long_sentence_is_named_and_keeps_its_letters_apart(tokens: int) -> None:
    figure, _ = head_figure(made(1, 1, tokens), 0, 0, "en")
    width, height = figure.get_size_inches()
    assert max(width, height) <= canvas.LONGEST_SIDE
    axes = figure.axes[0]
    labels = axes.get_yticklabels()
    spacing = axes.get_position().height * height * 72 / tokens * (axes.get_yticks()[1] - axes.get_yticks()[0])
    assert labels[0].get_size() <= spacing
    assert labels[0].get_size() >= 4.5
    assert len(labels) == tokens or tokens > 400


def test_a_page_opens_alone_and_holds_every_weight(llama, tmp_path) -> None:
    found = attention(llama.ours, "the cat </script> 中文")
    page = write_page(tmp_path / "page.html", found, "tiny <b>").read_text(encoding="utf-8")
    assert re.findall(r"(?:src|href)=[\"'](?!#|data:)[^\"']*", page) == []
    assert set(re.findall(r"https?://[^\"'\s<)]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "http://purl.org/dc/elements/1.1/",
        "http://creativecommons.org/ns#",
        "http://purl.org/dc/dcmitype/StillImage",
        "https://matplotlib.org/",
    }
    assert "default-src 'none'" in page
    assert "tiny &lt;b&gt;" in page
    assert page.count("</script>") == 2
    assert ">中</span>" in page
    (content,) = re.findall(r"id='data'>(.*?)</script>", page)
    data = json.loads(content.replace("<\\/", "</"))
    for layer, encoded in enumerate(data["weights"]):
        weights = np.frombuffer(base64.b64decode(encoded), np.uint8).reshape(found.maps[layer].shape)
        np.testing.assert_allclose((weights / 255) ** 2, found.maps[layer].numpy(), atol=4e-3)


def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch) -> None:
    with pytest.raises(UsageError, match=r"one of \.png, \.svg, \.html; found map\.jpg"):
        draw(tmp_path / "map.jpg", made(1, 1, 3), "made")
    monkeypatch.setattr(attention_page, "LARGEST_PAGE", 10)
    with pytest.raises(UsageError, match="browsers open 10 B"):
        write_page(tmp_path / "page.html", made(1, 2, 3), "made")


def test_characters_that_no_font_shows_are_named(monkeypatch) -> None:
    monkeypatch.setattr(canvas, "_characters", lambda path: frozenset("abc "))
    assert canvas.showable(["a b", "猫c"])[1] == {"猫"}

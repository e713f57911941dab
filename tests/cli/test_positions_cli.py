"""`positions`: from a preset, a folder, with and without a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from drawing.folders import bert_folder, llama_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("positions")
    llama_folder(place / "llama")
    bert_folder(place / "bert")
    return place


def test_a_preset_needs_no_weights(clearformer) -> None:
    ended = clearformer("positions", "transformer-base", "--out", "p.svg")
    assert ended.out.splitlines()[0] == "encoder: sinusoidal vectors, added to the input"
    assert "256 pairs, wavelengths from 6.3 to 60,611 positions." in ended.out
    assert ended.out.splitlines()[-1] == "p.svg"
    assert "<title>How transformer-base knows its positions</title>" in Path("p.svg").read_text()


def test_learnt_vectors_come_from_a_folder(clearformer, folder) -> None:
    (scheme,) = clearformer("positions", str(folder / "bert"), "--length", "6", "--json").json["schemes"]
    assert (scheme["kind"], scheme["slopes"], len(scheme["table"])) == ("learned", None, 6)
    assert "旋转" in clearformer("--lang", "zh", "positions", str(folder / "llama")).out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("bert-encoder",), "a spec has no weights"),
        (("tiny-gpt", "--length", "1"), "--length: expected a whole number from 2"),
        (("transformer-base", "--out", "p.bmp"), "found p.bmp"),
    ],
)
def test_what_cannot_be_asked(clearformer, arguments, complaint) -> None:
    ended = clearformer("positions", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err

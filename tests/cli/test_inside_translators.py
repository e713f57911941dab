"""Looking inside a model with two sides: it answers first, or is shown what it should have answered."""

from __future__ import annotations

from pathlib import Path

import pytest

SOURCE = "ein Hund"


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_each_part_of_a_translators_attention(clearformer, trained, part) -> None:
    asked = ("attention", str(trained / "translation"), SOURCE, "--part", part)
    told = clearformer(*asked, "--json").json
    assert told["part"] == part
    queries, keys = len(told["tokens"]), len(told["keys"])
    for heads in told["values"]:
        for rows in heads:
            assert (len(rows), len(rows[0])) == (queries, keys)
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in rows)
    if part == "cross":
        assert told["manners"][0][0]["previous"] is None
        assert told["given"] < len(told["tokens"])
    ended = clearformer(*asked, "--out", f"{part}.html")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, f"{part}.html")
    assert ("id='reading'" in Path(f"{part}.html").read_text()) is (part == "cross")


def test_an_encoder_is_asked_for_no_words(clearformer, trained) -> None:
    ended = clearformer("attention", str(trained / "translation"), SOURCE, "--max-new-tokens", "3")
    assert ended.code == 2
    assert "An encoder writes no tokens" in ended.err


def test_the_lens_asks_the_decoder(clearformer, trained) -> None:
    own = clearformer("lens", str(trained / "translation"), SOURCE, "--json").json
    assert own["layers"][0] is None
    # It wrote these itself, the likeliest each time: the last layer has them first.
    assert set(own["ranks"][-1][:-1]) <= {1}
    told = clearformer("lens", str(trained / "translation"), SOURCE, "--target", "one dog", "--json").json
    assert len(told["ranks"][-1]) == len(told["tokens"])
    assert told["truth"][:-1] == told["tokens"][1:]

"""`attention`: the habits of heads, the map of one, and a long text that does not fit the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from drawing.folders import bert_folder, llama_folder

TEXT = "the cat 中 sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("attention")
    llama_folder(place / "llama")
    bert_folder(place / "bert")
    return place


def test_the_map_has_a_row_and_a_column_a_token_and_hides_the_future(clearformer, folder, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    ended = clearformer("attention", str(folder / "llama"), TEXT, "--layer", "1", "--head", "2")
    told = clearformer("attention", str(folder / "llama"), TEXT, "--layer", "1", "--head", "2", "--json").json
    title, header, *rows = ended.out.splitlines()
    assert title.startswith("Layer 1, head 2:")
    tokens = told["tokens"]
    assert (told["layers"], told["heads"], told["files"]) == ([1], [2], [])
    assert header.split() == [token.strip() or "␣" for token in tokens]
    ((values,),) = told["values"]
    assert len(rows) == len(tokens) == len(values)
    for number, (row, weights) in enumerate(zip(rows, values, strict=True)):
        assert sum(weights) == pytest.approx(1, abs=1e-5)
        assert weights[number + 1 :] == [0] * (len(tokens) - number - 1)
        assert row.split()[-number - 1 :] == [f"{weight:.2f}" for weight in weights[: number + 1]]


def test_without_a_choice_every_head_is_summed_up_and_one_is_shown(clearformer, folder) -> None:
    ended = clearformer("attention", str(folder / "llama"), TEXT)
    assert ended.code == 0
    for words in ("entropy in bits", "weight on the token before", "weight on the first token", "weight on itself"):
        assert words in ended.out
    assert ended.out.count("layer \\ head") == 4
    told = clearformer("attention", str(folder / "llama"), TEXT, "--json").json
    assert (told["layers"], told["heads"]) == ([0, 1], [0, 1, 2, 3])
    backward = [
        (sum(head[n][n - 1] for n in range(1, len(head))), layer, number)
        for layer, heads in enumerate(told["values"])
        for number, head in enumerate(heads)
    ]
    _, layer, head = max(backward)
    assert f"Layer {layer}, head {head}:" in ended.out


def test_a_long_text_shows_the_strongest_keys_within_the_screen(clearformer, folder, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = clearformer(
        "attention", str(folder / "llama"), "the cat sat on the mat " * 8, "--layer", "0", "--head", "1"
    )
    title, *rows = ended.out.splitlines()
    assert "then the tokens that it reads most" in title
    assert all(len(row) <= 80 for row in rows)
    assert rows[0].split()[:2] == ["0", "t"]
    assert rows[0].endswith("1.00")


def test_more_heads_than_the_screen_holds_go_under_each_other(clearformer, folder, monkeypatch) -> None:
    def table(columns: str) -> list[str]:
        monkeypatch.setenv("COLUMNS", columns)
        lines = clearformer("attention", str(folder / "llama"), TEXT).out.splitlines()
        return lines[lines.index("") : lines.index("", lines.index("") + 1)]

    whole, parts = table("80"), table("30")
    assert all(len(line) <= 30 for line in parts[2:])
    title, header, first, second = whole[1:]
    assert parts[1:3] == [title, header[: -len("     2     3")]]
    assert [line.split()[1:] for line in parts[3:5]] == [line.split()[1:3] for line in (first, second)]
    assert [line.split()[1:] for line in parts[6:8]] == [line.split()[3:] for line in (first, second)]


def test_a_head_of_a_layer_is_drawn_in_the_format_of_its_name(clearformer, folder) -> None:
    for suffix in ("png", "svg", "html"):
        ended = clearformer("attention", str(folder / "llama"), TEXT, "--head", "1.2", "--out", f"out/map.{suffix}")
        assert ended.code == 0
        assert ended.out.splitlines()[0].startswith("Layer 1, head 2:")
        assert ended.out.splitlines()[-1] == f"out/map.{suffix}"
        assert Path(f"out/map.{suffix}").stat().st_size > 1000
    assert "layer 1, head 2" in Path("out/map.svg").read_text()
    told = clearformer("attention", str(folder / "llama"), TEXT, "--head", "1.2", "--out", "m.svg", "--json").json
    assert (told["layers"], told["heads"], told["files"]) == ([1], [2], ["m.svg"])


def test_what_the_model_writes_is_shown_and_marked(clearformer, folder) -> None:
    told = clearformer("attention", str(folder / "llama"), TEXT, "--max-new-tokens", "3", "--json").json
    plain = clearformer("attention", str(folder / "llama"), TEXT, "--json").json
    assert told["given"] == plain["given"] == len(plain["tokens"]) == len(told["tokens"]) - 3
    assert len(told["values"][0][0]) == len(told["tokens"])


def test_an_encoder_sees_both_ways(clearformer, folder) -> None:
    told = clearformer("attention", str(folder / "bert"), TEXT, "--layer", "0", "--head", "0", "--json").json
    ((values,),) = told["values"]
    assert all(weight > 0 for row in values for weight in row)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--layer", "2"), "no layer 2; the model has 2"),
        (("--head", "4"), "no head 4 in layer 0; it has 4"),
        (("--head", "0.4"), "no head 4 in layer 0; it has 4"),
        (("--head", "one"), "--head: expected a head such as 1"),
        (("--head", "1.1", "--layer", "1"), "--head: expected a head such as 1"),
        (("--part", "cross"), "no cross attention"),
        (("--out", "map.gif"), "one of .png, .svg, .html; found map.gif"),
        (("--layer", "x"), "expected a whole number"),
    ],
)
def test_a_layer_or_head_that_there_is_not(clearformer, folder, options, complaint) -> None:
    ended = clearformer("attention", str(folder / "llama"), TEXT, *options)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


def test_chinese(clearformer, folder) -> None:
    assert "给前一个词元的权重" in clearformer("--lang", "zh", "attention", str(folder / "llama"), TEXT).out

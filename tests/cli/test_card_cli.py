"""`clearformer card`: without torch, in columns of any width, and of files that nobody vouches for."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from card.configs import CLIP, DEEPSEEK, GEMMA3, GPT2, LLAMA, T5

LLAMA_7B = {
    **LLAMA,
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "max_position_embeddings": 4096,
    "mlp_bias": False,
}
CONFIGS = {"clip": CLIP, "deepseek": DEEPSEEK, "gemma3": GEMMA3, "gpt2": GPT2, "llama": LLAMA_7B, "t5": T5}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA_7B))
    return path


def test_a_large_config_is_explained_without_torch(config: Path) -> None:
    code = (
        f"import sys; from clearformer.cli.main import main; code = main(['card', {str(config)!r}, '--json']);"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert "6.7B parameters" in found["summary"]
    (cache,) = [row["cost"] for row in found["rows"] if row["key"] == "num_key_value_heads"]
    # Two kinds, 32 layers, 4,096 numbers of two bytes.
    assert "524,288 B" in cache


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(clearformer, tmp_path, monkeypatch, columns: int, language: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name, config in CONFIGS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(config))
        ended = clearformer("--lang", language, "card", f"{name}.json")
        assert (ended.code, ended.err) == (0, "")
        lines = ended.out.splitlines()
        assert max(map(cell_len, lines)) <= columns
        # Chinese breaks anywhere, but no line begins with a mark that closes.
        assert not any(line.lstrip()[:1] and line.lstrip()[0] in "，。；：、）”" for line in lines)


def test_wider_terminals_need_fewer_lines(clearformer, config: Path, monkeypatch) -> None:
    lengths = []
    for columns in (60, 80, 110):
        monkeypatch.setenv("COLUMNS", str(columns))
        lengths.append(len(clearformer("card", "config.json").out.splitlines()))
    assert lengths == sorted(set(lengths), reverse=True)


def test_a_folder_with_nothing_but_its_config(clearformer, config: Path, tmp_path: Path) -> None:
    assert clearformer("card", ".", "--json").json["rows"] == clearformer("card", "config.json", "--json").json["rows"]


def test_text_and_json_say_the_same_in_both_languages(clearformer, config: Path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    for language in ("en", "zh"):
        found = clearformer("--lang", language, "card", "config.json", "--json").json
        said = "".join(clearformer("--lang", language, "card", "config.json").out.split())
        for row in found["rows"]:
            for field in ("key", "meaning", *(("in_2017", "why", "cost") if row["section"] != "bookkeeping" else ())):
                assert row[field] == "–" or "".join(row[field].split()) in said, row


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", '{"a": 1, "a": 2}', "{" * 100, '{"type": "DecoderOnly"}', '{"type": "Stack", "blocks": 5}'],
)
def test_what_describes_no_model_is_an_error_of_two_lines(clearformer, tmp_path: Path, content: str) -> None:
    (tmp_path / "odd.json").write_text(content)
    ended = clearformer("card", "odd.json")
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 2


def test_names_that_lead_nowhere_are_wrong_calls(clearformer) -> None:
    assert clearformer("card", "missing.json").code == 1
    ended = clearformer("card", "nothing-of-that-name")
    assert (ended.code, len(ended.err.splitlines())) == (2, 2)


def test_a_hostile_config_cannot_steer_the_terminal(clearformer, tmp_path: Path) -> None:
    wild = {**LLAMA, "\x1b[31mred": "\x1b]0;title\x07", "name\nwith": ["\u202e", "\x9b"], "big": 10**4000, "": ""}
    wild |= {"hidden_act": "\x1b[2J", "rms_norm_eps": float("nan"), "rope_scaling": {"\x1b": {"\x1b": []}}}
    (tmp_path / "wild.json").write_text(json.dumps(wild))
    for language in ("en", "zh"):
        ended = clearformer("--lang", language, "card", "wild.json")
        assert ended.code == 0
        assert not [letter for letter in ended.out if not letter.isprintable() and letter != "\n"]
        assert max(map(len, ended.out.splitlines())) <= 110
        assert clearformer("--lang", language, "card", "wild.json", "--json").json["refused"]


VALUES = [None, True, -1, 0, 1, 3, 2**31, 2**70, 0.5, -0.0, 1e308, float("inf"), float("nan"), "", "silu", "x" * 5000]
VALUES += [[], [1], [[]], [None] * 2000, {}, {"a": {}}, {"rope_type": "yarn"}, {"model_type": "llama"}, ["gelu", 1]]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_mutated_config_is_explained_or_refused_by_name(clearformer, tmp_path: Path, seed: int) -> None:
    """Whatever stands under a key, there is a card: what is wrong with it is said on it."""
    chance = random.Random(seed)
    for _ in range(150 if seed == 0 else 2000):
        config = dict(chance.choice(list(CONFIGS.values())))
        for key in chance.sample(sorted(config), chance.randint(1, 4)):
            config[key] = chance.choice(VALUES)
        (tmp_path / "mutated.json").write_text(json.dumps(config))
        flags = ["--json"] if chance.random() < 0.5 else []
        ended = clearformer("--lang", chance.choice(["en", "zh"]), "card", "mutated.json", *flags)
        assert ended.code == 0, (config, ended.err, ended.out[:300])

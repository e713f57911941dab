"""docs/json.md names exactly the keys that `--json` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clearformer.checkpoint.manifest import write_manifest
from clearformer.lab import team
from clearformer.lab.experiments import find
from drawing.folders import bert_folder, llama_folder
from drawing.short_training import shorten
from drawing.training_data import PLAIN, TINY
from lab.lab_trials import OWN, Here

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"


def documented(command: str) -> set[str]:
    """The first column of the table under the command's heading."""
    section = DOCUMENT.read_text(encoding="utf-8").split(f"## `{command}`\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, flags=re.MULTILINE))


def keys(value: object, path: str = "") -> set[str]:
    """Dotted paths of an object's keys; `[]` steps into a list, whose items must agree."""
    if isinstance(value, list):
        return set().union(*(keys(item, f"{path}[]") for item in value))
    if not isinstance(value, dict):
        return set()
    found = {f"{path}.{key}".lstrip(".") for key in value}
    return found.union(*(keys(item, f"{path}.{key}".lstrip(".")) for key, item in value.items()))


OPEN = ("packages", "dtypes", "demos[].figures", "trace", "experiment", "arms[].facts", "formulas", "work.lengths")
OPEN += ("parameters.by_part", "flops.by_part")


# Every position reads the mean of all.
UNMASKED = """
from torch import nn
class Unmasked(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
    def forward(self, ids):
        hidden = self.table(ids)
        return self.head(hidden + hidden.mean(1, keepdim=True))
"""

# What this machine or a good run does not have.
ABSENT = ("speed.", "backends[].", "accelerators[].", "left_out[].", "rows[].odd[].", "claims[].", "arms[].further[].")


@pytest.fixture(scope="module")
def small_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    llama_folder(folder / "smollm2-135m")
    bert_folder(folder / "minilm-l6")
    return folder


@pytest.fixture
def runs(home, small_models, tmp_path, monkeypatch):
    """Runs go before built-in models of the same name; those that the tour makes are short."""
    Path("runs").symlink_to(small_models)
    shorten(monkeypatch, tmp_path)


@pytest.fixture
def model(home):
    folder = home / "models" / "toy"
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(b"{}")
    write_manifest(folder, "wheel toy==1")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("demo", ["1", "--break", "no-scale"]),
        ("tokenizer train", ["corpus.txt", "--vocab-size", "256"]),
        ("tokenizer encode", ["small", "a"]),
        ("tokenizer decode", ["small", "65"]),
        ("tour", []),
        ("trace", ["smollm2-135m", "the cat"]),
        ("attention", ["smollm2-135m", "the cat"]),
        ("lens", ["smollm2-135m", "the cat"]),
        ("positions", ["smollm2-135m", "--length", "8"]),
        ("lab --list", []),
        ("lab", ["toy.yaml", "--seeds", "2", "--out", "trials"]),
        ("cost", ["smollm2-135m", "--generate", "4+2", "--fit", "1GB", "--compare", "tiny-gpt"]),
        ("card", ["odd.json"]),
        ("verify", ["smollm2-135m", "--against", "numpy"]),
        (
            "doctor",
            ["unmasked.py:Unmasked", "--kind", "decoder", "--vocab", "20", "--only", "K01", "K17", "--symptom", "1"],
        ),
        ("bench decode", ["--busy-ok", "--prompt", "4", "--new", "2", "--runs", "1"]),
        ("bench attention", ["--busy-ok", "--lengths", "16", "--heads", "2", "--runs", "1"]),
        ("bench cache", ["--busy-ok", "--lengths", "4,8", "--new", "2", "--runs", "1"]),
        ("bench taps", ["--busy-ok", "--lengths", "4", "--runs", "1"]),
        ("bench train", ["--busy-ok", "--shape", "char", "--steps", "1", "--runs", "1", "--vs", "nn"]),
        ("export", ["smollm2-135m", "out.gguf", "--type", "q8_0"]),
        ("ls", []),
        ("show", ["toy"]),
        ("rm", ["toy"]),
        ("env", []),
    ],
)
def test_the_keys_are_those_of_the_document(
    clearformer, tokenizer_folder, model, runs, command, arguments, monkeypatch
) -> None:
    Path("corpus.txt").write_text("abc")
    Path("toy.yaml").write_text(OWN)
    monkeypatch.setattr(team, "team_of", lambda source, count: Here(find(source)).hired(count))
    Path("odd.json").write_text('{"model_type": "llama", "hidden_size": 5, "num_attention_heads": 2, "unheard": 1}')
    Path("unmasked.py").write_text(UNMASKED)
    found = keys(clearformer(*command.split(), *arguments, "--json").json)
    expected = documented(command)
    assert {key for key in found if not key.startswith(tuple(f"{name}." for name in OPEN))} == {
        key for key in expected if not key.startswith(ABSENT)
    }


@pytest.mark.parametrize(
    ("command", "arguments", "open_"),
    [
        ("train", ["language", "--data", "data/words.txt", *TINY["language"], *PLAIN, "--steps", "2"], ()),
        ("train --dry-run", ["language", "--data", "data/words.txt", *TINY["language"], "--steps", "2"], ("data",)),
        ("evaluate", ["translation"], ("metrics",)),
        ("evaluate", ["classification", "--plot", "seen.png"], ("metrics",)),
        ("translate", ["translation", "ein Hund", "--reference", "truth.en"], ()),
        ("forecast", ["forecasting", "--data", "data/waves.csv", "--hold-out"], ("outputs[].output",)),
        ("classify", ["classification", "good film"], ("outputs[].scores",)),
        ("classify", ["vision", "data/shades/dark/0.png"], ("outputs[].scores",)),
        ("fill", ["masked", "the c[MASK]t"], ()),
        ("export", ["language", "out"], ()),
    ],
)
def test_the_keys_of_trained_verbs_are_those_of_the_document(clearformer, trained, command, arguments, open_) -> None:
    Path("data").symlink_to(trained / "data")
    Path("truth.en").write_text("one dog\n")
    if not command.startswith("train"):
        arguments = [str(trained / arguments[0]), *arguments[1:]]
    verb, *flags = command.split()
    found = keys(clearformer(verb, *arguments, *flags, "--json").json)
    assert {key for key in found if not key.startswith(tuple(f"{name}." for name in open_))} == documented(command)


def test_an_error_has_the_documented_keys(clearformer) -> None:
    assert keys(clearformer("pull", "--json").json) == documented("any failure")

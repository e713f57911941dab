"""docs/json.md names exactly the keys that `--json` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clearformer.checkpoint.manifest import write_manifest

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


OPEN = ("packages", "dtypes", "demos[].figures")


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
        ("ls", []),
        ("show", ["toy"]),
        ("rm", ["toy"]),
        ("env", []),
    ],
)
def test_the_keys_are_those_of_the_document(clearformer, tokenizer_folder, model, command, arguments) -> None:
    Path("corpus.txt").write_text("abc")
    found = keys(clearformer(*command.split(), *arguments, "--json").json)
    expected = documented(command)
    assert {key for key in found if not key.startswith(tuple(f"{name}." for name in OPEN))} == {
        key for key in expected if not key.startswith(("speed.", "accelerators[]."))
    }


def test_an_error_has_the_documented_keys(clearformer) -> None:
    assert keys(clearformer("pull", "--json").json) == documented("any failure")

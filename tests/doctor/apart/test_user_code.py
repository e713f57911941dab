"""From a place in code to an object, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from clearformer.doctor.apart.user_code import callable_at, is_code, made_by
from clearformer.errors import UsageError
from clearformer.messages.doctor_process import ROLES

CODE = """
from torch import nn
class Small(nn.Module):
    pass
class Collator:
    def __call__(self, examples):
        return examples
whole = nn.Linear(2, 2)
def build():
    return Small()
def both():
    return "tokenizer", Small()
def sized(width, depth=2):
    return Small()
def text():
    return "model"
def broken():
    return Small() + 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some_model.py"
    path.write_text(CODE, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["whole", "Small", "build", "both"])
def test_a_module_a_class_a_function_or_a_tuple_gives_the_module(file: Path, name: str) -> None:
    assert isinstance(made_by(f"{file}:{name}", nn.Module, ROLES["model"]), nn.Module)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sized", r"needs arguments: width\."),
        ("text", "expected an nn.Module, found str"),
        ("broken", r"raised TypeError at some_model\.py:18"),
        ("biuld", r"Did you mean build"),
    ],
)
def test_what_is_wrong_is_named(file: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made_by(f"{file}:{name}", nn.Module, ROLES["model"])


def test_a_file_of_a_package_is_imported_as_part_of_it(tmp_path: Path) -> None:
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("WIDTH = 3\n")
    (package / "net.py").write_text(
        "from torch import nn\nfrom .sizes import WIDTH\ndef build():\n    return nn.Linear(WIDTH, 1)\n"
    )
    assert made_by(f"{package / 'net.py'}:build", nn.Module, ROLES["model"]).in_features == 3


def test_a_file_named_as_a_module_of_python_does_not_replace_it(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("from torch import nn\nbuild = nn.Identity\n")
    made_by(f"{tmp_path / 'random.py'}:build", nn.Module, ROLES["model"])
    import random

    assert random.random() < 1


def test_a_class_without_arguments_becomes_an_object(file: Path) -> None:
    assert callable_at(f"{file}:Collator")([1]) == [1]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import not_there_at_all", "ModuleNotFoundError"),
        ("x = (", "SyntaxError at"),
        ("1 / 0", "ZeroDivisionError at wrong.py:1"),
    ],
)
def test_an_import_that_raises(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "wrong.py").write_text(source + "\n")
    with pytest.raises(UsageError, match=said):
        made_by(f"{tmp_path / 'wrong.py'}:build", nn.Module, ROLES["model"])


@pytest.mark.parametrize("target", ["absent.py:build", "absent_module:build"])
def test_what_is_not_there(target: str) -> None:
    with pytest.raises(UsageError, match="There is no"):
        made_by(target, nn.Module, ROLES["model"])


@pytest.mark.parametrize(
    ("target", "code"),
    [("m.py:build", True), ("a.b:c", True), ("org/name", False), ("runs/x", False), ("org/name:Q4_K_M", False)],
)
def test_what_is_a_place_in_code(target: str, code: bool) -> None:
    assert is_code(target) is code

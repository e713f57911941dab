"""The import table of docs/architecture.md, read from the document and held against the imports themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "clearformer"
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FOUNDATIONS = {"errors", "messages", "shapes", "spec"}
FOUNDED_ON: dict[str, set[str]] = {
    "messages": set(),
    "shapes": set(),
    "errors": {"messages"},
    "spec": {"errors", "messages", "shapes"},
}
LONGEST_FILE, LONGEST_FUNCTION = 300, 60
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def table() -> dict[str, set[str]]:
    """Each room of the document's block, and what its line names."""
    block = re.search(r"```imports\n(.*?)```", DOCUMENT, re.S)
    assert block is not None
    lines = [line.split(":") for line in block.group(1).splitlines()]
    return {room.strip(): set(named.split()) for room, named in lines}


def allowed(room: str) -> set[str]:
    """What a room may import: the foundations, and what its line names with what that may import."""
    if room in FOUNDED_ON:
        return FOUNDED_ON[room]
    named = table()[room]
    if named == {"*"}:
        return FOUNDATIONS | (table().keys() - {room})
    return FOUNDATIONS.union(named, *(allowed(each) for each in named))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at the top or inside a function, for typing or for use."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative imports hide which room is meant"
            assert node.module is not None
            own = node.module == "clearformer"
            yield from (f"clearformer.{alias.name}" for alias in node.names) if own else (node.module,)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms() -> list[str]:
    return sorted({room_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__", "__main__"})


def edges(room: str) -> dict[str, str]:
    """The rooms that a room imports, each with a file that does."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if room_of(path) == room:
            for name in imports(path):
                if name.startswith("clearformer.") and (target := name.split(".")[1]) != room:
                    found[target] = str(path.relative_to(PACKAGE))
    return found


def test_every_room_has_a_line() -> None:
    assert not set(rooms()) - table().keys() - FOUNDATIONS


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_what_the_table_allows(room: str) -> None:
    beyond = {target: path for target, path in edges(room).items() if target not in allowed(room)}
    assert not beyond, f"{room} may not import: {beyond}"


def test_the_document_draws_every_room_and_names_the_later_ones() -> None:
    """What it draws exists; what its table has beyond that is said to come later."""
    drawn = set(re.findall(r"^      (\w+)(?:/|\.py) ", DOCUMENT, re.M)) - {"__init__", "__main__"}
    later = re.search(r"rooms of later versions[^:]*:([^.]*)\.", DOCUMENT)
    assert later is not None
    assert drawn == set(rooms())
    assert set(re.findall(r"`(\w+)`", later.group(1))) == table().keys() - drawn


def test_the_table_has_no_cycle() -> None:
    for room, named in table().items():
        if named != {"*"}:
            assert room not in allowed(room)


def test_the_rooms_have_no_cycle() -> None:
    graph = {room: set(edges(room)) for room in rooms()}
    while graph:
        free = {room for room, targets in graph.items() if not targets & graph.keys()}
        assert free, f"these import each other: {sorted(graph)}"
        graph = {room: targets for room, targets in graph.items() if room not in free}


def test_nothing_inside_imports_the_package_itself() -> None:
    """`from clearformer import x` is meant for rooms; a public name would go through the package's front door."""
    for path in PACKAGE.rglob("*.py"):
        names = {name for name in imports(path) if name.startswith("clearformer")}
        assert "clearformer" not in names, path
        assert not {name.split(".")[1] for name in names} - set(rooms()), path


def test_no_import_is_hidden_from_this_test() -> None:
    """Modules are named by import statements; only the package's front door imports by a computed name."""
    for path in PACKAGE.rglob("*.py"):
        called = {getattr(node.func, "id", getattr(node.func, "attr", "")) for node in calls(path)}
        assert path == PACKAGE / "__init__.py" or not called & {"import_module", "__import__"}, path


def calls(path: Path) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call))


def torch_free() -> list[str]:
    line = re.search(r"These never import torch: `([^`]*)`", DOCUMENT)
    assert line is not None
    return line.group(1).split()


@pytest.mark.parametrize("place", torch_free())
def test_torch_free_rooms_import_no_torch_and_no_room_that_does(place: str) -> None:
    free = set(torch_free())
    paths = [PACKAGE / f"{place}.py"] if (PACKAGE / f"{place}.py").exists() else sorted((PACKAGE / place).rglob("*.py"))
    assert paths
    for path in paths:
        for name in imports(path):
            assert name.split(".")[0] != "torch", path
            if name.startswith("clearformer."):
                room, *inside = name.split(".")[1:]
                assert room in free or "/".join([room, *inside[:1]]) in free, f"{path} imports {name}"


@pytest.mark.parametrize("path", python_files("src", "tests", "examples"), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short_and_well_named(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    assert path.stem not in VAGUE
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno + 1 <= LONGEST_FUNCTION, node.name


def test_a_planted_import_is_caught(tmp_path: Path) -> None:
    """An import inside a function counts like one at the top."""
    lazy = tmp_path / "lazy.py"
    lazy.write_text("def f():\n    from clearformer.cli import main\n    import torch\n", encoding="utf-8")
    assert list(imports(lazy)) == ["clearformer.cli", "torch"]
    assert "cli" not in allowed("layers")
    assert "generate" not in allowed("model")
    assert "layers" in allowed("build")

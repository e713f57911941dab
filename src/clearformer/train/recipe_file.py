"""A recipe as YAML with comments, and back; dotted options go before the file, and the file before the defaults."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml

from clearformer.errors import UsageError
from clearformer.messages import train as say
from clearformer.spec.typed import Reader, choices_of, defaults_of, options_of, types_within, write
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_checks import check_recipe
from clearformer.train.recipe_docs import field_docs

R = TypeVar("R", bound=Recipe)
_WIDTH = 100
# The largest recipe, with a spec in full, has some thousand.
_MOST_VALUES = 100_000
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def read_recipe(
    kinds: type[R] | tuple[type[R], ...], path: Path | None, overrides: Iterable[tuple[str, str]] = ()
) -> R:
    """The recipe of a file (None: of the defaults) with dotted options such as ("optimizer.lr", "3e-4").

    With several `kinds` the file's `type` says which it is. Raises UsageError, naming what is not understood.
    """
    if path is None:
        return parse_recipe(kinds, "", overrides)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(say.RECIPE_UNREADABLE, path=path, detail=error) from error
    return parse_recipe(kinds, text, overrides, path)


def parse_recipe(
    kinds: type[R] | tuple[type[R], ...],
    text: str,
    overrides: Iterable[tuple[str, str]] = (),
    path: Path | str = "recipe.yaml",
) -> R:
    """The recipe that a YAML text describes. Raises UsageError."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    given = mapping_of(text, path)
    named = {kind.__name__: kind for kind in kinds}
    kind = kinds[0] if len(kinds) == 1 else named.get(given.get("type", ""))
    if kind is None or given.get("type", kind.__name__) != kind.__name__:
        raise UsageError(say.WRONG_RECIPE, path=path, expected=", ".join(named), found=given.get("type"))
    data = _merged(defaults_of(kind), {name: value for name, value in given.items() if name != "type"})
    for name, value in sorted(overrides, key=_types_first):
        data = _merged(data, _nested(name, value))
    data["budget"] = seconds_of(data.get("budget"))
    if isinstance(data["budget"], str) and not re.fullmatch(r"[\d.eE+-]+|null|none|None|", data["budget"].strip()):
        raise UsageError(say.BAD_BUDGET, found=data["budget"])
    recipe: R = _TextReader(types_within(kind), UsageError, implied=True).read(data, kind, kind.__name__, "")
    check_recipe(recipe)
    return recipe


def differences(kept: Recipe, asked: Recipe) -> list[tuple[str, object, object]]:
    """Dotted fields in which two recipes differ, with both values."""
    one, other = _leaves(write(kept)), _leaves(write(asked))
    absent = "–"
    fields = [*one, *(name for name in other if name not in one)]
    pairs = [(name, one.get(name, absent), other.get(name, absent)) for name in fields]
    return [(name, old, new) for name, old, new in pairs if old != new]


def write_recipe(recipe: Recipe) -> str:
    """The whole recipe, defaults included, as a commented YAML text that `parse_recipe` reads back as it was."""
    return "\n".join(_lines(recipe, ())) + "\n"


def _lines(value: Any, choices: Iterable[str]) -> list[str]:
    """A dataclass as lines of YAML; `choices` are the types that may stand there. A type that is alone is not named."""
    kind, choices = type(value), list(choices)
    annotations, docs = typing.get_type_hints(kind), field_docs(kind)
    lines = _comment(inspect.cleandoc(kind.__doc__ or ""))
    lines += _comment(f"One of {', '.join(choices)}.") if len(choices) > 1 else []
    lines += [f"type: {kind.__name__}"] if len(choices) != 1 or not dataclasses.fields(kind) else []
    for field in dataclasses.fields(kind):
        inner = getattr(value, field.name)
        lines += _comment(docs.get(field.name, ""))
        if dataclasses.is_dataclass(inner):
            lines += [f"{field.name}:", *(f"  {line}" for line in _lines(inner, choices_of(annotations[field.name])))]
        else:
            lines += [f"{field.name}: {_scalar(inner)}"]
    return lines


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH)]


def _scalar(value: object) -> str:
    """One value on one line."""
    plain = str(value) if isinstance(value, Path) else write(value)
    written: str = yaml.dump(
        plain, Dumper=_Dumper, default_flow_style=True, width=10**9, allow_unicode=True, sort_keys=False
    )
    return written.removesuffix("...\n").strip()


class _TextReader(Reader):
    """Takes what YAML and the command line make of a value: 3e-4 is text to YAML, `no` is false, and Muon is a type."""

    def read(self, data: object, expected: Any, owner: str, field: str) -> Any:
        options = options_of(expected)
        if type(None) in options and data in ("null", "none", "None"):
            data = None
        if isinstance(data, str) and data in choices_of(expected):
            data = {"type": data}
        if isinstance(data, str) and any(typing.get_origin(option) is tuple for option in options):
            parsed = yaml.safe_load(data)
            data = parsed if isinstance(parsed, list) else data.split(",")
        return super().read(data, expected, owner, field)

    def plain(self, data: object, option: Any) -> Any:
        if typing.get_origin(option) is typing.Literal:
            word = {True: "yes", False: "no"}[data] if isinstance(data, bool) else data
            return word if word in typing.get_args(option) else None
        if option in (str, Path):
            named = isinstance(data, str | int | float) and not isinstance(data, bool) and _writable(str(data))
            return option(str(data)) if named else None
        if option is bool and isinstance(data, str):
            return {"true": True, "yes": True, "false": False, "no": False}.get(data.lower())
        if option is int and isinstance(data, str | float):
            number = _number(data)
            return int(number) if number is not None and number.is_integer() else None
        if option is float and isinstance(data, str):
            return _number(data)
        return super().plain(data, option)


def _writable(text: str) -> bool:
    """False for half a character and for NUL, which neither a path nor a recipe file can hold."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _number(data: object) -> float | None:
    try:
        return float(str(data))
    except ValueError:
        return None


def _merged(base: Any, change: Any) -> Any:
    """`change` over `base`, object by object; another type starts from its own defaults."""
    if isinstance(base, str) and isinstance(change, dict):
        base = {"type": base}
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    if change.get("type", base.get("type")) != base.get("type"):
        return change
    return {**base, **{name: _merged(base.get(name), value) for name, value in change.items()}}


def _nested(name: str, value: object) -> dict[str, Any]:
    first, dot, rest = name.partition(".")
    return {first: _nested(rest, value) if dot else value}


def _types_first(override: tuple[str, str]) -> tuple[int, bool]:
    """Outer options before inner ones and a type before its fields, so that none is dropped by the order given."""
    name = override[0]
    return name.count("."), not name.endswith("type")


def seconds_of(budget: object) -> object:
    """90s, 10m or 1h in seconds; anything else as it is."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", budget.strip()) if isinstance(budget, str) else None
    return float(found[1]) * _UNITS[found[2]] if found else budget


def _leaves(data: Any, prefix: str = "") -> dict[str, object]:
    if not isinstance(data, dict):
        return {prefix: data}
    return {
        name: value
        for key, inner in data.items()
        for name, value in _leaves(inner, f"{prefix}.{key}".lstrip(".")).items()
    }


class _Dumper(yaml.SafeDumper):
    """Writes text with line ends that only Unicode knows (NEL, line and paragraph separators) quoted and escaped: left
    bare, they are read back as spaces."""


def _written(dumper: _Dumper, text: str) -> yaml.Node:
    quoted = '"' if any(end in text for end in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quoted)


_Dumper.add_representer(str, _written)


class _Loader(yaml.SafeLoader):
    """YAML in which a key given twice is an error, and aliases must not unfold to more than any recipe holds."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _unfolded(node, {}) > _MOST_VALUES:
            raise _Unfolds
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise yaml.constructor.ConstructorError(None, None, f"{twice} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


class _Unfolds(Exception):  # noqa: N818 - told as a UsageError
    """Ten lines of aliases of aliases are a billion values."""


def _unfolded(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node holds, each alias counted as what it stands for; one within itself as one."""
    if id(node) not in known:
        known[id(node)] = 1
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        parts = [part for each in inner for part in (each if isinstance(each, tuple) else (each,))]
        known[id(node)] += sum(_unfolded(part, known) for part in parts)
    return known[id(node)]


def mapping_of(text: str, path: Path | str) -> dict[str, Any]:
    """The names and values of a YAML text, each name once. Raises UsageError."""
    try:
        data = yaml.load(text, _Loader)
    except _Unfolds:
        raise UsageError(say.RECIPE_NOT_YAML, path=path, detail=say.RECIPE_UNFOLDS, most=_MOST_VALUES) from None
    except RecursionError:
        raise UsageError(say.RECIPE_NOT_YAML, path=path, detail=say.RECIPE_TOO_DEEP) from None
    except (yaml.YAMLError, ValueError) as error:
        # A day such as 2020-13-45 is a bare ValueError.
        raise UsageError(say.RECIPE_NOT_YAML, path=path, detail=" ".join(str(error).split())) from error
    if not isinstance(data, dict | None):
        raise UsageError(say.RECIPE_NOT_YAML, path=path, detail=repr(data))
    return {str(key): value for key, value in (data or {}).items()}

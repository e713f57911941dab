"""From `my_model.py:build` or `pkg.module:build` to the object that it names."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pkgutil
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from clearformer.errors import UsageError
from clearformer.messages import Failure, Message, did_you_mean
from clearformer.messages import doctor_process as say

_PYTHON = Path(sysconfig.get_paths()["stdlib"])
_DEEPEST = 20
_OFFLINE = ("NetworkRefused", "OfflineModeIsEnabled", "LocalEntryNotFoundError")
"""Ours, and those by which libraries say that they may not ask the network."""
_NO_MEMORY = ("Cannot allocate memory", "can't allocate memory", "out of memory")


def is_code(target: str) -> bool:
    """Whether a target is a place in code: `file.py:name` or `pkg.module:name`."""
    place, colon, name = target.rpartition(":")
    return bool(colon) and name.isidentifier() and (place.endswith(".py") or _dotted(place))


def found_at(target: str) -> Any:
    """The object that a target names. Raises UsageError, naming the line of the user's file where its import fails."""
    place, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise UsageError(say.NO_FUNCTION_NAMED, target=target)
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    if not hasattr(module, name):
        own = [each for each, value in vars(module).items() if callable(value) and not each.startswith("_")]
        near = did_you_mean(name, own)
        known = ", ".join(own[:12]) or "–"
        raise UsageError(say.NO_SUCH_FUNCTION, place=place, name=name, known=known, near=near)
    return getattr(module, name)


def made_by(target: str, kind: type, role: Message) -> Any:
    """An object of `kind`: the target itself, or what it makes when it is called without arguments."""
    made = found_at(target)
    if isinstance(made, kind):
        return made
    if not callable(made):
        raise UsageError(say.MAKES_OTHER, target=target, role=role, found=_what(made))
    if needed := _required(made):
        raise UsageError(say.WANTS_ARGUMENTS, target=target, needed=", ".join(needed))
    try:
        made = made()
    except Exception as error:
        raise failed(say.RAISED, target, error) from error
    if isinstance(made, tuple | list):
        made = next((each for each in made if isinstance(each, kind)), made)
    if not isinstance(made, kind):
        raise UsageError(say.MAKES_OTHER, target=target, role=role, found=_what(made))
    return made


def callable_at(target: str) -> Any:
    """A function, or an object of a class that takes no arguments and can be called."""
    found = found_at(target)
    if inspect.isclass(found) and not _required(found):
        try:
            found = found()
        except Exception as error:
            raise failed(say.RAISED, target, error) from error
    return found


def _what(made: object) -> str:
    return f"class {made.__name__}" if isinstance(made, type) else type(made).__name__


def failed(failure: Failure, target: str, error: BaseException) -> UsageError:
    """What the user's code raised; where it wanted what it is not given, the option that gives it."""
    values = {"target": target, **described(error)}
    if os.environ.get("HF_HUB_OFFLINE") == "1" and any(type(each).__name__ in _OFFLINE for each in _chain(error)):
        return UsageError(say.WANTED_NETWORK, **values)
    return UsageError(say.WANTED_MEMORY if _wants_memory(error) else failure, **values)


def described(error: BaseException) -> dict[str, object]:
    """What was raised, in one line, and where in the user's own files."""
    own = Path(__file__).parents[2]
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [each for each in frames if _is_theirs(each.filename, own)]
    last = theirs[-1] if theirs else None
    place = f"{Path(last.filename).name}:{last.lineno}" if last else "?"
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{Path(error.filename).name}:{error.lineno}"
    detail = " ".join(str(error).split()) or "–"
    return {"kind": type(error).__name__, "detail": detail.rstrip("."), "place": place}


def _is_theirs(filename: str, own: Path) -> bool:
    """Of the frames of a call: those that neither we nor Python nor a package wrote."""
    path = Path(filename)
    foreign = (
        own in path.parents or _PYTHON in path.parents or not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    )
    return path.is_file() and not foreign


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it came of."""
    for _ in range(_DEEPEST):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _wants_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)


def _dotted(place: str) -> bool:
    return bool(place) and all(part.isidentifier() for part in place.split("."))


def _required(made: Any) -> list[str]:
    """Arguments that must be given."""
    try:
        parameters = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):
        return []
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in parameters if each.default is each.empty and each.kind not in free]


def _from_file(path: Path) -> ModuleType:
    path = path.expanduser()
    if not path.is_file():
        raise UsageError(say.NO_SUCH_FILE, path=path)
    path = path.resolve()
    root, name = _package_of(path)
    for folder in (str(Path.cwd()), str(root)):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if "." in name:
        return _from_name(name)
    # A file called random.py must not become the module that others import by that name.
    name = name if loaded is None and name not in sys.stdlib_module_names else f"_examined_{name}"
    if (known := sys.modules.get(name)) is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise failed(say.IMPORT_RAISED, path.name, error) from error
    return module


def _package_of(path: Path) -> tuple[Path, str]:
    """The folder to import from, and the dotted name in it: a file in a package is imported as part of it."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts if path.stem != "__init__" else parts[:-1])


def _from_name(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not _dotted(name):
        raise UsageError(say.NO_SUCH_FILE, path=name)
    try:
        module = pkgutil.resolve_name(name + ":")
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(say.NO_SUCH_MODULE, name=name) from error
        raise failed(say.IMPORT_RAISED, name, error) from error
    except Exception as error:
        raise failed(say.IMPORT_RAISED, name, error) from error
    assert isinstance(module, ModuleType)
    return module

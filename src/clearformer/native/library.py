"""The compiled library: where it is, whether it is ours, and why not where it is not used."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clearformer.errors import MachineError
from clearformer.messages import Message
from clearformer.messages import native as say
from clearformer.native import building, structures

_SAME = {"AMD64": "x86_64", "aarch64": "arm64"}


@dataclass(frozen=True)
class Found:
    """`paths` are the instruction sets that it holds for this processor, the fastest first; `why` there is none."""

    file: Path
    paths: tuple[str, ...] = ()
    why: Message | None = None
    handle: Any = None


def look(file: Path = building.LIBRARY) -> Found:
    """Load the library of a file, or say what keeps it from being used; nothing is raised."""
    if not file.exists():
        return Found(file, why=say.NO_COMPILER if building.compiler() is None else say.NOT_BUILT)
    try:
        handle = ctypes.CDLL(str(file))
        if (abi := handle.cf_abi()) != structures.ABI:
            return Found(file, why=say.filled(say.OTHER_ABI, found=abi, expected=structures.ABI))
        structures.declare(handle)
    except (OSError, AttributeError) as error:
        return Found(file, why=say.filled(say.NOT_LOADED, detail=str(error).removeprefix(f"{file}: ")))
    here = _SAME.get(platform.machine(), platform.machine())
    if (built_for := handle.cf_architecture().decode()) != here:
        return Found(file, why=say.filled(say.OTHER_MACHINE, found=built_for, expected=here))
    if _sizes(handle) != [ctypes.sizeof(each) for each in structures.STRUCTURES]:
        return Found(file, why=say.OTHER_SOURCES)
    return Found(file, tuple(handle.cf_paths().decode().split()), None, handle)


@cache
def found() -> Found:
    """The package's own library, looked for once."""
    return look()


def handle() -> Any:
    """The loaded library. Raises MachineError, saying why there is none."""
    if (here := found()).handle is None:
        assert here.why is not None
        raise MachineError(say.NO_LIBRARY, why=here.why)
    return here.handle


def check(done: object) -> None:
    """Raises MachineError for a call that failed."""
    if done is None or (isinstance(done, int) and done < 0):
        words = handle().cf_failure().decode()
        raise MachineError(say.NO_MEMORY if words == "memory" else say.REFUSED, detail=words)


def _sizes(library: Any) -> list[int]:
    room = (ctypes.c_int32 * len(structures.STRUCTURES))()
    count = library.cf_sizes(room, len(room))
    return list(room) if count == len(room) else []

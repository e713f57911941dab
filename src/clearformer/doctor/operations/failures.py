"""An error that a forward pass raised, read: what kind it is, where it was raised, and which axes its numbers are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from torch import nn

from clearformer.doctor.operations.places import FOREIGN

KINDS: tuple[tuple[str, str], ...] = (
    (r"view size is not compatible", "view of non-contiguous"),
    (r"in-?place operation|leaf Variable that requires grad", "in-place change breaks the gradient"),
    (r"same device|on device|device type", "devices disagree"),
    (r"same dtype|scalar type|expected .* dtype|dtype .* but", "number types disagree"),
    (r"index out of range|out of bounds for dimension|device-side assert", "index beyond the table"),
    (r"size|shape|dimension|unpack|broadcast|subscript|dims|normalized_shape", "shapes disagree"),
)
"""What an error's words tell, first that fits."""

OTHER = "forward raises"
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


@dataclass(frozen=True)
class Failed:
    cause: str
    kind: str
    message: str
    place: str | None
    axes: tuple[tuple[int, str], ...]
    """Sizes in the message, and what has that size: `11` is "T"."""


def read(error: Exception, module: nn.Module, sizes: dict[str, int]) -> Failed:
    """`sizes` are those of the inputs by their letter; the module's own widths are looked up."""
    message = str(error).strip().split("\n")[0][:240]
    cause = next((cause for pattern, cause in KINDS if re.search(pattern, message, re.IGNORECASE)), OTHER)
    known = {**{size: name for name, size in _widths(module).items()}, **{size: name for name, size in sizes.items()}}
    numbers = dict.fromkeys(int(each) for each in re.findall(r"\d+", message.replace("x", " x ")))
    axes = tuple((each, known[each]) for each in numbers if each in known and each > 1)
    return Failed(cause, type(error).__name__, message, _place(error.__traceback__, module), axes)


def refuses(error: Exception) -> bool:
    """Whether the user's own code refuses what it is given, rather than running into an error of a tensor's."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    torchs = traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(FOREIGN)
    return (
        isinstance(error, ValueError | AssertionError | NotImplementedError)
        and not torchs
        and not (re.search("unpack", str(error)))
    )


def _widths(module: nn.Module) -> dict[str, int]:
    """The module's own sizes by letter: V, D, F, P, and heads H with their width."""
    found: dict[str, int] = {}
    tables = [each for each in module.modules() if isinstance(each, nn.Embedding)]
    linears = [each for each in module.modules() if isinstance(each, nn.Linear)]
    if linears:
        found["F"] = max(max(each.in_features, each.out_features) for each in linears)
    if tables:
        found |= {"V": max(each.num_embeddings for each in tables), "D": tables[0].embedding_dim}
        found |= {"P": tables[1].num_embeddings} if len(tables) > 1 else {}
    elif linears:
        found["D"] = linears[0].out_features
    for each in module.modules():
        for name in ("num_heads", "heads", "n_head", "n_heads", "nhead", "h"):
            heads = getattr(each, name, None)
            if isinstance(heads, int) and heads > 1 and "D" in found:
                return {"H": heads, "D/H": found["D"] // heads} | found
    return found


def _place(traceback: TracebackType | None, module: nn.Module) -> str | None:
    """The innermost frame in the user's own file, and the module that was running there."""
    names = {id(each): name for name, each in module.named_modules()}
    path = line = None
    while traceback is not None:
        code, file = traceback.tb_frame.f_code, traceback.tb_frame.f_code.co_filename
        running = names.get(id(traceback.tb_frame.f_locals.get("self")))
        path = running or path
        if not file.startswith(FOREIGN) and "/clearformer/doctor/" not in file and not file.startswith("<"):
            line = f"{Path(code.co_filename).name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return f"{path} ({line})" if path and line else line or path

"""A forward that takes everything in one argument: which keys of a dictionary, fields or places it asks for.

It is handed a dictionary that answers to every key, and notes which ones were asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.doctor.calling.handing import Handed
from clearformer.doctor.calling.names import Role, role_of
from clearformer.doctor.calling.signature import Signature, innermost, parameters_of, read_roles, takes_any_name
from clearformer.doctor.parts import Kind

MOST = 12
"""Keys, and passes made to learn of them."""
_MISSING = re.compile(r"missing \d+ required .*argument")
_INPUTS = ("ids", "source", "target", "vectors", "series")
_BY_PLACE: dict[bool, tuple[Role, ...]] = {False: ("ids", "other", "other"), True: ("source", "target", "other")}


class _Asking(Handed):
    """Answers to any key with what may stand there. `asked` are the keys, True for those without a default."""

    def __init__(self, vocab_size: int, fields: int, *, full: bool) -> None:
        super().__init__()
        self.__dict__["asked"] = {}
        self.__dict__["vocab_size"], self.__dict__["fields"], self.__dict__["full"] = vocab_size, fields, full

    def _noted(self, key: object, *, required: bool) -> Any:
        name = str(key)
        if name.startswith("__") or len(self.asked) == MOST:
            raise KeyError(key)
        self.asked[name] = self.asked.get(name, False) or required
        return _stand_in(name, self.vocab_size)

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice | tuple | type(None)):
            raise TypeError("a batch is not cut")
        return self._noted(key, required=True)

    def __getattr__(self, name: str) -> Any:
        if name in ("device", "shape", "size", "dim", "ndim", "dtype") or name.startswith("_"):
            raise AttributeError(name)
        return self._noted(name, required=True)

    def get(self, key: object, default: Any = None) -> Any:
        value = self._noted(key, required=False)
        return value if self.full and role_of(str(key)) in _INPUTS else default

    def pop(self, key: object, *default: Any) -> Any:
        return self.get(key, *default) if default else self[key]

    def __contains__(self, key: object) -> bool:
        self._noted(key, required=False)
        return self.full and role_of(str(key)) in _INPUTS

    def __iter__(self) -> Iterator[Any]:
        """Unpacked by place."""
        return iter([self._noted(place, required=True) for place in range(self.fields)])


def signatures(module: nn.Module, kind: Kind | None, vocab_size: int) -> Iterator[Signature]:
    """What forward asks of its one argument, or of the keywords that it takes without naming them."""
    parameters = parameters_of(innermost(module))
    required = [name for name, each in parameters.items() if each.default is each.empty]
    names = required or list(parameters)
    if len(required) <= 1 and names:
        for fields in (2, 1, 3):
            asked = _asked(module, vocab_size, fields)
            if asked:
                yield _signature(asked, kind, packed=names[0])
            if not any(name.isdigit() for name in asked):
                return
    elif not parameters and takes_any_name(innermost(module)) and (keywords := _keywords(module, vocab_size)):
        yield _signature(keywords, kind, packed=None)


def _signature(asked: dict[str, bool], kind: Kind | None, packed: str | None) -> Signature:
    if all(name.isdigit() for name in asked):
        roles = dict(zip(sorted(asked), _BY_PLACE[kind == "encoder-decoder"], strict=False))
    else:
        roles = {name: role_of(name) for name in asked}
    return read_roles(roles, frozenset(name for name, required in asked.items() if required), kind, packed=packed)


def _asked(module: nn.Module, vocab_size: int, fields: int) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for full in (False, True):
        asking = _Asking(vocab_size, fields, full=full)
        try:
            with torch.no_grad():
                module(asking)
        except TypeError as error:
            for name in _named_missing(error):
                asking.asked.setdefault(name, True)
        except Exception:  # what it asked for until then is known
            pass
        for name, required in asking.asked.items():
            found[name] = found.get(name, False) or required
    return found


def _keywords(module: nn.Module, vocab_size: int) -> dict[str, bool]:
    """Keywords without which the module raises, one after the other."""
    given: dict[str, Tensor] = {}
    for _ in range(MOST):
        try:
            with torch.no_grad():
                module(**given)
        except KeyError as error:
            wanted = [name for name in error.args if isinstance(name, str) and name.isidentifier()]
        except TypeError as error:
            wanted = _named_missing(error)
        except Exception:
            break
        else:
            break
        if not wanted or set(wanted) <= given.keys():
            break
        given |= {name: _stand_in(name, vocab_size) for name in wanted}
    return dict.fromkeys(given, True)


def _named_missing(error: TypeError) -> list[str]:
    said = str(error)
    return re.findall(r"'(\w+)'", said) if _MISSING.search(said) else []


def _stand_in(name: str, vocab_size: int) -> Tensor:
    role = role_of(name)
    if role == "count":
        return torch.full((3,), 8)
    if role.endswith(("padding", "mask")):
        return torch.ones(3, 8, dtype=torch.long)
    if role == "positions":
        return torch.arange(8).expand(3, 8)
    return torch.randint(0, max(vocab_size, 2), (3, 8), generator=torch.Generator().manual_seed(0))

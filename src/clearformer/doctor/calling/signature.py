"""The signature of a module's forward, read: which argument seems to take what."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

from torch import nn

from clearformer.doctor.calling.names import FIXED, Role, role_of
from clearformer.doctor.parts import Kind


@dataclass(frozen=True)
class Signature:
    """`main` and `source` are names; None where the input is given by place."""

    main: str | None
    source: str | None
    roles: dict[str, Role]
    """Every other argument, in the order of the signature."""
    required: frozenset[str] = field(default_factory=frozenset)
    """Arguments without a default, beside the inputs."""
    fixed: tuple[tuple[str, object], ...] = ()
    packed: str | None = None
    """The one argument that takes all of these, as keys of a dictionary."""

    def named(self, *roles: Role) -> list[str]:
        return [name for name, role in self.roles.items() if role in roles]


def read(module: nn.Module, kind: Kind | None) -> Signature:
    """The inputs are the first arguments, or those whose names say so; what no name explains is called "other"."""
    parameters = parameters_of(innermost(module))
    required = frozenset(name for name, each in parameters.items() if each.default is inspect.Parameter.empty)
    return read_roles({name: role_of(name) for name in parameters}, required, kind)


def read_roles(
    roles: dict[str, Role], required: frozenset[str], kind: Kind | None, *, packed: str | None = None
) -> Signature:
    """The signature of arguments whose roles are known."""
    fixed = tuple((name, value) for name, value in FIXED.items() if name in roles)
    source, main = _inputs(roles, required, kind)
    rest = {name: role for name, role in roles.items() if name not in (source, main)}
    return Signature(main, source, rest, frozenset(required - {source, main}), fixed, packed)


def innermost(module: nn.Module) -> nn.Module:
    """The module that a wrapper such as DataParallel or a compiled module stands for."""
    for name in ("_orig_mod", "module"):
        inner = getattr(module, name, None)
        if isinstance(inner, nn.Module) and type(module).__name__ in WRAPPERS:
            return innermost(inner)
    return module


WRAPPERS = ("OptimizedModule", "DataParallel", "DistributedDataParallel")


def parameters_of(module: nn.Module) -> dict[str, inspect.Parameter]:
    """The arguments of forward that have a name."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        found = inspect.signature(module.forward).parameters
    except (TypeError, ValueError):
        return {}
    return {name: each for name, each in found.items() if each.kind in plain}


def takes_any_name(module: nn.Module) -> bool:
    """Whether forward takes keywords that its signature does not name."""
    try:
        found = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in found)


def _inputs(
    roles: dict[str, Role], required: frozenset[str], kind: Kind | None
) -> tuple[str | None, str | None]:  # fmt: skip
    """(source, main). Two inputs where the kind says so, or where the names do."""

    def named(*wanted: Role) -> list[str]:
        """The required ones first: an optional input is usually another form of the same."""
        found = [name for name, role in roles.items() if role in wanted]
        return sorted(found, key=lambda name: name not in required)

    ids, sources = named("ids"), named("source")
    targets = [name for name in named("target") if name in required or not required]
    lone = next(iter([*ids[:1], *named("vectors", "series", "source", "target"), *sorted(required)]), None)
    if kind in ("decoder", "encoder", "forecaster"):
        inputs = [name for name in roles if roles[name] in ("ids", "vectors", "series", "source", "target")]
        first = next((name for name in inputs if name in required), None)
        return None, first or next((name for name in roles if name in required), lone)
    if kind == "encoder-decoder":
        targets = targets or named("target") or ([] if sources and ids else named("labels"))
    if targets and (sources or ids):
        ready = [name for name in sources if name in required]
        return [*ready, *ids, *sources][0], targets[0]
    if kind == "encoder-decoder":
        if sources and ids:
            return sources[0], ids[0]
        pair = [name for name in roles if name in required][:2]
        if len(pair) == 2:
            return pair[0], pair[1]
    return None, lone

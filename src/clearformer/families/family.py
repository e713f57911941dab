"""What a family of models is: a config translator and a weight table, each with its inverse.

Foreign names stay inside this folder. A new family is one file beside these and one line in `registry.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clearformer.checkpoint.renames import Table
from clearformer.errors import CheckpointError, SpecError
from clearformer.families.config_reader import ConfigReader
from clearformer.families.pretrained_config import HARMLESS
from clearformer.messages import families as say
from clearformer.messages import verbatim
from clearformer.spec import Spec

# Choices of training: no config says them all, and a trained model computes the same without them.
_OF_TRAINING = frozenset({"dropout", "initial", "initial_scale", "balance_loss"})


@dataclass(frozen=True)
class Examined:
    """What a config was found to mean: its spec, or why it has none. `unread` are keys that no reader knows, `unused`
    those that were declared harmless and never asked for; a key of a section has `SECTION.` in front."""

    spec: Spec | None = None
    refusal: CheckpointError | None = None
    unread: frozenset[str] = frozenset()
    unused: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Family:
    """One `model_type` of Hugging Face.

    `translate(config, architecture)` reads keys and gives the spec; `to_config(spec)` is its inverse on the specs that
    the family can say, and is checked by reading its answer back, so it may read only what it needs. `table(spec)`
    pairs the tensors' names. `architectures`: the classes understood; the first is meant where a config names none.
    """

    model_type: str
    architectures: tuple[str, ...]
    translate: Callable[[ConfigReader, str], Spec]
    to_config: Callable[[Spec], dict[str, object] | None]
    table: Callable[[Spec], Table]

    def read(self, config: Mapping[str, object], path: Path | str = "config.json") -> Spec:
        """A config → the spec that it means. Raises CheckpointError naming the key for whatever it cannot mean."""
        reader = ConfigReader(config, path)
        architecture = self._architecture(config.get("architectures"), path)
        return translated(reader, lambda: self.translate(reader, architecture))

    def examine(self, config: Mapping[str, object], path: Path | str = "config.json") -> Examined:
        """The same, and which keys had no part in it; nothing is raised."""
        reader = ConfigReader(config, path)
        return examined(reader, lambda: self.translate(reader, self._architecture(config.get("architectures"), path)))

    def write(self, spec: Spec) -> dict[str, object]:
        """The config that means this spec, its choices of training aside. Raises CheckpointError naming the field that
        the family cannot say."""
        config = self.to_config(spec)
        if config is None:
            values = {"field": "spec", "found": type(spec).__name__, "expected": self.architectures[0]}
            raise CheckpointError(say.NOT_OF_FAMILY, family=self.model_type, **values)
        require_same(self.model_type, lambda: self.read(config), spec)
        return config

    def _architecture(self, found: object, path: Path | str) -> str:
        if not found:
            return self.architectures[0]
        name = found[0] if isinstance(found, list) and len(found) == 1 else found
        if name not in self.architectures:
            raise CheckpointError(
                say.UNKNOWN_ARCHITECTURE,
                path=path,
                family=self.model_type,
                found=name,
                expected=", ".join(self.architectures),
            )
        return str(name)


def require_same(family: str, read: Callable[[], Spec], spec: Spec) -> None:
    """What was written, read back, must compute the same. Raises CheckpointError naming the field that does not."""
    try:
        found = difference(read(), spec)
    except CheckpointError as error:
        why = verbatim(error.cause("en"), error.cause("zh"))
        values = {"family": family, "field": "spec", "found": type(spec).__name__, "why": why}
        raise CheckpointError(say.UNREADABLE_BACK, **values) from None
    if found is not None:
        field, expected, actual = found
        raise CheckpointError(
            say.NOT_OF_FAMILY, family=family, field=field, found=repr(actual), expected=repr(expected)
        )


def translated(reader: ConfigReader, translate: Callable[[], Spec]) -> Spec:
    """The spec that `translate` makes of the reader's keys, none of which may be left unread."""
    spec = _meant(reader, translate)
    reader.finish()
    return spec


def examined(reader: ConfigReader, translate: Callable[[], Spec]) -> Examined:
    """The same with a refusal as an answer, and keys that were left unread beside it."""
    try:
        spec = _meant(reader, translate)
    except CheckpointError as error:
        return Examined(refusal=error)
    return Examined(spec, unread=frozenset(reader.unread()), unused=frozenset(reader.unused()))


def _meant(reader: ConfigReader, translate: Callable[[], Spec]) -> Spec:
    reader.harmless(HARMLESS)
    try:
        return translate()
    except SpecError as error:
        raise CheckpointError(
            say.IMPOSSIBLE,
            path=reader.path,
            why=verbatim(error.cause("en"), error.cause("zh")),
            mend=verbatim(error.remedy("en"), error.remedy("zh")),
        ) from None
    except ArithmeticError as error:  # numbers that are each possible, and together overflow or divide by nothing
        raise CheckpointError(say.NO_ARITHMETIC, path=reader.path, detail=error) from None


def difference(first: object, second: object, field: str = "spec") -> tuple[str, object, object] | None:
    """Where two specs first compute differently, with both values; None where they do not."""
    if dataclasses.is_dataclass(first) and type(first) is type(second):
        names = [f.name for f in dataclasses.fields(first) if f.name not in _OF_TRAINING]
        pairs = [(f"{field}.{name}", getattr(first, name), getattr(second, name)) for name in names]
    elif isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        pairs = [(f"{field}[{i}]", a, b) for i, (a, b) in enumerate(zip(first, second, strict=True))]
    else:
        return None if first == second else (field, first, second)
    return next((found for name, a, b in pairs if (found := difference(a, b, name))), None)

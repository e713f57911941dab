"""Clearformer: a Transformer to read, run and measure.

Read the package in the order of the data: `text.bpe` (text → ids), `layers.embed`, `layers.positions`,
`layers.attention` with `mask` and `kernels`, `layers.feedforward`, `layers.block`, `layers.stack`, `model` (ids →
logits); then `generate` (logits → text). `spec` says what is built; `reference` is the same again in NumPy.

The names below are imported when they are first used: `import clearformer` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

_PUBLIC = {
    "BytePairEncoding": "clearformer.text.bpe",
    "ClearformerError": "clearformer.errors",
    "Conversation": "clearformer.generate.conversation",
    "Loaded": "clearformer.load",
    "Result": "clearformer.generate.speak",
    "build": "clearformer.build",
    "card": "clearformer.card.explaining",
    "capture": "clearformer.inspect.capture",
    "complete": "clearformer.generate.speak",
    "cost": "clearformer.cost.pricing",
    "edit": "clearformer.inspect.edit",
    "embed": "clearformer.generate.vectors",
    "generate": "clearformer.generate.speak",
    "gradients": "clearformer.inspect.gradients",
    "lens": "clearformer.inspect.lens",
    "load": "clearformer.load",
    "stream": "clearformer.generate.speak",
    "trace": "clearformer.inspect.trace",
    "verify": "clearformer.verify.verifying",
}

__all__ = [
    "BytePairEncoding",
    "ClearformerError",
    "Conversation",
    "Loaded",
    "Result",
    "build",
    "capture",
    "card",
    "complete",
    "cost",
    "edit",
    "embed",
    "generate",
    "gradients",
    "lens",
    "load",
    "stream",
    "trace",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    setattr(sys.modules[__name__], name, value)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


class _Package(ModuleType):
    """A function may share its name with the room that it comes from (`load`, `generate`): as `clearformer.load` the
    function is meant, whichever is imported first; `from clearformer.load import …` reaches into the room."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _PUBLIC or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

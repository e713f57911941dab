"""`clearformer ls`: the models in the cache."""

from __future__ import annotations

from clearformer.cli.flags import Printing, Spoken
from clearformer.cli.screen import Screen
from clearformer.machine import in_binary_units
from clearformer.messages import cli as say


def ls(*, flags: Printing = Printing(), language: Spoken = "en") -> None:  # noqa: B008 - frozen
    """Name, size and origin of each model."""
    import clearformer.store as store

    screen = Screen(language, flags)
    models = store.installed()
    if screen.as_json:
        rows = [
            {"name": m.name, "kind": m.kind, "path": str(m.path), "source": m.source, "bytes": m.size} for m in models
        ]
        screen.json({"cache": str(store.home()), "models": rows})
    elif models:
        screen.table([(model.name, in_binary_units(model.size), model.source) for model in models])
    else:
        screen.note(say.NOTHING_STORED, path=store.home(), builtin=next(iter(store.BUILTIN)))

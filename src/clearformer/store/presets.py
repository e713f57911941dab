"""Names of specs beside names of models, for the verbs that need no weights: cost, card, trace, positions."""

from __future__ import annotations

import difflib

from clearformer.errors import UsageError
from clearformer.messages import store as say
from clearformer.messages import verbatim
from clearformer.spec import Spec
from clearformer.spec.presets import PRESETS
from clearformer.store.builtin import BUILTIN
from clearformer.store.places import Progress
from clearformer.store.pull import silent
from clearformer.store.resolve import Located, is_here, resolve, runs_here

_UNKNOWN = (say.UNKNOWN_MODEL, say.UNHEARD_MODEL)


def spec_or_model(name: str, *, progress: Progress = silent) -> Spec | Located:
    """A preset, or a model as `resolve` finds it. What is here goes before a preset as before a built-in model: one
    name is one model to every verb. Raises UsageError for what names neither, StoreError as `resolve` does."""
    if names_preset(name):
        return PRESETS[name]()
    try:
        return resolve(name, progress=progress)
    except UsageError as error:
        if error.failure not in _UNKNOWN:
            raise
        raise _unknown(name) from None


def names_preset(name: str) -> bool:
    """Whether the name is a preset's, and no run or model here bears it."""
    return name in PRESETS and not is_here(name)


def hides_preset(name: str) -> bool:
    """Whether a run or a model here takes a preset's name."""
    return name in PRESETS and is_here(name)


def _unknown(name: str) -> UsageError:
    near = difflib.get_close_matches(name.lower(), [*PRESETS, *BUILTIN, *runs_here()], n=3, cutoff=0.5)
    hint = verbatim(f" Nearest: {', '.join(near)}.", f"最接近的有：{'、'.join(near)}。") if near else verbatim("", "")
    return UsageError(say.UNKNOWN_SPEC, name=name, hint=hint, presets=", ".join(PRESETS), builtin=", ".join(BUILTIN))

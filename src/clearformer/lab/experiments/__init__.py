"""The experiments by name, each imported when it is asked for. One that is new gets a file here and a line below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clearformer.errors import UsageError
from clearformer.lab.experiment import Experiment
from clearformer.messages import Message, did_you_mean
from clearformer.messages import lab_attention as attention
from clearformer.messages import lab_choices as choices
from clearformer.messages import lab_machine as say


def _no_scale() -> Experiment:
    from clearformer.lab.experiments.no_scale import EXPERIMENT

    return EXPERIMENT


def _no_mask() -> Experiment:
    from clearformer.lab.experiments.no_mask import EXPERIMENT

    return EXPERIMENT


def _heads() -> Experiment:
    from clearformer.lab.experiments.heads import EXPERIMENT

    return EXPERIMENT


def _no_residual() -> Experiment:
    from clearformer.lab.experiments.no_residual import EXPERIMENT

    return EXPERIMENT


def _no_cache() -> Experiment:
    from clearformer.lab.experiments.no_cache import EXPERIMENT

    return EXPERIMENT


def _norm_placement() -> Experiment:
    from clearformer.lab.experiments.norm_placement import EXPERIMENT

    return EXPERIMENT


def _norms() -> Experiment:
    from clearformer.lab.experiments.norms import EXPERIMENT

    return EXPERIMENT


def _feedforward() -> Experiment:
    from clearformer.lab.experiments.feedforward import EXPERIMENT

    return EXPERIMENT


def _positions() -> Experiment:
    from clearformer.lab.experiments.positions import EXPERIMENT

    return EXPERIMENT


def _kv_heads() -> Experiment:
    from clearformer.lab.experiments.kv_heads import EXPERIMENT

    return EXPERIMENT


def _tied() -> Experiment:
    from clearformer.lab.experiments.tied import EXPERIMENT

    return EXPERIMENT


@dataclass(frozen=True)
class Listed:
    """An experiment that is known and not yet imported."""

    title: Message
    open: Callable[[], Experiment]


EXPERIMENTS = {
    "no-scale": Listed(attention.NO_SCALE, _no_scale),
    "no-mask": Listed(attention.NO_MASK, _no_mask),
    "heads": Listed(attention.HEADS, _heads),
    "no-residual": Listed(attention.NO_RESIDUAL, _no_residual),
    "no-cache": Listed(attention.NO_CACHE, _no_cache),
    "norm-placement": Listed(choices.PLACEMENT, _norm_placement),
    "norms": Listed(choices.NORMS, _norms),
    "feedforward": Listed(choices.FEEDFORWARD, _feedforward),
    "positions": Listed(choices.POSITIONS, _positions),
    "kv-heads": Listed(choices.KV_HEADS, _kv_heads),
    "tied": Listed(choices.TIED, _tied),
}


def find(source: str) -> Experiment:
    """A built-in experiment by its name, or the user's own by its file. Raises UsageError."""
    if Path(source).suffix.lower() in (".yaml", ".yml"):
        from clearformer.lab.own import read_own

        return read_own(Path(source))
    if source not in EXPERIMENTS:
        raise UsageError(say.UNKNOWN_EXPERIMENT, found=source, hint=did_you_mean(source, EXPERIMENTS))
    return EXPERIMENTS[source].open()

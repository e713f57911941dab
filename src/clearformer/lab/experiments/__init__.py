"""The experiments by name, each imported when it is asked for. One that is new gets a file here and its lines below."""

from __future__ import annotations

from pathlib import Path

from clearformer.errors import UsageError
from clearformer.lab.experiment import Experiment
from clearformer.messages import did_you_mean
from clearformer.messages import lab_attention as attention
from clearformer.messages import lab_choices as choices
from clearformer.messages import lab_looking as looking
from clearformer.messages import lab_machine as say
from clearformer.messages import lab_sublayers as sublayers

TITLES = {
    "no-scale": attention.NO_SCALE,
    "no-mask": attention.NO_MASK,
    "heads": attention.HEADS,
    "no-residual": attention.NO_RESIDUAL,
    "no-cache": attention.NO_CACHE,
    "norm-placement": choices.PLACEMENT,
    "norms": choices.NORMS,
    "batchnorm": sublayers.BATCH_NORM,
    "feedforward": choices.FEEDFORWARD,
    "moe": sublayers.MOE,
    "positions": choices.POSITIONS,
    "rope-scaling": choices.ROPE_SCALING,
    "recurrence": sublayers.RECURRENCE,
    "kv-heads": choices.KV_HEADS,
    "tied": choices.TIED,
    "smoothing": sublayers.SMOOTHING,
    "pruning": looking.PRUNING,
    "context": looking.CONTEXT,
    "pronoun": looking.PRONOUN,
}
"""What each asks. The experiment called `no-scale` is `EXPERIMENT` in `no_scale.py`."""


def find(source: str) -> Experiment:
    """A built-in experiment by its name, or the user's own by its file. Raises UsageError."""
    if Path(source).suffix.lower() in (".yaml", ".yml"):
        from clearformer.lab.own import read_own

        return read_own(Path(source))
    if source not in TITLES:
        raise UsageError(say.UNKNOWN_EXPERIMENT, found=source, hint=did_you_mean(source, TITLES))
    return _opened(source)


def _opened(name: str) -> Experiment:
    match name:
        case "no-scale":
            from clearformer.lab.experiments.no_scale import EXPERIMENT
        case "no-mask":
            from clearformer.lab.experiments.no_mask import EXPERIMENT
        case "heads":
            from clearformer.lab.experiments.heads import EXPERIMENT
        case "no-residual":
            from clearformer.lab.experiments.no_residual import EXPERIMENT
        case "no-cache":
            from clearformer.lab.experiments.no_cache import EXPERIMENT
        case "norm-placement":
            from clearformer.lab.experiments.norm_placement import EXPERIMENT
        case "norms":
            from clearformer.lab.experiments.norms import EXPERIMENT
        case "batchnorm":
            from clearformer.lab.experiments.batchnorm import EXPERIMENT
        case "feedforward":
            from clearformer.lab.experiments.feedforward import EXPERIMENT
        case "moe":
            from clearformer.lab.experiments.moe import EXPERIMENT
        case "positions":
            from clearformer.lab.experiments.positions import EXPERIMENT
        case "rope-scaling":
            from clearformer.lab.experiments.rope_scaling import EXPERIMENT
        case "recurrence":
            from clearformer.lab.experiments.recurrence import EXPERIMENT
        case "kv-heads":
            from clearformer.lab.experiments.kv_heads import EXPERIMENT
        case "tied":
            from clearformer.lab.experiments.tied import EXPERIMENT
        case "smoothing":
            from clearformer.lab.experiments.smoothing import EXPERIMENT
        case "pruning":
            from clearformer.lab.experiments.pruning import EXPERIMENT
        case "context":
            from clearformer.lab.experiments.context import EXPERIMENT
        case "pronoun":
            from clearformer.lab.experiments.pronoun import EXPERIMENT
        case _:
            raise AssertionError(name)
    return EXPERIMENT

"""What is chosen before training begins: everything that a run depends on, in frozen dataclasses.

A task's recipe (`tasks/`) adds `data` and `model` to these. A recipe file is this tree as YAML; a union's member is
named by `type`. Defaults stand here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class AdamW:
    """Adam with decoupled weight decay, on matrices only (Loshchilov and Hutter 2019, arXiv 1711.05101)."""

    lr: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.1


@dataclass(frozen=True)
class Adam:
    """The paper's optimizer (Vaswani et al. 2017 §5.3; Kingma and Ba 2015, arXiv 1412.6980), no decay."""

    lr: float = 1.0
    beta1: float = 0.9
    beta2: float = 0.98
    eps: float = 1e-9


@dataclass(frozen=True)
class Muon:
    """Orthogonalised momentum for the blocks' matrices (Jordan et al. 2024), AdamW for all else.

    `lr` is the matrices' rate, scaled by √max(1, rows/columns); `adamw` the rest's.
    """

    lr: float = 0.02
    momentum: float = 0.95
    iterations: int = 5
    weight_decay: float = 0.0
    adamw: AdamW = field(default_factory=AdamW)


Optimizer = AdamW | Adam | Muon


@dataclass(frozen=True)
class Constant:
    """The full rate after a linear warm-up of `warmup` steps."""

    warmup: int = 0


@dataclass(frozen=True)
class Linear:
    """From the full rate to `floor` times it, in a straight line."""

    warmup: int = 0
    floor: float = 0.0


@dataclass(frozen=True)
class Cosine:
    """From the full rate to `floor` times it, along half a cosine (Loshchilov and Hutter 2017, arXiv 1608.03983)."""

    warmup: int = 100
    floor: float = 0.1


@dataclass(frozen=True)
class WSD:
    """Warm-up, a plateau, and a decay over the last `decay` share of the steps (Hu et al. 2024, arXiv 2404.06395)."""

    warmup: int = 100
    decay: float = 0.2
    floor: float = 0.0


@dataclass(frozen=True)
class Noam:
    """D^−½ · min(step^−½, step · warmup^−3⁄2), steps counted from 1 (Vaswani et al. 2017 §5.3). Multiplies `lr`."""

    warmup: int = 4000


Schedule = Constant | Linear | Cosine | WSD | Noam


@dataclass(frozen=True)
class EMA:
    """Evaluate and publish an exponential average of the weights; warmed up as min(decay, (1 + step) / (10 + step))."""

    decay: float = 0.999


@dataclass(frozen=True)
class Checkpoints:
    """Publish the mean of the weights at the last `count` evaluations (Vaswani et al. 2017 §6.1: five or twenty)."""

    count: int = 5


Average = EMA | Checkpoints


@dataclass(frozen=True)
class LossSettings:
    """Cross-entropy: label smoothing over real classes (Szegedy et al. 2016, arXiv 1512.00567), `z` times the squared
    logarithm of the partition function (PaLM, arXiv 2204.02311 §5), and positions a chunk (None: chosen by size)."""

    smoothing: float = 0.0
    z: float = 0.0
    chunk: int | None = None


@dataclass(frozen=True)
class Watch:
    """How often, in steps, the run is evaluated, sampled and saved; None: at about every twentieth of it, at the end
    always. `patience` stops after so many evaluations without a better one."""

    evaluate: int | None = None
    sample: int | None = None
    save: int | None = None
    patience: int | None = None
    log: int = 1
    keep: Literal["best", "last"] = "best"
    """Publish the weights of the best evaluation, or the last ones: on a small validation set the best is chance."""


Choice = Literal["auto", "yes", "no"]


@dataclass(frozen=True)
class Compute:
    """How it is computed. `auto` measures and says what it chose; the choice is recorded and reused on resume.

    `dtype` bfloat16 is autocast: weights and optimizer stay float32. `switch` sends float32 products to oneDNN.
    """

    device: str = "cpu"
    dtype: Literal["float32", "bfloat16", "auto"] = "float32"
    threads: int | None = None
    compile: Choice = "auto"
    kernel: Literal["auto", "plain", "tiled", "sdpa"] = "auto"
    switch: Choice = "auto"
    checkpoint_activations: bool = False
    workers: int = 0


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What every task's recipe has. Give `steps`, or `budget` in seconds from which they are reckoned at the start."""

    seed: int = 0
    """Start of all random numbers: weights, order of the data, dropout."""
    steps: int | None = None
    """Updates to make."""
    budget: float | None = None
    """Seconds to train for; in a file also 90s, 10m or 1h."""
    accumulate: int = 1
    """Batches an update; their gradients are summed."""
    clip: float | None = 1.0
    """The longest gradient, as its norm over all weights; null never shortens it."""
    optimizer: Optimizer = field(default_factory=AdamW)
    schedule: Schedule = field(default_factory=Cosine)
    loss: LossSettings = field(default_factory=LossSettings)
    average: Average | None = None
    watch: Watch = field(default_factory=Watch)
    compute: Compute = field(default_factory=Compute)

"""Pictures of a run, drawn from its metrics: the loss and the learning rate over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clearformer.train.metrics import read_metrics

Curve = tuple[Sequence[float], Sequence[float]]
_SMOOTHED_OVER = 50


def draw_plots(metrics: Path, folder: Path, metric: str) -> list[Path]:
    """loss.png, learning-rate.png and the evaluations' `metric` in `folder`; a plot without points is left out."""
    records = read_metrics(metrics)
    steps = [record for record in records if record.get("loss") is not None]
    evaluations = [record for record in records if record.get("evaluation", {}).get(metric) is not None]
    numbers = [record["step"] for record in steps]
    losses = [record["loss"] for record in steps]
    plots: dict[str, dict[str, Curve]] = {
        "loss": {"loss (nats)": (numbers, losses), "smoothed": (numbers, smoothed(losses))},
        "learning-rate": {"learning rate": (numbers, [record["lr"] for record in steps])},
        f"validation-{metric}": {
            metric: ([one["step"] for one in evaluations], [one["evaluation"][metric] for one in evaluations])
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _draw(curves, folder / f"{name}.png") for name, curves in plots.items() if any(x for x, _ in curves.values())
    ]


def smoothed(values: Sequence[float]) -> list[float]:
    """The running mean over about a fiftieth of the curve, weighted exponentially and unbiased at the start."""
    keep = 1 - 1 / max(len(values) / _SMOOTHED_OVER, 1)
    mean = weight = 0.0
    means = []
    for value in values:
        mean, weight = keep * mean + (1 - keep) * value, keep * weight + (1 - keep)
        means.append(mean / weight)
    return means


def _draw(curves: dict[str, Curve], path: Path) -> Path:
    # Figures without pyplot: it would choose a window system and keep every figure alive.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, (x, y) in curves.items():
        axes.plot(x, y, label=name, linewidth=1, marker="." if len(x) < 30 else None)
    axes.set_xlabel("step")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    return path

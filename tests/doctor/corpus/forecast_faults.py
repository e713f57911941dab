"""Forecasts that have seen what they foretell."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from doctor.corpus.case import Parts, faulty

AHEAD, READ = 6, 12


class Linear(nn.Module):
    """The last twelve points → the next six, each channel for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(READ, AHEAD)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x.transpose(-1, -2)).transpose(-1, -2)


Forecast = Callable[[Tensor, int], Tensor]


def pipeline(
    fitted: Callable[[Tensor, int], Tensor] = lambda series, cutoff: series[:cutoff], shift: int = 0
) -> Forecast:
    """Scales by what `fitted` gives, reads the window before the cutoff, forecasts and scales back."""
    torch.manual_seed(3)
    model = Linear()

    def forecast(series: Tensor, cutoff: int) -> Tensor:
        series = torch.as_tensor(series, dtype=torch.float32)
        seen = fitted(series, cutoff)
        mean, spread = seen.mean(0), seen.std(0) + 1e-6
        window = ((series - mean) / spread)[cutoff - READ + shift : cutoff + shift]
        with torch.no_grad():
            return model(window) * spread + mean

    return forecast


@faulty("scaler fitted on the future", report="S1")
def scaled_by_the_whole_series() -> Parts:
    return {"forecast": pipeline(lambda series, cutoff: series)}


@faulty("window reaches past the cutoff", "cutoff off by one", "future target in the inputs", report="S1")
def window_two_points_too_far() -> Parts:
    return {"forecast": pipeline(shift=2)}


@faulty("cutoff off by one", "window reaches past the cutoff", report="S1")
def window_includes_the_cutoff() -> Parts:
    return {"forecast": pipeline(shift=1)}


@faulty("future target in the inputs", "window reaches past the cutoff", report="S1")
def decoder_is_given_the_target() -> Parts:
    torch.manual_seed(3)
    mixing = nn.Linear(READ + AHEAD, AHEAD)

    def forecast(series: Tensor, cutoff: int) -> Tensor:
        series = torch.as_tensor(series, dtype=torch.float32)
        mean, spread = series[:cutoff].mean(0), series[:cutoff].std(0) + 1e-6
        known = nn.functional.pad(series, (0, 0, 0, AHEAD))[cutoff - READ : cutoff + AHEAD]
        with torch.no_grad():
            return mixing(((known - mean) / spread).T).T * spread + mean

    return {"forecast": forecast}

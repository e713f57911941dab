"""Small changes that leave an image's class as it is, drawn anew for every sample in every epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from clearformer.data.batches import randomness


@dataclass(frozen=True)
class Augmentation:
    """The most that an image is moved (a share of its side), turned (degrees) and zoomed (a share of its size); `flip`
    mirrors half of them from left to right, which digits and letters do not survive."""

    shift: float = 0.1
    turn: float = 10.0
    zoom: float = 0.1
    flip: bool = False
    beyond: Literal["edge", "black"] = "edge"
    """What comes into view from outside: the edge's pixels over and over, as a photograph would go on, or black, where
    images stand on black."""
    untouched: float = 0.0
    """Share of the images left as they are: small ones lose sharpness in being moved, and those to be judged do not."""


def augmented(
    images: Float[Tensor, "B C height width"],
    chosen: Augmentation,
    seed: int,
    epoch: int,
    samples: Int[np.ndarray, " B"],
) -> Float[Tensor, "B C height width"]:
    """Each image (pixels from 0 to 1) under its own affine map, a function of (seed, epoch, sample), resampled by cubic
    interpolation, which keeps what is sharp."""
    if (chosen.shift, chosen.turn, chosen.zoom, chosen.flip) == (0, 0, 0, False):
        return images
    draws = np.stack([randomness(seed, epoch, int(sample)).uniform(-1, 1, 6) for sample in samples])
    maps = torch.from_numpy(np.stack([_map(draw, chosen) for draw in draws])).float()
    grid = functional.affine_grid(maps, list(images.shape), align_corners=False)
    outside = "border" if chosen.beyond == "edge" else "zeros"
    moved = functional.grid_sample(images, grid, "bicubic", outside, align_corners=False).clamp(0, 1)
    left = torch.from_numpy(draws[:, 5] < 2 * chosen.untouched - 1)
    return torch.where(left[:, None, None, None], images, moved)


def _map(draw: Float[np.ndarray, "6"], chosen: Augmentation) -> Float[np.ndarray, "2 3"]:
    """Where each output pixel comes from, in units of half the image's side."""
    angle, scale = math.radians(chosen.turn * draw[0]), 1 + chosen.zoom * draw[1]
    turn = scale * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    if chosen.flip and draw[2] < 0:
        turn[:, 0] *= -1
    return np.concatenate((turn, 2 * chosen.shift * draw[3:5, None]), 1)

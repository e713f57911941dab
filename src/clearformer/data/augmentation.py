"""Small changes that leave an image's class as it is, drawn anew for every sample in every epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass

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


def augmented(
    images: Float[Tensor, "B C height width"],
    chosen: Augmentation,
    seed: int,
    epoch: int,
    samples: Int[np.ndarray, " B"],
) -> Float[Tensor, "B C height width"]:
    """Each image under its own affine map, a function of (seed, epoch, sample); edges are repeated outwards."""
    if chosen == Augmentation(0.0, 0.0, 0.0, False):
        return images
    draws = np.stack([randomness(seed, epoch, int(sample)).uniform(-1, 1, 5) for sample in samples])
    maps = torch.from_numpy(np.stack([_map(draw, chosen) for draw in draws])).float()
    grid = functional.affine_grid(maps, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


def _map(draw: Float[np.ndarray, "5"], chosen: Augmentation) -> Float[np.ndarray, "2 3"]:
    """Where each output pixel comes from, in units of half the image's side."""
    angle, scale = math.radians(chosen.turn * draw[0]), 1 + chosen.zoom * draw[1]
    turn = scale * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    if chosen.flip and draw[2] < 0:
        turn[:, 0] *= -1
    return np.concatenate((turn, 2 * chosen.shift * draw[3:, None]), 1)

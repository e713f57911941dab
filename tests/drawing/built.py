"""A drawn spec with drawn weights, as a PyTorch model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from clearformer import spec as s
from clearformer.build import empty
from clearformer.model import Model
from clearformer.reference import initial


def built(spec: s.Spec, weights: Mapping[str, np.ndarray], dtype: torch.dtype = torch.float64) -> Model:
    """The model in evaluation mode, holding exactly these weights."""
    model = empty(spec).to(dtype).to_empty(device="cpu").eval()
    parameters = dict(model.named_parameters())
    assert parameters.keys() == weights.keys()
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(torch.from_numpy(np.asarray(weights[name])))
    return model


def drawn(spec: s.Spec, seed: int, dtype: torch.dtype = torch.float64) -> Model:
    """The model with weights of trained size."""
    return built(spec, initial.draw(spec, np.random.default_rng(seed)), dtype)

"""Hugging Face's names of activations, many of them synonyms, and ours."""

from __future__ import annotations

from clearformer.spec import Activation

ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}


def foreign_name(activation: Activation) -> str:
    """The first, most common of the synonyms."""
    return next(name for name, ours in ACTIVATIONS.items() if ours == activation)

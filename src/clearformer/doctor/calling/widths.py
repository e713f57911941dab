"""How many ids a module knows and how wide its vectors are, read from its own parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torch import nn

_WIDTHS = (
    "input_size", "num_input_channels", "c_in", "enc_in", "channels", "in_channels", "input_dim", "n_features",
    "num_features", "in_features", "d_model", "hidden_size", "n_embd", "embed_dim", "width", "dim",
)  # fmt: skip
_LENGTHS = (
    "context_length", "seq_len", "input_length", "input_len", "lookback", "context", "history", "window", "length",
    "block_size", "max_len", "max_length",
)  # fmt: skip
LEAST_VOCABULARY = 8
"""Fewer rows are a table of token types or the like."""


def tables(module: nn.Module) -> list[int]:
    """Rows of every embedding table, in the order of the module."""
    return [each.num_embeddings for each in module.modules() if isinstance(each, nn.Embedding)]


def vocabulary(module: nn.Module) -> int | None:
    """What the config says, else the rows of the first table that could hold tokens."""
    said = getattr(getattr(module, "config", None), "vocab_size", None)
    if isinstance(said, int) and said > 0:
        return said
    named = [
        each.num_embeddings
        for name, each in module.named_modules()
        if isinstance(each, nn.Embedding) and not any(word in name.lower() for word in ("pos", "type", "seg", "place"))
    ]
    return next((rows for rows in named if rows >= LEAST_VOCABULARY), None)


def reads_ids(module: nn.Module, vocab_size: int) -> bool:
    """Whether it has a table of tokens, or a matrix with a row or a column for each id."""
    return vocabulary(module) is not None or any(vocab_size in each.shape for each in module.parameters())


def pictures(module: nn.Module, error: Exception) -> bool:
    """Whether it looks at pictures or films: by its parts, or by the axes that it misses in what it was given."""
    wants = re.search(r"not enough values to unpack \(expected [45], got [23]\)", str(error)) is not None
    return wants or any(isinstance(each, nn.Conv2d | nn.Conv3d) for each in module.modules())


def widths(module: nn.Module) -> list[int]:
    """Numbers of features that a position might have, likeliest first."""
    return list(dict.fromkeys(_found_widths(module)))[:6]


def _found_widths(module: nn.Module) -> Iterator[int]:
    yield from _said(module, _WIDTHS)
    for each in module.modules():
        if isinstance(channels := getattr(getattr(each, "spec", None), "channels", None), int):
            yield channels  # ours: the embedding of a series
    for each in module.modules():
        if isinstance(each, nn.MultiheadAttention):
            yield each.embed_dim
        elif isinstance(each, nn.Linear):
            yield each.in_features
        elif isinstance(each, nn.Conv1d):
            yield each.in_channels
        elif isinstance(each, nn.LayerNorm):
            yield each.normalized_shape[-1]
    yield 1


def lengths(module: nn.Module) -> list[int]:
    """Lengths that a module of one fixed length might take."""
    linear = (each.in_features for each in module.modules() if isinstance(each, nn.Linear))
    found = dict.fromkeys([*_said(module, _LENGTHS), *linear, 96, 64, 48, 32, 24, 16, 12])
    return [length for length in found if 2 <= length <= 512][:16]


def _said(module: nn.Module, names: tuple[str, ...]) -> Iterator[int]:
    for holder in (getattr(module, "config", None), getattr(module, "spec", None), module):
        for name in names:
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                yield value

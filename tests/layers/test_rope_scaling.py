"""Rotary frequencies against transformers' own functions, for every scaling, whole and partial rotation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from clearformer import spec as s
from clearformer.layers.positions.rope_scaling import frequencies

BASE, HEAD, ORIGINAL = 10000.0, 64, 64


@dataclass(frozen=True)
class Case:
    """A scaling of ours and the parameters by which transformers makes the same; `bound` is the sequence's length."""

    scaling: s.RopeScaling
    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)
    bound: int = ORIGINAL


def long_rope(width: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    pairs = width // 2
    return tuple(1 + 0.1 * i for i in range(pairs)), tuple(2 + 0.3 * i for i in range(pairs))


def cases(width: int) -> dict[str, Case]:
    short, long = long_rope(width)
    lists = {"short_factor": list(short), "long_factor": list(long), "factor": 4.0, "attention_factor": 1.2}
    original = {"original_max_position_embeddings": ORIGINAL}
    bands = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, **original}
    return {
        "linear": Case(s.LinearScaling(4.0), "linear", {"factor": 4.0}),
        "dynamic-within": Case(s.DynamicNTK(2.0, ORIGINAL), "dynamic", {"factor": 2.0}, bound=40),
        "dynamic-past": Case(s.DynamicNTK(2.0, ORIGINAL), "dynamic", {"factor": 2.0}, bound=200),
        "yarn": Case(s.YaRN(8.0, ORIGINAL), "yarn", {"factor": 8.0, **original}),
        "yarn-not-truncated": Case(
            s.YaRN(8.0, ORIGINAL, truncate=False), "yarn", {"factor": 8.0, "truncate": False, **original}
        ),
        "yarn-betas": Case(
            s.YaRN(4.0, ORIGINAL, beta_fast=8.0, beta_slow=2.0, attention_factor=0.9),
            "yarn",
            {"factor": 4.0, "beta_fast": 8.0, "beta_slow": 2.0, "attention_factor": 0.9, **original},
        ),
        "llama3": Case(s.Llama3Scaling(8.0, ORIGINAL), "llama3", {"factor": 8.0, **bands}),
        "longrope-short": Case(s.LongRoPE(short, long, ORIGINAL, 1.2), "longrope", {**lists, **original}),
        "longrope-long": Case(s.LongRoPE(short, long, ORIGINAL, 1.2), "longrope", {**lists, **original}, bound=65),
    }


@pytest.mark.parametrize("partial", [1.0, 0.5], ids=["whole", "half"])
@pytest.mark.parametrize("name", cases(HEAD))
def test_frequencies_are_the_published_ones(name: str, partial: float) -> None:
    width = int(HEAD * partial)
    case = cases(width)[name]
    config = LlamaConfig(
        hidden_size=HEAD,
        num_attention_heads=1,
        head_dim=HEAD,
        max_position_embeddings=ORIGINAL,
        rope_parameters={
            "rope_type": case.kind,
            "rope_theta": BASE,
            "partial_rotary_factor": partial,
            **case.parameters,
        },
    )
    theirs, attention = ROPE_INIT_FUNCTIONS[case.kind](config, device="cpu", seq_len=case.bound)
    ours, factor = frequencies(BASE, width, case.scaling, torch.tensor([case.bound]))
    torch.testing.assert_close(ours[0].float(), theirs, rtol=2e-5, atol=0)
    assert factor == pytest.approx(attention, rel=1e-6)


def test_plain_frequencies_are_powers_of_the_base() -> None:
    ours, factor = frequencies(BASE, 8, None, torch.tensor([5]))
    expected = torch.tensor([[1.0, 0.1, 0.01, 0.001]], dtype=torch.float64)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=0)
    assert factor == 1.0


def test_each_row_has_the_table_of_its_own_length() -> None:
    spec = s.DynamicNTK(2.0, ORIGINAL)
    rows, _ = frequencies(BASE, HEAD, spec, torch.tensor([10, 64, 65, 300]))
    assert torch.equal(rows[0], rows[1])
    assert (rows[2, 1:] < rows[1, 1:]).all()
    for row, bound in enumerate((10, 64, 65, 300)):
        torch.testing.assert_close(rows[row], frequencies(BASE, HEAD, spec, torch.tensor([bound]))[0][0])

"""Which format a weight is packed in: int4 where its own numbers fit it, 8 bits for what was stored in more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize
from torch import Tensor

from clearformer.build import build
from clearformer.checkpoint.weight_table import Stored
from clearformer.native.library import found
from clearformer.speed.native import NativeDecoder
from native.engines import llama

pytestmark = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")

SPEC = llama(width=256, heads=4, wide=256, layers=1)
NAME = "decoder.blocks.0.feedforward.down.weight"


@dataclass
class Source:
    """A drawn model, one of whose weights a file had in a quantised type."""

    weights: dict[str, Tensor]
    kind: str

    def take(self, name: str) -> Stored:
        return Stored(self.weights[name], decoded=self.kind if name == NAME else None)


def numbers_of(kind: Kind, seed: int = 0) -> np.ndarray:
    """256 × 256 numbers on the grid of a K-quant: blocks of any bytes, with scales that are small and finite."""
    size, room = GGML_QUANT_SIZES[kind]
    blocks = np.random.default_rng(seed).integers(0, 256, (256 * 256 // size, room), np.uint8)
    halves = {Kind.Q4_K: (0, 2), Kind.Q5_K: (0, 2), Kind.Q6_K: (208,), Kind.Q3_K: (108,), Kind.Q2_K: (80, 82)}[kind]
    for at in halves:
        blocks[:, at : at + 2] = np.frombuffer(np.float16(0.001).tobytes(), np.uint8)
    return dequantize(blocks.reshape(256, -1), kind).astype(np.float32).reshape(256, 256)


@pytest.mark.parametrize("kind", [Kind.Q2_K, Kind.Q3_K, Kind.Q4_K, Kind.Q5_K, Kind.Q6_K])
def test_k_quants_become_eight_bits_within_half_a_step(kind: Kind) -> None:
    weights = dict(build(SPEC, generator=torch.Generator().manual_seed(0)).named_parameters())
    numbers = numbers_of(kind)
    weights[NAME] = torch.from_numpy(numbers)
    decoder = NativeDecoder(SPEC, Source(weights, kind.name), "int4", threads=1)
    packed = {name: matrix for names, matrix in decoder.engine.program.packed for name in names}
    assert packed[NAME].format == "int8"
    assert packed["decoder.blocks.0.attention.output.weight"].format == "int4"
    groups = numbers.reshape(256, -1, 32)
    step = np.abs(groups).max(-1, keepdims=True) / 127
    off = np.abs(packed[NAME].numbers().reshape(groups.shape) - groups)
    # Half a step, and what rounding the scale to a half adds.
    assert (off <= step * 0.57).all()


def test_what_was_decoded_from_q4_1_stays_on_its_own_grid() -> None:
    weights = dict(build(SPEC, generator=torch.Generator().manual_seed(0)).named_parameters())
    decoder = NativeDecoder(SPEC, Source(weights, "Q4_1"), "int4", threads=1)
    packed = {name: matrix for names, matrix in decoder.engine.program.packed for name in names}
    assert packed[NAME].format == "int4"

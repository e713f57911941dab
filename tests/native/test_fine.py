"""Where rounding activations costs most they come to a product in two bytes: what the logits then are off by."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from clearformer.build import build
from clearformer.native.library import found
from clearformer.speed.native import NativeDecoder, native_decoder
from native.engines import another_path, llama

pytestmark = pytest.mark.skipif(found().handle is None, reason="the kernels are not built")

IDS = list(range(23))
GAIN = np.linspace(0.5, 1.5, 64, dtype=np.float32)


def made(dtype: str, layers: int) -> NativeDecoder:
    model = build(llama(layers=layers), generator=torch.Generator().manual_seed(0))
    # Without it a row of the table, scaled, would lie on the grid of one byte.
    model.get_parameter("decoder.final_norm.weight").data = torch.from_numpy(GAIN)
    return native_decoder(model, dtype, threads=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", found().paths)
def test_logits_are_off_by_half_a_second_bytes_step(path: str) -> None:
    """Without blocks a logit is one product of the normalised embedding with the table."""
    decoder = another_path(made("int8", 0), path)
    ((_, matrix),) = decoder.engine.program.packed
    table = matrix.numbers().astype(np.float64)
    x = table[IDS]
    x = x / np.sqrt((x**2).mean(-1, keepdims=True) + decoder.engine.program.description.final_norm.eps) * GAIN
    step = np.abs(x.reshape(len(IDS), -1, 32)).max(-1).repeat(32, -1) / (127 * 254)
    bound = (step / 2) @ np.abs(table).T + 1e-6 * np.abs(x) @ np.abs(table).T
    sequence = decoder.sequence(len(IDS), len(IDS))
    logits = decoder.engine.run(IDS, [sequence] * len(IDS), range(len(IDS)))
    gap = np.abs(logits - x @ table.T)
    assert (gap <= bound).all()


def test_in_four_bits_the_head_reads_one_byte() -> None:
    ((_, table),) = made("int4", 0).engine.program.packed
    assert table.format == "int8"


def test_what_reads_the_normalised_stream_is_fine_where_it_is_int8() -> None:
    packings = {name: matrix.format for names, matrix in made("int8", 1).engine.program.packed for name in names}
    coarse = {f"decoder.blocks.0.{name}.weight" for name in ("attention.output", "feedforward.down")}
    assert {name for name, packing in packings.items() if packing == "int8"} == coarse
    assert {packing for name, packing in packings.items() if name not in coarse} == {"int8_fine"}

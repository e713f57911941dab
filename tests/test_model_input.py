"""What a model is fed wrongly is said in our words, before torch has its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from clearformer.build import build
from clearformer.errors import UsageError
from clearformer.spec.presets import paper, tiny_gpt

VOCABULARY = 40


def decoder() -> torch.nn.Module:
    spec = tiny_gpt(width=16, heads=2, layers=1, vocabulary=VOCABULARY, context=32)
    return build(spec, generator=torch.Generator().manual_seed(0)).eval()


@pytest.mark.parametrize("outside", [-1, VOCABULARY, 2**40])
def test_an_id_outside_the_table(outside: int) -> None:
    with pytest.raises(UsageError, match=f"{outside} is outside"):
        decoder()(torch.tensor([[1, outside, 2]]))
    assert decoder()(torch.tensor([[0, VOCABULARY - 1]])).isfinite().all()


def test_both_sides_of_an_encoder_decoder_are_looked_at() -> None:
    spec = paper(layers=1, width=16, heads=2, hidden=16, vocabulary=VOCABULARY, context=16)
    model = build(spec, generator=torch.Generator().manual_seed(0)).eval()
    good, bad = torch.tensor([[1, 2]]), torch.tensor([[1, VOCABULARY]])
    assert model(good, good).isfinite().all()
    for source, target in ((good, bad), (bad, good)):
        with pytest.raises(UsageError, match=str(VOCABULARY)):
            model(source, target)


def test_a_segment_outside_the_table() -> None:
    plain = decoder().spec
    spec = replace(plain, decoder=replace(plain.decoder, input=replace(plain.decoder.input, segments=2)))
    model = build(spec, generator=torch.Generator().manual_seed(0)).eval()
    ids = torch.tensor([[1, 2]])
    assert model(ids, segments=torch.tensor([[0, 1]])).isfinite().all()
    for outside in (-1, 2):
        with pytest.raises(UsageError, match="segment"):
            model(ids, segments=torch.tensor([[0, outside]]))


# A process of its own: in this one shapes and types are checked by the test tools first.
SHAPES = """
import torch
from clearformer.build import build
from clearformer.errors import UsageError
from clearformer.spec.presets import tiny_gpt
model = build(tiny_gpt(width=16, heads=2, layers=1, vocabulary=40, context=32))
good = torch.tensor([[1, 2]])
empty = torch.zeros(1, 0, dtype=torch.long)
given = [[[1]], good[0], good[None], good.float(), good.bool(), empty, empty.T]
marked = [torch.ones(1, 2), torch.ones(1, 2, dtype=torch.long), torch.ones(1, 1).bool(), torch.ones(2, 2).bool()]
calls = [(ids, None) for ids in given] + [(good, real) for real in marked]
for ids, real in calls:
    try:
        model(ids, real=real)
    except UsageError as error:
        print(error.cause())
    else:
        print("accepted", ids, real)
assert model(good.int(), real=torch.tensor([[False, True]])).isfinite().all()
"""


def test_what_is_no_batch_of_ids_and_no_mask_of_it() -> None:
    ended = subprocess.run([sys.executable, "-c", SHAPES], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["Expected"] * 7 + ["real"] * 4
    assert "found float32 (1, 2)" in lines[3]
    assert "expected bool (1, 2), found int64 (1, 2)" in lines[8]

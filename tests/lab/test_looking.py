"""What the experiments look at, against what is done by hand: silenced heads, batch statistics, recall."""

from __future__ import annotations

import pytest
import torch

from clearformer.build import build
from clearformer.lab.batch_statistics import BatchNorm, batch_norms
from clearformer.lab.head_importance import heads_of, loss_without
from clearformer.lab.recall import KEYS, PAIRS, answered, answers, draw
from clearformer.layers.norm import LayerNorm
from clearformer.model import DecoderOnly
from clearformer.spec.presets import tiny_gpt


@pytest.fixture
def model() -> DecoderOnly:
    spec = tiny_gpt(width=16, heads=4, layers=2, vocabulary=20, context=16)
    built = build(spec, generator=torch.Generator().manual_seed(0)).eval()
    assert isinstance(built, DecoderOnly)
    return built


def test_a_silenced_head_is_one_whose_output_columns_are_nought(model: DecoderOnly) -> None:
    ids = torch.randint(20, (3, 9), generator=torch.Generator().manual_seed(1))
    assert heads_of(model) == [(block, head) for block in (0, 1) for head in range(4)]
    silenced = loss_without(model, ids, {(0, 1), (1, 3)})
    whole = loss_without(model, ids, ())
    with torch.no_grad():
        for block, head in ((0, 1), (1, 3)):
            model.stack.blocks[block].attention.output.weight[:, 4 * head : 4 * head + 4] = 0
    assert silenced == pytest.approx(loss_without(model, ids, ()), rel=1e-6)
    assert silenced != pytest.approx(whole, rel=1e-6)


def test_batch_norm_is_pytorchs(model: DecoderOnly) -> None:
    x = torch.randn(4, 6, 16, generator=torch.Generator().manual_seed(2)) * 3 + 1
    batch_norms(model)
    norm = model.stack.blocks[0].attention_norm
    assert isinstance(norm, BatchNorm)
    assert not any(isinstance(module, LayerNorm) for module in model.modules())
    oracle = torch.nn.BatchNorm1d(16)
    for mine, theirs in ((norm.train(), oracle.train()), (norm.eval(), oracle.eval())):
        torch.testing.assert_close(mine(x).flatten(0, 1), theirs(x.flatten(0, 1)), atol=0.02, rtol=0.02)
    torch.testing.assert_close(norm.mean, oracle.running_mean)


def test_every_question_has_its_answer_among_the_pairs_as_far_back_as_it_says() -> None:
    ids, distances = draw(5, torch.Generator().manual_seed(3))
    for row, far in zip(ids.tolist(), distances.tolist(), strict=True):
        for number, distance in enumerate(far):
            at = 2 * PAIRS + 2 * number
            assert row[at - distance] == row[at] < KEYS <= row[at + 1] == row[at - distance + 1]
            assert distance >= 2
    logits = torch.nn.functional.one_hot(ids.roll(-1, 1), 64).float()
    torch.testing.assert_close(answered(logits).argmax(-1), answers(ids))

"""The training bench: equal models side by side, each as its users set it up."""

from __future__ import annotations

import math

import pytest
import torch

from clearformer.bench.training import measure_training, peer_trainee
from clearformer.bench.training_ours import our_trainee
from clearformer.bench.training_peers import Shape, peer
from clearformer.errors import UsageError

TINY = Shape(layers=1, heads=2, width=16, context=8, batch=2, vocabulary=32)


def silent(*_: object, **__: object) -> None:
    return None


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path))


def test_ours_is_the_plain_peers_function() -> None:
    module, logits = peer("nanogpt-like", TINY)
    ids = torch.randint(32, (2, 8), generator=torch.Generator().manual_seed(0))
    with our_trainee(TINY, "float32", compiled=False, note=silent) as ours, torch.no_grad():
        assert sum(p.numel() for p in ours.module.parameters()) == sum(p.numel() for p in module.parameters())
        embed, decoder = ours.module.decoder.embed, ours.module.decoder
        module.token.weight.copy_(embed.token.weight)
        module.position.weight.copy_(embed.position.weight)
        for theirs, block in zip(module.blocks, decoder.blocks, strict=True):
            at = block.attention
            theirs.inward.weight.copy_(torch.cat([at.query.weight, at.key.weight, at.value.weight]))
            theirs.outward.weight.copy_(at.output.weight)
            theirs.up.weight.copy_(block.feedforward.up.weight)
            theirs.down.weight.copy_(block.feedforward.down.weight)
        torch.testing.assert_close(ours.module(ids), logits(ids))


@pytest.mark.parametrize("name", ["nanogpt-like", "hf", "nn"])
def test_every_trainee_learns_and_has_a_speed(name) -> None:
    trainee = peer_trainee(name, TINY, torch.float32, compiled=False)
    with our_trainee(TINY, "float32", compiled=False, note=silent) as ours:
        rows = measure_training([ours, trainee], TINY, runs=2, steps=2, advance=silent)
    assert [row.name for row in rows] == ["clearformer", name]
    assert rows[0].ratio is None
    assert all(row.median > 0 for row in rows)
    low, high = rows[0].low / rows[1].high, rows[0].high / rows[1].low
    assert low * 0.999 <= rows[1].ratio <= high * 1.001


def test_one_batch_learnt_by_heart_falls_below_the_loss_of_knowing_nothing() -> None:
    ids = torch.randint(32, (2, 9), generator=torch.Generator().manual_seed(0))
    trainee = peer_trainee("nanogpt-like", TINY, torch.float32, compiled=False)
    losses = [trainee.step(ids[:, :-1], ids[:, 1:]) for _ in range(60)]
    assert losses[0] == pytest.approx(math.log(32), abs=0.3)
    assert losses[-1] < 0.7 * losses[0]


def test_a_trainee_that_starts_elsewhere_is_refused() -> None:
    trainee = peer_trainee("nanogpt-like", TINY, torch.float32, compiled=False)
    with torch.no_grad():
        trainee.module.token.weight.mul_(1000)
    with pytest.raises(UsageError, match="not set up as the others"):
        measure_training([trainee], TINY, runs=1, steps=1, advance=silent)


def test_an_unknown_peer_and_a_missing_library_are_named(monkeypatch) -> None:
    with pytest.raises(UsageError, match="found fastgpt"):
        peer("fastgpt", TINY)
    monkeypatch.setitem(__import__("sys").modules, "litgpt", None)
    with pytest.raises(UsageError, match="pip install litgpt"):
        peer("litgpt", TINY)

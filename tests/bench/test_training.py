"""The training bench: equal models side by side, each as its users set it up."""

from __future__ import annotations

import math

import pytest
import torch

from clearformer.bench.language_peers import NanoGPTLike
from clearformer.bench.pair_peers import torch_pairs
from clearformer.bench.shapes import SHAPES, LanguageShape, PairShape
from clearformer.bench.training import measure_training, peer_trainee
from clearformer.bench.training_ours import our_trainee
from clearformer.errors import UsageError
from clearformer.model import EncoderDecoder

TINY = LanguageShape(layers=1, heads=2, width=16, context=8, batch=2, vocabulary=32)
PAIRS = PairShape(layers=1, heads=2, width=16, hidden=24, pairs=6, longest=7, vocabulary=32, dropout=0.0)


def silent(*_: object, **__: object) -> None:
    return None


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEARFORMER_HOME", str(tmp_path))


def test_ours_is_the_plain_peers_function() -> None:
    module = NanoGPTLike(TINY)
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
        torch.testing.assert_close(ours.module(ids), module(ids))


def test_ours_translates_as_the_plain_peer_does() -> None:
    """The paper's projections have no bias; with the peer's at zero, the same weights give the same loss."""
    module, theirs = torch_pairs(PAIRS)
    stacks, batch = module.stacks, PAIRS.batches(1)[0]
    with our_trainee(PAIRS, "float32", compiled=False, note=silent) as ours, torch.no_grad():
        model = ours.module
        assert isinstance(model, EncoderDecoder)
        module.token.weight.copy_(model.decoder.embed.token.weight)
        for stack, layers in ((model.encoder, stacks.encoder.layers), (model.decoder, stacks.decoder.layers)):
            for block, layer in zip(stack.blocks, layers, strict=True):
                pairs = [(block.attention, layer.self_attn)]
                pairs += [(block.cross_attention, layer.multihead_attn)] if hasattr(layer, "multihead_attn") else []
                for at, other in pairs:
                    other.in_proj_weight.copy_(torch.cat([at.query.weight, at.key.weight, at.value.weight]))
                    other.in_proj_bias.zero_()
                    other.out_proj.weight.copy_(at.output.weight)
                    other.out_proj.bias.zero_()
                layer.linear1.load_state_dict(block.feedforward.up.state_dict())
                layer.linear2.load_state_dict(block.feedforward.down.state_dict())
        assert float(ours.loss(*batch)) == pytest.approx(float(theirs(*batch)), rel=1e-5)


@pytest.mark.parametrize("shape", [TINY, PAIRS])
@pytest.mark.parametrize("name", ["nanogpt-like", "hf", "nn"])
def test_every_trainee_learns_and_has_a_speed(name, shape) -> None:
    if name == "nanogpt-like" and shape is PAIRS:
        pytest.skip("nanoGPT translates nothing")
    trainee = peer_trainee(name, shape, torch.float32, compiled=False)
    with our_trainee(shape, "float32", compiled=False, note=silent) as ours:
        rows = measure_training([ours, trainee], shape, runs=2, steps=2, advance=silent)
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
        peer_trainee("fastgpt", TINY, torch.float32, compiled=False)
    with pytest.raises(UsageError, match="among nn, hf, joeynmt, found litgpt"):
        peer_trainee("litgpt", PAIRS, torch.float32, compiled=False)
    monkeypatch.setitem(__import__("sys").modules, "litgpt", None)
    with pytest.raises(UsageError, match="pip install litgpt"):
        peer_trainee("litgpt", TINY, torch.float32, compiled=False)


@pytest.mark.parametrize("name", SHAPES)
def test_batches_are_full_and_drawn_alike(name) -> None:
    shape = SHAPES[name]
    one, again = shape.batches(2), shape.batches(2)
    assert all(all(map(torch.equal, first, second)) for first, second in zip(one, again, strict=True))
    batch = one[0]
    if isinstance(shape, PairShape):
        source, source_real, target, target_real = batch
        assert source.numel() + target[:, 1:].numel() == shape.tokens
        assert torch.equal(source == 1, ~source_real)
        assert torch.equal(target == 1, ~target_real)
    else:
        assert batch[0].numel() == shape.tokens
    assert all(int(ids.max()) < shape.vocabulary for ids in batch if ids.dtype == torch.int64)

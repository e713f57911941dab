"""The logit lens: its last layer is the model, its rows are what the head says to each state; the tuned one learns."""

from __future__ import annotations

import pytest
import torch

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.inspect.lens import lens
from clearformer.inspect.tuned_lens import TunedLens, tune
from clearformer.model import EncoderDecoder
from drawing.built import drawn
from drawing.small import SPECS

IDS = [1, 2, 3, 4, 5, 6]
SPEAKING = [name for name in SPECS if name.startswith(("decoder", "encoder"))]


def inputs(spec: s.Spec) -> tuple[list[int] | None, list[torch.Tensor]]:
    target = [3, 1, 2] if isinstance(spec, s.EncoderDecoder) else None
    return target, [torch.tensor([IDS]), *([torch.tensor([target])] if target else [])]


@pytest.mark.parametrize("name", SPEAKING)
def test_the_last_layer_is_the_model_itself(name: str) -> None:
    spec = SPECS[name]
    model = drawn(spec, 1)
    target, data = inputs(spec)
    with torch.no_grad():
        logits = model(*data)[0]
    found = lens(model, IDS, target=target)
    wanted = [*target[1:], None] if target else IDS if isinstance(spec, s.EncoderOnly) else [*IDS[1:], None]
    assert found.truth == tuple(None if each is None else str(each) for each in wanted)
    probabilities = logits.float().softmax(-1)
    for position, true in enumerate(wanted):
        order = logits[position].argsort(descending=True).tolist()
        assert [guess.id for guess in found.top[-1][position]] == order[:5]
        if true is None:
            assert found.rank[-1, position] == 0
            assert found.probability[-1, position].isnan()
        else:
            assert found.rank[-1, position] == order.index(true) + 1
            assert found.probability[-1, position] == probabilities[position, true]


def test_each_layer_is_what_a_shorter_model_would_say() -> None:
    """Hugging Face style: cut the blocks behind a layer off, and the model says what the lens saw there."""
    spec = SPECS["decoder"]
    model = drawn(spec, 1)
    found = lens(model, IDS)
    assert found.layers == (None, 0, 1)
    blocks = model.decoder.blocks
    for row in range(3):
        model.decoder.blocks = blocks[:row]
        with torch.no_grad():
            probabilities = model(torch.tensor([IDS]))[0].float().softmax(-1)
        for position in range(5):
            assert found.probability[row, position] == probabilities[position, IDS[position + 1]]


def test_the_lens_settles_where_the_answer_stays() -> None:
    found = lens(drawn(SPECS["decoder"], 3), IDS)
    for position in range(len(IDS)):
        best = [row[position][0].id for row in found.top]
        settled = found.settled(position)
        row = found.layers.index(settled)
        assert set(best[row:]) == {best[-1]}
        assert row == 0 or best[row - 1] != best[-1]


def test_a_head_without_words_is_refused() -> None:
    bare = s.EncoderOnly(SPECS["encoder"].encoder, s.Hidden(), context=16)
    with pytest.raises(UsageError, match="this model has Hidden"):
        lens(drawn(bare, 1), IDS)


def text(length: int) -> list[int]:
    return torch.randint(0, 11, (length,), generator=torch.Generator().manual_seed(1)).tolist()


def test_an_untrained_tuned_lens_is_the_logit_lens() -> None:
    model = drawn(SPECS["decoder"], 1)
    plain, tuned = lens(model, IDS), lens(model, IDS, through=TunedLens(3, 8))
    assert torch.equal(plain.rank, tuned.rank)
    assert (plain.tuned, tuned.tuned) == (False, True)


@pytest.mark.parametrize("name", ["decoder", "encoder-decoder"])
def test_tuning_brings_every_layer_nearer_to_the_answer_and_leaves_the_model(name: str, monkeypatch) -> None:
    from clearformer.inspect import tuned_lens as room

    # Texts as long as the small models read.
    monkeypatch.setattr(room, "_LONGEST_PIECE", 12)
    spec = SPECS[name]
    model = drawn(spec, 1, torch.float32).train()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    source = IDS if isinstance(model, EncoderDecoder) else None
    steps: list[int] = []
    found = tune(model, text(120), source=source, steps=60, progress=lambda done, total: steps.append(done))
    assert found.after < 0.8 * found.before
    assert steps == list(range(1, 61))
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert all(each.requires_grad and each.grad is None for each in model.parameters())
    assert model.training
    again = tune(model, text(120), source=source, steps=60)
    assert torch.equal(again.lens.weight, found.lens.weight)


def test_a_tuned_lens_comes_back_from_its_file(tmp_path) -> None:
    made = TunedLens(3, 8)
    torch.nn.init.normal_(made.weight)
    made.save(tmp_path / "lens.safetensors")
    assert torch.equal(TunedLens.read(tmp_path / "lens.safetensors", drawn(SPECS["decoder"], 1)).weight, made.weight)
    with pytest.raises(UsageError, match="tuned lens is for"):
        TunedLens.read(tmp_path / "lens.safetensors", drawn(SPECS["encoder"], 1))


def test_too_little_text_to_tune_on() -> None:
    with pytest.raises(UsageError, match="at least 64 tokens"):
        tune(drawn(SPECS["decoder"], 1), text(63))
    with pytest.raises(UsageError, match="--tune-steps"):
        tune(drawn(SPECS["decoder"], 1), text(64), steps=0)

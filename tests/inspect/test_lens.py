"""The logit lens: its last layer is the model, its rows are what the head says to each state; the tuned one learns."""

from __future__ import annotations

import pytest
import torch

from clearformer import spec as s
from clearformer.checkpoint.writing import save_tensors
from clearformer.errors import CheckpointError, UsageError
from clearformer.inspect.lens import lens
from clearformer.inspect.lens_file import read_lens, save_lens
from clearformer.inspect.tuned_lens import TunedLens, tune
from clearformer.model import EncoderDecoder
from clearformer.taps import Listening
from drawing.built import drawn
from drawing.small import SPECS

IDS = [1, 2, 3, 4, 5, 6]
STREAM = ("decoder.embed", "decoder.blocks.*.output")
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
def test_tuning_brings_every_layer_nearer_to_the_answer_and_leaves_the_model(name: str) -> None:
    """On a text longer than the small models read."""
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


def test_through_a_tuned_lens_the_last_layer_is_the_model_and_the_others_come_nearer() -> None:
    """Measured here on texts that it was not tuned on: Σ p log(p / q) of the model's answer p and each layer's q."""
    model = drawn(SPECS["decoder"], 1, torch.float32).eval()
    tuned = tune(model, text(400)[:240], steps=80).lens
    assert torch.equal(lens(model, IDS, through=tuned).probability[-1, :-1], lens(model, IDS).probability[-1, :-1])
    held = torch.tensor([text(400)[each : each + 12] for each in range(240, 360, 12)])
    with torch.no_grad():
        heard: list[torch.Tensor] = []
        wanted = model(held, tap=Listening(lambda name, value: heard.append(value), patterns=STREAM)).log_softmax(-1)
        for row, states in enumerate(heard[:-1]):
            plain, mapped = (
                torch.nn.functional.kl_div(
                    model.logits(model.stack.final_norm(each)).log_softmax(-1), wanted, log_target=True, reduction="sum"
                )
                for each in (states, tuned(row, states))
            )
            assert mapped < plain


def test_a_tuned_lens_comes_back_from_its_file_for_its_own_model_alone(tmp_path) -> None:
    path, model = tmp_path / "lens.safetensors", drawn(SPECS["decoder"], 1, torch.float32)
    made = TunedLens(3, 8)
    torch.nn.init.normal_(made.weight)
    save_lens(path, made, model)
    assert torch.equal(read_lens(path, model).weight, made.weight)
    assert torch.equal(read_lens(path, drawn(SPECS["decoder"], 1, torch.float32).bfloat16()).weight, made.weight)
    with pytest.raises(UsageError, match="this model needs"):
        read_lens(path, drawn(SPECS["encoder"], 1))
    moved = drawn(SPECS["decoder"], 1, torch.float32)
    with torch.no_grad():
        next(moved.decoder.blocks[1].parameters()).mul_(1.05)
    with pytest.raises(UsageError, match="with other weights than this model's"):
        read_lens(path, moved)


def test_a_file_that_is_no_lens_is_not_read_nor_written_over(tmp_path) -> None:
    model, made, path = drawn(SPECS["decoder"], 1), TunedLens(3, 8), tmp_path / "weights.safetensors"
    save_tensors(path, dict(made.named_parameters()))
    with pytest.raises(UsageError, match="holds no tuned lens"):
        read_lens(path, model)
    for content in (path.read_bytes(), b"notes"):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="writing would lose it"):
            save_lens(path, made, model)
        assert path.read_bytes() == content
    with pytest.raises(CheckpointError):
        read_lens(path, model)
    torch.nn.init.constant_(made.bias, float("nan"))
    save_lens(tmp_path / "nan.safetensors", made, model)
    with pytest.raises(UsageError, match="bias holds infinity or not-a-number"):
        read_lens(tmp_path / "nan.safetensors", model)


def test_too_little_text_to_tune_on() -> None:
    with pytest.raises(UsageError, match="at least 64 tokens"):
        tune(drawn(SPECS["decoder"], 1), text(63))
    with pytest.raises(UsageError, match="--tune-steps"):
        tune(drawn(SPECS["decoder"], 1), text(64), steps=0)

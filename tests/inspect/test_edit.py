"""An edit by name is the edit by hand: heads and layers removed, states of another run put in; and gradients."""

from __future__ import annotations

import pytest
import torch

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.inspect.capture import capture
from clearformer.inspect.edit import edit, patched, scaled, zero, zero_heads
from clearformer.inspect.gradients import gradients
from clearformer.loss import cross_entropy
from drawing.built import drawn
from drawing.small import SPECS

IDS = [1, 2, 3, 4, 5, 6]
SINGLE = [name for name in SPECS if name.startswith(("decoder", "encoder"))]


def target_of(spec: s.Spec) -> list[int] | None:
    return [3, 1, 2] if isinstance(spec, s.EncoderDecoder) else None


def read(model: torch.nn.Module, spec: s.Spec) -> torch.Tensor:
    target = target_of(spec)
    with torch.no_grad():
        return model(torch.tensor([IDS]), *([torch.tensor([target])] if target else []))


def stacks(model: torch.nn.Module) -> list[torch.nn.Module]:
    return [getattr(model, role) for role in ("encoder", "decoder") if hasattr(model, role)]


@pytest.mark.parametrize("name", SINGLE)
def test_a_removed_head_is_its_columns_of_the_output_set_to_zero(name: str) -> None:
    model, spec = drawn(SPECS[name], 1), SPECS[name]
    found = edit(model, IDS, {"blocks.0.attention.heads": zero_heads(1)}, target=target_of(spec))
    plain = read(model, spec)
    with torch.no_grad():
        for stack in stacks(model):
            attention = stack.blocks[0].attention
            width = attention.spec.value_width
            attention.output.weight[:, width : 2 * width] = 0
    assert torch.equal(found.output, read(model, spec))
    assert not torch.equal(found.output, plain)
    assert found.plain == ()


@pytest.mark.parametrize("name", SINGLE)
def test_a_removed_layer_is_its_sublayers_set_to_zero(name: str) -> None:
    model, spec = drawn(SPECS[name], 1), SPECS[name]
    removed = {"blocks.0.attention.output": zero, "blocks.0.feedforward.output": zero}
    found = edit(model, IDS, removed, target=target_of(spec))
    with torch.no_grad():
        for stack in stacks(model):
            block = stack.blocks[0]
            for parameter in block.attention.output.parameters():
                parameter.zero_()
            feed = block.feedforward
            last = [feed.down] if hasattr(feed, "down") else [expert.down for expert in (*feed.experts, feed.shared)]
            for layer in last:
                for parameter in layer.parameters():
                    parameter.zero_()
    assert torch.equal(found.output, read(model, spec))


def test_a_removed_layer_is_the_model_without_it() -> None:
    spec = SPECS["decoder"]
    model = drawn(spec, 1)
    found = edit(model, IDS, {"blocks.1.attention.output": zero, "blocks.1.feedforward.output": zero})
    model.decoder.blocks = model.decoder.blocks[:1]
    assert torch.equal(found.output, read(model, spec))


def test_a_state_of_another_run_makes_the_rest_of_that_run() -> None:
    model = drawn(SPECS["decoder"], 1)
    other = capture(model, [6, 5, 4, 3, 2, 1], "blocks.0.output")
    found = edit(model, IDS, {"blocks.0.output": patched(other["blocks.0.output"])}, capture=["blocks.*.output"])
    assert torch.equal(found.output, other.output)
    assert found.edited == ("decoder.blocks.0.output",)
    assert torch.equal(found.captured["blocks.0.output"], other["blocks.0.output"])
    last = edit(model, IDS, {"blocks.0.output": patched(other["blocks.0.output"], [5])})
    plain = read(model, SPECS["decoder"])
    # Causal: what stands at the last position reaches no other.
    assert torch.equal(last.output[:, :5], plain[:, :5])
    assert not torch.equal(last.output[:, 5], plain[:, 5])


def test_edited_weights_are_computed_plainly_and_that_is_said() -> None:
    model = drawn(SPECS["decoder"], 1)
    found = edit(model, IDS, {"blocks.1.attention.weights": zero_heads(0)})
    assert found.plain == found.edited == ("decoder.blocks.1.attention.weights",)
    removed = edit(model, IDS, {"blocks.1.attention.heads": zero_heads(0)})
    torch.testing.assert_close(found.output, removed.output)
    hidden = {"blocks.0.attention.masked_scores": lambda scores: scores.masked_fill(scores > -torch.inf, 0.0)}
    even = edit(model, IDS, hidden, capture=["blocks.0.attention.weights"])
    expected = torch.ones(6, 6, dtype=torch.float64).tril()
    expected /= expected.sum(-1, keepdim=True)
    torch.testing.assert_close(even.captured["blocks.0.attention.weights"], expected.expand(1, 4, 6, 6))


def test_an_edit_that_does_nothing_changes_nothing() -> None:
    model = drawn(SPECS["decoder"], 1)
    found = edit(model, IDS, {"embed": scaled(1.0), "**.output": scaled(1.0)})
    assert torch.equal(found.output, read(model, SPECS["decoder"]))


@pytest.mark.parametrize(
    ("edits", "complaint"),
    [
        ({"blocks.0.attention.head": zero}, "No activation is called blocks.0.attention.head"),
        ({"embed": lambda x: x[:, 1:]}, r"An edit of decoder.embed gave \(1, 5, 8\)"),
        ({"embed": zero_heads(0)}, "has no heads"),
        ({"blocks.0.attention.heads": zero_heads(4)}, "no head 4; that activation has 4"),
        ({"embed": patched(torch.zeros(1, 6, 8), [6])}, "no position 6; that activation has 6"),
    ],
)
def test_an_edit_that_cannot_be_made(edits, complaint) -> None:
    with pytest.raises(UsageError, match=complaint):
        edit(drawn(SPECS["decoder"], 1), IDS, edits)


@pytest.mark.parametrize(
    "point", ["embed", "blocks.0.attention.weights", "blocks.1.attention.scores", "blocks.0.output"]
)
def test_a_gradient_is_the_slope_of_the_loss(point: str) -> None:
    """Against two passes a little apart, along the gradient itself."""
    model = drawn(SPECS["decoder"], 1)
    (found,) = gradients(model, IDS, point).values()
    step = 1e-4 / found.norm()

    def loss(amount: float) -> float:
        logits = edit(model, IDS, {point: lambda value: value + amount * found}).output
        loss = cross_entropy(logits[:, :-1], torch.tensor([IDS[1:]]))
        return float(loss.total / loss.units)

    slope = (loss(float(step)) - loss(-float(step))) / (2 * float(step))
    assert slope == pytest.approx(float(found.square().sum()), rel=1e-5)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_gradients_of_a_number_of_ones_own_in_frozen_models_too() -> None:
    model = drawn(SPECS["encoder"], 1).requires_grad_(False)
    found = gradients(model, IDS, "embed", "head.logits", of=lambda logits: logits[0, 2, 5])
    expected = torch.zeros_like(found["head.logits"])
    expected[0, 2, 5] = 1
    assert torch.equal(found["head.logits"], expected)
    assert found["encoder.embed"].abs().sum() > 0
    with pytest.raises(UsageError, match="Gradients are of one number"):
        gradients(model, IDS, "embed")
    with pytest.raises(UsageError, match="Gradients are of one number"):
        gradients(drawn(SPECS["decoder"], 1), [1], "embed")

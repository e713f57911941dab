"""The trace against Hugging Face's hidden states, against the taps, and against what the modules were handed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.build import build
from clearformer.errors import UsageError
from clearformer.inspect.trace import Row, Trace, sizes, trace
from clearformer.model import EncoderDecoder, Model
from clearformer.spec.presets import tiny_gpt
from clearformer.taps import record
from drawing.built import drawn
from drawing.models import CONTEXT, STEPS, VOCABULARY, decoders, encoder_decoders, forecasters, token_encoders

LENGTH = 7


def measures(row: Row) -> tuple[float | None, float | None, float | None]:
    return row.mean, row.std, row.absmax


def expected(values: torch.Tensor) -> list[float]:
    numbers = values.double().numpy()
    return [float(numbers.mean()), float(numbers.std()), float(np.abs(numbers).max())]


def test_the_residual_stream_is_hugging_faces(pair) -> None:
    with torch.no_grad():
        hidden = pair.theirs(pair.ids, output_hidden_states=True).hidden_states
    rows = trace(pair.ours, pair.ids[0].tolist()).rows
    stream = [row for row in rows if row.op in ("embed", "output")]
    if pair.theirs.config.model_type == "llama":
        # transformers shows a Llama's last hidden state after the final norm.
        stream[-1] = next(row for row in rows if row.op == "final_norm")
    assert len(stream) == len(hidden)
    for row, values in zip(stream, hidden, strict=True):
        assert row.out_shape == tuple(values.shape)
        assert measures(row) == pytest.approx(expected(values), rel=1e-4, abs=1e-5)


def read(model: Model, seed: int) -> tuple[Trace, dict[str, torch.Tensor]]:
    """A trace, and the taps of the same pass recorded apart."""
    rng = np.random.default_rng(seed)
    stack = model.encoder.spec if isinstance(model, EncoderDecoder) else model.stack.spec
    match stack.input:
        case s.Tokens():
            data = torch.from_numpy(rng.integers(0, VOCABULARY - 1, (1, LENGTH)))
            data[0, -1] = VOCABULARY - 1
        case s.Patches(height=height, width=width, channels=channels):
            data = torch.from_numpy(rng.normal(size=(1, channels, height, width)))
        case s.Series(channels=channels):
            data = torch.from_numpy(rng.normal(size=(1, STEPS, channels)))
    target = [1, 2, 3] if isinstance(model, EncoderDecoder) else None
    seen, tap = record()
    with torch.inference_mode():
        model(data, *([torch.tensor([target])] if target else []), tap=tap)
    return trace(model, data, target=target), seen


@settings(max_examples=50)
@given(st.one_of(decoders(), token_encoders(), forecasters(), encoder_decoders()), st.integers(0, 99))
def test_every_tap_is_a_row_and_letters_name_one_size_each(spec, seed) -> None:
    found, seen = read(drawn(spec, seed), seed)
    rows = {f"{row.stage}.{row.op}": row for row in found.rows}
    assert len(rows) == len(found.rows)
    # The sum that is the block's output is one row, under that name.
    missing = {name for name in seen if name not in rows}
    assert all(name.endswith(".feedforward_sum") for name in missing)
    assert {name for name in rows if name not in seen} <= {"loss.cross_entropy"}
    for name, row in rows.items():
        if name in seen:
            # The plan, read off the spec, says the shape that was computed.
            assert row.out_shape == tuple(seen[name].shape)
            visible = seen[name][seen[name] != -torch.inf]
            assert measures(row) == pytest.approx(sizes(visible))
        assert len(row.letters.split()) == len(row.out_shape)
        assert row.in_shapes
    for stage in {row.stage for row in found.rows if row.layer is not None}:
        sized: dict[str, set[int]] = {}
        for row in found.rows:
            # What a head answers has no letters of its own; a cross-attention's S is the source's.
            if row.stage == stage and not row.op.startswith("cross_attention."):
                for letter, size in zip(row.letters.split(), row.out_shape, strict=True):
                    sized.setdefault(letter, set()).add(size)
        assert {letter: sizes for letter, sizes in sized.items() if len(sizes) > 1} == {}


PRE = (s.Sequential("pre"), s.Sequential("sandwich"))


@settings(max_examples=50)
@given(st.one_of(decoders(), token_encoders(), encoder_decoders()), st.integers(0, 99))
def test_what_a_step_reads_is_what_its_module_was_handed(spec, seed) -> None:
    model = drawn(spec, seed)
    handed: dict[str, torch.Tensor] = {}

    def keep(name: str):
        def hook(module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
            handed.setdefault(name, given[0].clone())

        return hook

    hooks = [module.register_forward_pre_hook(keep(name)) for name, module in model.named_modules()]
    found, _ = read(model, seed)
    for hook in hooks:
        hook.remove()
    rows = {f"{row.stage}.{row.op}": row for row in found.rows}
    for name, row in rows.items():
        if name.endswith((".query", ".key", ".value", ".gate", "norm")) and name in handed:
            assert row.in_shapes == (tuple(handed[name].shape),)
    for name, row in rows.items():
        following = "cross_norm" if f"{row.stage}.cross_sum" in rows else "feedforward_norm"
        norm = f"{row.stage}.{following}"
        # Where a norm comes first, it is handed the sum before it.
        if row.op == "attention_sum" and norm in rows and block_of(model.spec, row.stage).arrangement in PRE:
            assert measures(row) == pytest.approx(sizes(handed[norm]), rel=1e-9, abs=1e-12)
        if row.op.endswith("_output_norm"):
            assert row.in_shapes == (row.out_shape,) == (tuple(handed[name].shape),)


def block_of(spec: s.Spec, stage: str) -> s.Block:
    role, _, index = stage.split(".")
    stack: s.Stack = getattr(spec, role)
    return stack.blocks[int(index)]


def test_a_folded_trace_keeps_one_block_whole(llama) -> None:
    whole = trace(llama.ours, "the cat")
    folded = whole.folded(1)
    assert [row for row in folded.rows if row.layer == 1] == [row for row in whole.rows if row.layer == 1]
    assert [row.op for row in folded.rows if row.layer == 0] == ["output"]
    outside = ["embed", "final_norm", "logits", "cross_entropy"]
    assert [row.op for row in folded.rows if row.layer is None] == outside
    assert whole.folded(None) == whole
    with pytest.raises(UsageError, match="no layer 2; the model has 2"):
        whole.folded(2)


def test_a_model_in_training_is_read_without_dropout_and_stays_in_training() -> None:
    spec = tiny_gpt(width=16, heads=2, layers=1, vocabulary=VOCABULARY, context=CONTEXT, dropout=0.5)
    model = build(spec, generator=torch.Generator().manual_seed(0))
    model.stack.blocks[0].eval()
    first, second = trace(model, [1, 2, 3]), trace(model, [1, 2, 3])
    assert first == second
    assert model.training
    assert not model.stack.blocks[0].training


def test_numbers_that_are_not_finite_are_none() -> None:
    assert sizes(torch.tensor([1.0, float("nan")])) == (None, None, None)
    assert sizes(torch.tensor([3.0, 3.0])) == (3.0, 0.0, 3.0)


def test_a_trace_prints_names_letters_and_sizes(llama) -> None:
    shown = str(trace(llama.ours, "the cat"))
    assert "decoder.blocks.1.attention.scores" in shown
    assert "B H T S = 1 4 " in shown

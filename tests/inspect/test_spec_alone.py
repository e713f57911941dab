"""A spec's shapes without a weight: the tables of the paper's base model, and what a real pass has."""

from __future__ import annotations

import pytest

from clearformer import spec as s
from clearformer.errors import UsageError
from clearformer.inspect.eight_steps import expand, expand_spec
from clearformer.inspect.plan import Reading, usual_reading
from clearformer.inspect.trace import trace_spec
from clearformer.spec.presets import PRESETS, tiny_gpt, transformer_base
from clearformer.taps import record
from drawing.built import drawn
from drawing.small import SPECS


def shapes(rows) -> dict[str, tuple[int, ...]]:
    return {f"{row.stage}.{row.op}": row.out_shape for row in rows}


def test_the_base_model_reads_twelve_tokens_and_writes_seven() -> None:
    """Vaswani et al. 2017: d_model 512, 8 heads of 64, hidden 2048, 37000 tokens; each shape with its batch."""
    found = shapes(trace_spec(transformer_base(), Reading(batch=3, length=12, target=7)).rows)
    expected = {
        "encoder.embed": (3, 12, 512),
        "encoder.blocks.5.output": (3, 12, 512),
        "encoder.blocks.0.attention.query": (3, 8, 12, 64),
        "encoder.blocks.0.feedforward.hidden": (3, 12, 2048),
        "decoder.blocks.0.attention.scores": (3, 8, 7, 7),
        "decoder.blocks.0.cross_attention.scores": (3, 8, 7, 12),
        "decoder.blocks.0.cross_attention.key": (3, 8, 12, 64),
        "head.logits": (3, 7, 37000),
        "loss.cross_entropy": (),
    }
    assert {name: found[name] for name in expected} == expected


def test_the_eight_steps_of_one_head() -> None:
    """Six tokens of width 512, one head of 64: what is multiplied with what, and what comes out."""
    attention = s.Attention(1, 1, 64, 64, s.Full())
    spec = s.EncoderOnly(
        s.Stack(512, s.Tokens(9), (s.Block(attention, s.Dense(8), None, None),)), s.Hidden(), context=6
    )
    rows = [row for row in expand_spec(spec, Reading(length=6)).rows if row.number]
    assert [row.operation for row in rows] == [
        "X · W_Q",
        "X · W_K",
        "X · W_V",
        "Q · Kᵀ",
        "/ √64",
        "−∞ if hidden",
        "softmax over S",
        "weights · V",
    ]
    head = (1, 1, 6, 64)
    assert rows[0].in_shapes == ((1, 6, 512), (512, 64))
    assert [row.out_shape for row in rows] == [head, head, head, *[(1, 1, 6, 6)] * 4, head]
    assert rows[3].in_shapes == (head, head)
    assert rows[7].in_shapes == ((1, 1, 6, 6), head)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_its_shapes(name: str) -> None:
    spec = PRESETS[name]()
    rows = trace_spec(spec, usual_reading(spec)).rows
    assert rows[0].op == "embed"
    # The forecaster and the classifiers have a loss as well; a sentence encoder has none.
    assert (rows[-1].stage == "loss") is not isinstance(spec.head, s.Hidden | s.Vector)


@pytest.mark.parametrize("name", [name for name in SPECS if name.startswith(("decoder", "encoder"))])
def test_the_steps_of_a_real_pass_have_the_shapes_of_the_spec_and_the_taps_numbers(name: str) -> None:
    spec = SPECS[name]
    model, ids = drawn(spec, 2), [1, 2, 3, 4, 5]
    target = [3, 1, 2] if isinstance(spec, s.EncoderDecoder) else None
    found = expand(model, ids, target=target)
    plain = expand_spec(spec, Reading(1, 5, 3))
    assert shapes(found.rows) == shapes(plain.rows)
    seen, tap = record("blocks.0.attention.*")
    import torch

    with torch.no_grad():
        model(torch.tensor([ids]), *([torch.tensor([target])] if target else []), tap=tap)
    for row in found.rows:
        name = f"{row.stage}.{row.op}"
        if name in seen:
            values = seen[name][seen[name] != -torch.inf]
            assert row.std == pytest.approx(float(values.std(correction=0)), abs=1e-12)
    scores = {row.op: row for row in found.rows if row.stage.startswith(("decoder", "encoder.blocks.0"))}
    attention = s.main_stack(spec).blocks[0].attention if target is None else spec.decoder.blocks[0].attention
    if getattr(attention, "score_cap", None) is None and not isinstance(
        getattr(attention, "position", None), s.ALiBi | s.RelativeBias
    ):
        product, scaled = scores["attention.product"], scores["attention.scores"]
        assert product.absmax * attention.score_scale == pytest.approx(scaled.absmax)


def test_what_a_spec_cannot_read_is_refused() -> None:
    with pytest.raises(UsageError, match=r"at most 256 tokens, found 257"):
        trace_spec(tiny_gpt(), Reading(length=257))
    with pytest.raises(UsageError, match=r"--batch: expected a whole number from 1, found 0"):
        trace_spec(tiny_gpt(), Reading(batch=0))
    with pytest.raises(UsageError, match="no cross-attention"):
        expand_spec(tiny_gpt(), Reading(), module="cross_attention")
    with pytest.raises(UsageError, match="no layer 9"):
        expand_spec(tiny_gpt(), Reading(), layer=9)
    with pytest.raises(UsageError, match="two towers"):
        trace_spec(SPECS["two-towers"], Reading())

"""FLOPs are those that PyTorch counts while the plain kernel runs; visible pairs are counted one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from clearformer import spec as s
from clearformer.cost.flops import Flops, flops, seen
from clearformer.cost.formula import letter
from clearformer.cost.work import Work
from clearformer.layers.attention import Attention
from clearformer.layers.latent_attention import LatentAttention
from clearformer.layers.mask import Mask
from clearformer.spec.presets import tiny_gpt
from cost.known import GPT2
from cost.written import worked_out
from drawing import small
from drawing.built import drawn
from drawing.inputs import batch
from drawing.models import any_spec


def counted(work: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def plainly(spec: s.Spec) -> Any:
    model = drawn(spec, 0, torch.float32)
    for module in model.modules():
        if isinstance(module, Attention | LatentAttention):
            module.kernel = "plain"
    return model


def read(model: Any, data: Any) -> torch.Tensor:
    """All outputs of one pass; numbers for the model's inputs."""
    tensors = [torch.as_tensor(each) for each in data]
    return model(*(each.float() if each.is_floating_point() else each for each in tensors))


def work_of(spec: s.Spec, data: Any) -> Work:
    """The work that reading the data is."""
    match spec:
        case s.EncoderDecoder():
            stacks = [spec.encoder, spec.decoder]
        case s.TwoTowers():
            stacks = [s.main_stack(spec.text), spec.image.encoder]
        case _:
            stacks = [s.main_stack(spec)]
    lengths = [
        stack.input.length(each.shape[1]) if isinstance(stack.input, s.Series) else each.shape[1]
        for stack, each in zip(stacks, data, strict=True)
    ]
    if isinstance(spec, s.EncoderDecoder):
        return Work(len(data[0]), lengths[1], lengths[0])
    return Work(len(data[0]), lengths[0])


def inputs(spec: s.Spec) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    match spec:
        case s.EncoderDecoder():
            return [batch(spec.encoder.input, rng).data, batch(spec.decoder.input, rng).data]
        case s.TwoTowers():
            return [batch(s.main_stack(spec.text).input, rng).data, batch(spec.image.encoder.input, rng).data]
        case _:
            return [batch(s.main_stack(spec).input, rng).data]


@given(any_spec)
@settings(max_examples=30)
def test_drawn_specs_take_the_flops_that_torch_counts(spec: s.Spec) -> None:
    data = inputs(spec)
    model, found = plainly(spec), flops(spec, work_of(spec, data))
    assert found.forward == counted(lambda: read(model, data))
    formulas(found)


@given(any_spec)
@settings(max_examples=20)
def test_drawn_specs_take_the_flops_of_a_forward_and_a_backward_pass(spec: s.Spec) -> None:
    data = inputs(spec)
    model, found = plainly(spec), flops(spec, work_of(spec, data))
    assert found.training == counted(lambda: read(model, data).square().sum().backward())


def formulas(found: Flops) -> None:
    for formula in (*found.linear.values(), found.executed, found.visible):
        assert worked_out(formula.numbers) == formula.value


@pytest.mark.parametrize("name", small.SPECS)
def test_each_architecture_takes_the_flops_that_torch_counts(name: str) -> None:
    spec = small.SPECS[name]
    data = small.inputs(spec, np.random.default_rng(0))
    found = flops(spec, work_of(spec, data))
    assert found.forward == counted(lambda: read(plainly(spec), data))


def test_gpt2_without_biases_takes_what_is_known() -> None:
    found = flops(GPT2, Work(length=1024))
    assert found.forward == 291_648_307_200
    assert found.training == 3 * found.forward


visibilities = st.one_of(
    st.builds(s.Full, st.sampled_from((None, 0, 1, 3, 50))),
    st.builds(s.Causal, st.sampled_from((None, 1, 2, 5, 50))),
)


@given(visibilities, st.integers(1, 9), st.integers(0, 6))
def test_visible_pairs_are_those_of_the_mask(visibility: s.Visibility, queries: int, before: int) -> None:
    """The last `queries` of all positions look at all of them."""
    keys = torch.arange(before + queries)[None]
    table = Mask(visibility, keys[:, before:], keys).visible()
    found = seen(visibility, letter("T", queries), letter("S", before + queries))
    assert found.value == int(table.expand(1, 1, queries, before + queries).sum())
    assert worked_out(found.numbers) == found.value


def test_scores_of_eight_times_the_length_are_sixty_four_times_as_many() -> None:
    gpt = tiny_gpt(context=4096)
    short, long = (flops(gpt, Work(length=length)).executed.value for length in (512, 4096))
    assert long == 64 * short


def test_a_window_hides_what_is_executed_all_the_same() -> None:
    block = small.block(s.Causal(window=3))
    open_, narrow = (small.decoder(small.block(s.Causal())), small.decoder(block))
    wide, few = (flops(spec, Work(length=16)) for spec in (open_, narrow))
    assert wide.executed.value == few.executed.value
    assert few.visible.value < wide.visible.value < wide.executed.value


def test_recomputing_takes_the_blocks_once_more() -> None:
    once, again = (flops(tiny_gpt(), Work(recompute=recompute)) for recompute in (False, True))
    assert again.training - once.training == once.forward - once.linear["head"].value

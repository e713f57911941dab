"""Choices follow what is measured, are told, kept, and leave the model as it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
import torch

from clearformer import spec as s
from clearformer.errors import MachineError, UsageError
from clearformer.loss import chunked_cross_entropy, shift
from clearformer.messages import speed as say
from clearformer.model import DecoderOnly
from clearformer.speed import attention_choice, compiling, switch
from clearformer.speed.measurements import FILE, Measurements
from clearformer.speed.observation import Attended, observe
from clearformer.speed.training import Choices, apply, choose
from drawing.built import drawn
from drawing.small import block, decoder

IDS = torch.arange(20).view(2, 10) % 11


@dataclass(frozen=True)
class Wanted:
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16", "auto"] = "float32"
    compile: Literal["auto", "yes", "no"] = "auto"
    kernel: Literal["auto", "plain", "tiled", "sdpa"] = "auto"
    switch: Literal["auto", "yes", "no"] = "auto"
    checkpoint_activations: bool = False


@pytest.fixture
def model() -> DecoderOnly:
    made = drawn(decoder(block(s.Causal(), dropout=0.1), block(s.Causal())), 0, torch.float32).train()
    assert isinstance(made, DecoderOnly)
    return made


def step_of(model: DecoderOnly) -> Callable[[], None]:
    inputs, targets = shift(IDS)
    return lambda: chunked_cross_entropy(model.hidden(inputs), model.logits, targets).total.backward()


def chosen(
    model: DecoderOnly, wanted: Wanted, folder: Path, *, steps: int = 10, **more: bool
) -> tuple[Choices, list[object]]:
    told: list[object] = []
    note = lambda message, values: told.append(message) or message.text("zh", **values)  # noqa: E731
    return choose(model, wanted, step_of(model), steps=steps, folder=folder, note=note, **more), told


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, float]]:
    """What this machine is made to measure."""
    found: dict[str, dict[str, float]] = {
        "error": {"error": 4e-7},
        "gain": {"default": 2.0, "switched": 1.0},
        "kernels": {"plain": 1.0, "sdpa": 2.0},
        "compile": {"eager": 1.0, "compiled": 0.8, "compiling": 60.0},
    }
    monkeypatch.setattr(switch, "probe", lambda products: found["error"])
    monkeypatch.setattr(switch, "gain", lambda products: found["gain"])
    monkeypatch.setattr(attention_choice, "time_kernels", lambda *_: found["kernels"])
    monkeypatch.setattr(compiling, "time_compiling", lambda *_: found["compile"])
    monkeypatch.setattr(compiling, "may_pay", lambda *_: True)
    return found


def test_the_faster_is_chosen(model: DecoderOnly, figures: dict, tmp_path: Path) -> None:
    found, told = chosen(model, Wanted(), tmp_path, steps=1000)
    assert (found.switch, found.kernel, found.compile) == (True, "plain", True)
    assert told == [say.SWITCHED, say.KERNEL_CHOSEN, say.COMPILED]


def test_a_switch_that_rounds_stays_off_however_fast(model: DecoderOnly, figures: dict, tmp_path: Path) -> None:
    figures["error"] = {"error": 3e-3}
    found, told = chosen(model, Wanted(), tmp_path)
    assert not found.switch
    assert say.SWITCH_NOT_FLOAT32 in told
    with pytest.raises(MachineError, match="relative error"):
        chosen(model, Wanted(switch="yes"), tmp_path)


def test_a_switch_that_is_no_faster_stays_off(model: DecoderOnly, figures: dict, tmp_path: Path) -> None:
    figures["gain"] = {"default": 1.0, "switched": 1.0}
    found, told = chosen(model, Wanted(), tmp_path)
    assert not found.switch
    assert say.NOT_SWITCHED in told
    assert chosen(model, Wanted(switch="yes"), tmp_path)[0].switch


def test_kernels_alike_give_the_one_without_tables(model: DecoderOnly, figures: dict, tmp_path: Path) -> None:
    figures["kernels"] = {"plain": 1.0, "sdpa": 1.01}
    assert chosen(model, Wanted(), tmp_path)[0].kernel == "sdpa"


@pytest.mark.parametrize(
    ("seconds", "kernel"),
    [
        ({"plain": 1.0, "tiled": 0.9, "sdpa": 1.0}, "tiled"),
        ({"plain": 0.98, "tiled": 1.0, "sdpa": 1.0}, "sdpa"),
        ({"plain": 0.89, "tiled": 0.9, "sdpa": 1.0}, "tiled"),
        ({"plain": 0.8, "tiled": 0.9, "sdpa": 1.0}, "plain"),
        ({"tiled": 2.0, "sdpa": 1.0}, "sdpa"),
    ],
)
def test_of_three_the_fastest_is_chosen_and_of_those_alike_the_leanest(
    model: DecoderOnly, figures: dict, tmp_path: Path, seconds: dict[str, float], kernel: str
) -> None:
    figures["kernels"] = seconds
    assert chosen(model, Wanted(), tmp_path)[0].kernel == kernel


def test_tiles_are_tried_where_tables_are_large_and_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (Attended(4, 8, 8, T, T, 64, 64, True, False, False, 0.1) for T in (128, 512))
    assert attention_choice.candidates({small: 6}, "cpu") == ("plain", "sdpa")
    assert attention_choice.candidates({small: 6, large: 1}, "cpu") == ("plain", "tiled", "sdpa")
    assert attention_choice.candidates({large: 1}, "cuda") == ("plain", "sdpa")
    memory = replace(attention_choice.memory(), available=2**20)
    monkeypatch.setattr(attention_choice, "memory", lambda: memory)
    assert attention_choice.candidates({large: 1}, "cpu") == ("tiled", "sdpa")


def test_the_mask_of_a_trial_hides_what_the_runs_hides() -> None:
    at = Attended(2, 2, 2, 16, 16, 4, 4, False, False, False, 0.0, window=3)
    slots = torch.arange(16)
    assert torch.equal(
        attention_choice.mask_like(at, "cpu").visible()[0, 0],
        (slots[None] <= slots[:, None]) & (slots[:, None] - slots[None] < 3),
    )
    windowed = drawn(decoder(block(s.Causal(4))), 0, torch.float32).train()
    assert next(iter(observe(windowed, step_of(windowed)).attentions)).window == 4


def test_tables_that_do_not_fit_are_not_tried(
    model: DecoderOnly, figures: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = attention_choice.tables_bytes(dict(observe(model, step_of(model)).attentions))
    assert needed == 2 * 4 * 2 * 4 * 9 * 9  # two layers of float32, B H T S
    memory = replace(attention_choice.memory(), available=2 * needed - 1)
    monkeypatch.setattr(attention_choice, "memory", lambda: memory)
    found, told = chosen(model, Wanted(), tmp_path)
    assert found.kernel == "sdpa"
    assert say.TABLES_TOO_LARGE in told


def test_compiling_must_be_won_back(model: DecoderOnly, figures: dict, tmp_path: Path) -> None:
    assert not chosen(model, Wanted(), tmp_path, steps=299)[0].compile
    assert chosen(model, Wanted(), tmp_path, steps=301)[0].compile
    assert not chosen(model, Wanted(), tmp_path, steps=301, fixed_shapes=False)[0].compile
    assert not chosen(model, Wanted(checkpoint_activations=True), tmp_path, steps=301)[0].compile


def test_short_runs_do_not_even_try() -> None:
    assert not compiling.may_pay(0.1, 100)
    assert compiling.may_pay(0.1, 1000)


def test_a_wish_is_a_choice_and_measures_nothing(model: DecoderOnly, tmp_path: Path) -> None:
    wanted = Wanted(dtype="bfloat16", compile="no", kernel="plain", switch="no", checkpoint_activations=True)
    found, told = chosen(model, wanted, tmp_path)
    assert not told
    assert not (tmp_path / FILE).exists()
    assert found == Choices(False, "plain", False, "bfloat16", True, "cpu", torch.get_num_threads())
    assert Choices.of(json.loads(json.dumps(found.facts()))) == found


def test_what_excludes_each_other_is_refused(model: DecoderOnly, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="recomputed"):
        chosen(model, Wanted(compile="yes", checkpoint_activations=True), tmp_path)
    with pytest.raises(UsageError, match="CPU"):
        chosen(model, Wanted(device="cuda", switch="yes"), tmp_path)


def test_choosing_leaves_no_trace(model: DecoderOnly, tmp_path: Path) -> None:
    """Measured in earnest on this machine: no gradients, no drawn numbers, no settings, no changed weights."""
    weights, state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    before = torch.backends.mkldnn.matmul.fp32_precision
    chosen(model, Wanted(dtype="auto"), tmp_path)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    assert torch.backends.mkldnn.matmul.fp32_precision == before
    assert all(b.attention.kernel == "sdpa" for b in model.decoder.blocks)


def test_figures_are_measured_once_on_a_machine(
    model: DecoderOnly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = chosen(model, Wanted(), tmp_path)

    def measured_again(*_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(attention_choice, "time_kernels", measured_again)
    monkeypatch.setattr(switch, "probe", measured_again)
    assert chosen(model, Wanted(), tmp_path)[0] == first
    kept = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps({**kept, "machine": "another"}))
    with pytest.raises(InterruptedError):
        chosen(model, Wanted(), tmp_path)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"machine": 3}', b"\xff"])
def test_a_damaged_file_holds_no_figures(damage: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(damage)
    assert Measurements(tmp_path).ask("a", lambda: {"b": 1.0}) == {"b": 1.0}
    assert Measurements(tmp_path).ask("a", lambda: {"b": 2.0}) == {"b": 1.0}


def test_apply_computes_as_chosen_and_undoes_it(model: DecoderOnly) -> None:
    plain = Choices(kernel="plain", switch=True, recompute=True)
    with apply(model, plain) as same:
        assert same is model
        assert {b.attention.kernel for b in model.decoder.blocks} == {"plain"}
        assert model.decoder.recompute
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    assert {b.attention.kernel for b in model.decoder.blocks} == {"sdpa"}
    assert not model.decoder.recompute
    assert torch.backends.mkldnn.matmul.fp32_precision != "bf16"


def test_bfloat16_computes_in_it_and_keeps_float32_weights(model: DecoderOnly) -> None:
    model.eval()
    with torch.no_grad():
        exact = model(IDS)
        with apply(model, Choices(dtype="bfloat16")):
            rounded, twin = model(IDS), copy.deepcopy(model)
            assert {p.dtype for p in model.parameters()} == {torch.float32}
            for parameter in twin.parameters():
                parameter.zero_()
            assert not twin(IDS).any(), "a copy runs its own weights"
        assert torch.equal(model(IDS), exact)
    assert rounded.dtype == torch.bfloat16
    assert 1e-6 < (rounded - exact).abs().max() < 0.1 * exact.abs().max()


def test_what_a_step_is_made_of_is_seen(model: DecoderOnly) -> None:
    seen = observe(model, step_of(model))
    # 9 positions of 2 rows; key and value are alike in rows and inputs, and differ in outputs.
    assert seen.products[18, 8, 16] == 2
    assert sum(seen.products.values()) == 2 * 7
    assert seen.attentions == {Attended(2, 4, 2, 9, 9, 4, 3, True, False, False, 0.0): 2}
    kernels = ("plain", "tiled", "sdpa")
    times = attention_choice.time_kernels(dict(seen.attentions), torch.float32, "cpu", kernels)
    assert tuple(times) == kernels
    assert min(times.values()) > 0

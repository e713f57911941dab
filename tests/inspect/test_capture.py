"""Activations by name: kept, streamed, refused where they are too many; the names are those of the taps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from clearformer import machine
from clearformer import spec as s
from clearformer.errors import MachineError, UsageError
from clearformer.inspect import capture as room
from clearformer.inspect.capture import capture, open_captured
from clearformer.inspect.plan import Reading
from clearformer.inspect.points import bytes_of, points
from clearformer.taps import record
from drawing.built import drawn
from drawing.small import SPECS

IDS = [1, 2, 3, 4, 5, 6]
SINGLE = [name for name in SPECS if name.startswith(("decoder", "encoder"))]


def target_of(spec: s.Spec) -> list[int] | None:
    return [3, 1, 2] if isinstance(spec, s.EncoderDecoder) else None


@pytest.mark.parametrize("name", SINGLE)
def test_everything_that_is_tapped_can_be_captured_and_takes_what_is_said(name: str) -> None:
    spec = SPECS[name]
    model, target = drawn(spec, 1), target_of(spec)
    seen, tap = record()
    inputs = [torch.tensor([IDS])] + ([torch.tensor([target])] if target else [])
    with torch.no_grad():
        plain = model(*inputs)
        model(*inputs, tap=tap)
    found = capture(model, IDS, target=target)
    assert torch.equal(found.output, plain)
    assert list(found) == list(seen)
    assert all(torch.equal(found[each], seen[each]) for each in seen)
    shapes = points(spec, Reading(1, len(IDS), 3))
    assert shapes == {each: tuple(value.shape) for each, value in seen.items()}
    assert bytes_of(shapes, 8) == sum(value.nbytes for value in seen.values())


def test_the_weights_are_hugging_faces(pair) -> None:
    with torch.no_grad():
        theirs = pair.theirs(pair.ids, output_attentions=True).attentions
    found = capture(pair.ours, pair.ids, "blocks.*.attention.weights")
    assert len(found) == len(theirs)
    for ours, weights in zip(found.activations.values(), theirs, strict=True):
        assert torch.allclose(ours, weights, atol=1e-5)
        assert torch.allclose(ours.sum(-1), torch.ones(()), atol=1e-5)


def test_a_short_name_will_do_where_it_means_one(llama) -> None:
    found = capture(llama.ours, "the cat", "blocks.*.output", "embed")
    assert found["blocks.1.output"] is found["decoder.blocks.1.output"]
    assert found.tokens[-1] == " cat"
    assert "decoder.embed: (1, " in repr(found)
    with pytest.raises(UsageError, match=r"blocks\.\*\.output names 2"):
        _ = found["blocks.*.output"]
    with pytest.raises(KeyError):
        _ = found["blocks.0.attention.weights"]


def test_a_batch_and_a_view_keep_no_more_than_they_hold(llama) -> None:
    found = capture(llama.ours, torch.tensor([[1, 2, 3], [4, 5, 6]]), "blocks.0.attention.**")
    assert found["blocks.0.attention.key"].shape == (2, 2, 3, 8)
    assert all(value.untyped_storage().nbytes() == value.nbytes for value in found.activations.values())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_on_disk_they_are_the_same(tmp_path: Path, dtype: torch.dtype) -> None:
    model = drawn(SPECS["decoder"], 1).to(dtype)
    inside, outside = capture(model, IDS), capture(model, IDS, folder=tmp_path / "new")
    assert list(inside) == list(outside)
    for name, value in inside.activations.items():
        assert torch.equal(outside[name], value.float() if dtype == torch.bfloat16 else value)
    again = open_captured(tmp_path / "new")
    again["decoder.embed"][:] = 0
    assert torch.equal(open_captured(tmp_path / "new")["decoder.embed"], outside["decoder.embed"])
    np.testing.assert_array_equal(np.load(tmp_path / "new" / "head.logits.npy"), outside["head.logits"].numpy())
    with pytest.raises(UsageError, match="holds files already"):
        capture(model, IDS, folder=tmp_path / "new")


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("blocks.0.attention.weigths", "blocks.0.attention.weights"),
        ("blocks.*.attn.weights", "blocks.*.attention.weights"),
        ("blocks.7.attention.weights", "blocks.*.attention.weights"),
        ("gates", "blocks.*.feedforward.gate"),
        ("head.logit", "head.logits"),
    ],
)
def test_a_name_that_matches_nothing_is_told_the_nearest(pattern: str, near: str) -> None:
    with pytest.raises(UsageError, match="No activation is called") as told:
        capture(drawn(SPECS["decoder"], 1), IDS, "embed", pattern)
    assert near in told.value.remedy()


def test_more_than_memory_holds_is_refused_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model = drawn(SPECS["decoder"], 1)
    monkeypatch.setattr(room, "machine_memory", lambda: machine.Memory(10_000, 5_000))
    monkeypatch.setattr(room, "run", None)
    with pytest.raises(MachineError) as told:
        capture(model, IDS)
    assert "KiB; 4.9 KiB of memory is free" in told.value.cause()
    assert "blocks.0." in told.value.remedy()
    assert "give a folder" in told.value.remedy()


def test_more_than_the_disk_holds_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Usage:
        free = 100

    monkeypatch.setattr(room.shutil, "disk_usage", lambda place: Usage)
    with pytest.raises(MachineError, match="100 B is free"):
        capture(drawn(SPECS["decoder"], 1), IDS, folder=tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()

"""K29 and K30: what each names in a damaged folder; a sound one is healthy; a folder without a model is not judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from clearformer.doctor import Diagnosis, diagnose
from clearformer.doctor.checks.checkpoint_integrity import as_drawn
from drawing.folders import bert_folder, llama_folder

Damage = Callable[[Path], None]


def examined(folder: Path) -> Diagnosis:
    return diagnose(folder=folder, only=["K29", "K30"])


def reweighted(change: Callable[[str, torch.Tensor], tuple[str, torch.Tensor]]) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        changed = dict(change(name, tensor.clone()) for name, tensor in load_file(path).items())
        save_file({name: tensor.contiguous() for name, tensor in changed.items()}, path)

    return damage


def reconfigured(**changes: object) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return damage


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def sharded(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = {name: f"model-0000{place % 2 + 1}-of-00002.safetensors" for place, name in enumerate(tensors)}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    first = "model-00001-of-00002.safetensors"
    save_file({name: tensors[name].clone() for name in names if names[name] == first}, folder / first)


def nan(name: str, tensor: torch.Tensor) -> tuple[str, torch.Tensor]:
    return name, tensor * float("nan") if "layers.1" in name and tensor.ndim == 2 else tensor


def overwritten(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x10" + bytes(7) + b"not json at all!")


def quantised(folder: Path, *, scaled: bool) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    for name in [name for name in tensors if name.endswith("proj.weight")]:
        tensors[name] = (tensors[name] * 100).round().to(torch.int8)
        if scaled:
            tensors[f"{name}_scale"] = torch.full((tensors[name].shape[0], 1), 0.01)
    save_file(tensors, path)


def prefixed(name: str, tensor: torch.Tensor) -> tuple[str, torch.Tensor]:
    return f"module.{name}", tensor


@pytest.mark.parametrize("folder_of", [llama_folder, bert_folder])
def test_a_sound_checkpoint_is_healthy(tmp_path: Path, folder_of: Callable[[Path], object]) -> None:
    folder_of(tmp_path / "sound")
    found = examined(tmp_path / "sound")
    assert found.healthy
    assert {finding.severity for finding in found.findings} <= {"INFO"}
    assert "K30" in found.passed


@pytest.mark.parametrize(
    ("damage", "check", "cause"),
    [
        (cut, "K29", "file truncated"),
        (sharded, "K29", "shard missing"),
        (reweighted(nan), "K29", "weights not finite"),
        (reweighted(prefixed), "K29", "keys unmatched"),
        (overwritten, "K29", "file unreadable"),
        (reconfigured(vocab_size=999), "K30", "config contradicts weights"),
        (reconfigured(num_key_value_heads=1), "K30", "config contradicts weights"),
        (reconfigured(num_hidden_layers=9), "K29", "config contradicts weights"),
        (reconfigured(hidden_size=-3), "K30", "config impossible"),
    ],
)
def test_what_is_damaged_is_named(tmp_path: Path, damage: Damage, check: str, cause: str) -> None:
    llama_folder(tmp_path / "llama")
    damage(tmp_path / "llama")
    found = examined(tmp_path / "llama")
    assert (found.findings[0].check, found.findings[0].cause, found.findings[0].severity) == (check, cause, "ERROR")


def test_quantised_weights_need_their_scales(tmp_path: Path) -> None:
    def named(folder: Path, *, scaled: bool) -> set[str]:
        llama_folder(folder)
        quantised(folder, scaled=scaled)
        return {each.cause for each in examined(folder).errors}

    assert "quantised without scales" in named(tmp_path / "bare", scaled=False)
    assert "quantised without scales" not in named(tmp_path / "scaled", scaled=True)


@pytest.mark.parametrize(
    ("said", "causes"),
    [
        ({"attention_multiplier": 0.0156, "embedding_multiplier": 12.0}, ["scale left to its default"]),
        (
            {"attention_multiplier": 0.0156, "embedding_multiplier": 12.0, "residual_multiplier": 0.2}
            | {"logits_scaling": 8.0},
            [],
        ),
    ],
)
def test_a_family_with_scales_of_its_own_has_them_in_its_config(
    tmp_path: Path, said: dict[str, float], causes: list[str]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "granite", "vocab_size": 50} | said))
    assert [each.cause for each in examined(tmp_path).findings if each.check == "K30"] == causes


def test_the_prefix_that_parts_the_names_is_told(tmp_path: Path) -> None:
    llama_folder(tmp_path / "llama")
    reweighted(prefixed)(tmp_path / "llama")
    said = " ".join(each.text() for each in examined(tmp_path / "llama").findings[0].breaches[0].evidence)
    assert "module." in said
    assert "\n" not in said


def test_a_folder_without_a_model_is_not_judged(tmp_path: Path) -> None:
    found = examined(tmp_path)
    assert {skipped.check for skipped in found.skipped} >= {"K29", "K30"}


def test_only_what_is_drawn_looks_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = 0.02 * torch.randn(200, 64, generator=generator)
    assert as_drawn(drawn, 0.02)
    assert not as_drawn(drawn * 1.2, 0.02)
    assert not as_drawn(drawn + 0.01, 0.02)
    assert not as_drawn(0.02 * drawn.sign(), 0.02)
    assert not as_drawn(torch.zeros(200, 64), 0.02)


def test_an_end_beyond_the_vocabulary_is_a_warning(tmp_path: Path) -> None:
    llama_folder(tmp_path / "llama")
    reconfigured(eos_token_id=10**6)(tmp_path / "llama")
    assert ("WARN", "vocabulary differs") in {
        (each.severity, each.cause) for each in examined(tmp_path / "llama").findings
    }

"""Hugging Face folders: whole, sharded, incomplete, and laid out to lead the reader astray."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file

from clearformer.checkpoint.folder import open_folder
from clearformer.errors import CheckpointError

A, B = torch.randn(2, 3), torch.randn(4)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text('{"model_type": "llama", "eps": 1e-5}')
    return path


def index(folder, weight_map):
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": 40}, "weight_map": weight_map})
    )


def test_one_file(folder):
    save_file({"a": A}, folder / "model.safetensors")
    (folder / "generation_config.json").write_text('{"eos_token_id": 2}')
    found = open_folder(folder)
    assert (found.config, found.generation) == ({"model_type": "llama", "eps": 1e-5}, {"eos_token_id": 2})
    assert torch.equal(found.tensors.tensor("a"), A)


def test_shards(folder):
    save_file({"a": A}, folder / "model-1.safetensors")
    save_file({"b": B, "unlisted": B + 1}, folder / "model-2.safetensors")
    index(folder, {"b": "model-2.safetensors", "a": "model-1.safetensors"})
    tensors = open_folder(folder).tensors
    assert tensors.names() == ("b", "a", "unlisted")
    assert torch.equal(tensors.tensor("a"), A)
    assert torch.equal(tensors.tensor("b"), B)
    assert (tensors.shape("b"), tensors.dtype("b")) == ((4,), torch.float32)
    with pytest.raises(CheckpointError, match="no tensor c"):
        tensors.tensor("c")


def test_shard_faults(folder):
    save_file({"a": A, "x": A + 1}, folder / "model-1.safetensors")
    save_file({"b": B, "x": A}, folder / "model-2.safetensors")
    one, two = "model-1.safetensors", "model-2.safetensors"
    faults = {
        "names the shard model-3.safetensors, which is absent": {"a": one, "c": "model-3.safetensors"},
        "puts b into the shard model-1.safetensors, which lacks it": {"b": one},
        "tensor x lies in two shards": {"a": one, "b": two},
        "weight_map": {},
        "found pytorch_model.bin": {"a": "pytorch_model.bin"},
        "found 7": {"a": 7},
    }
    for message, weight_map in faults.items():
        index(folder, weight_map)
        with pytest.raises(CheckpointError, match=message):
            open_folder(folder)


@pytest.mark.parametrize(
    "name", ["../out", "/etc/out", "sub/out", "..\\out", "a\0b", "..", "", "C:out", "x" * 300, "\ud800"]
)
def test_no_shard_name_leads_outside(folder, name):
    save_file({"a": A}, folder.parent / "out.safetensors")
    index(folder, {"a": f"{name}.safetensors"})
    with pytest.raises(CheckpointError, match=r"outside the folder|absent"):
        open_folder(folder)


def test_links_that_leave_the_folder_are_refused(folder):
    save_file({"a": A}, folder.parent / "secret.safetensors")
    (folder / "model.safetensors").symlink_to("../secret.safetensors")
    with pytest.raises(CheckpointError, match="leads outside the folder"):
        open_folder(folder)


def test_links_of_the_hubs_cache_are_followed(tmp_path):
    blobs, snapshot = tmp_path / "models--o--n" / "blobs", tmp_path / "models--o--n" / "snapshots" / "abc"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "1").write_text("{}")
    save_file({"a": A}, blobs / "2")
    (snapshot / "config.json").symlink_to("../../blobs/1")
    (snapshot / "model.safetensors").symlink_to("../../blobs/2")
    assert torch.equal(open_folder(snapshot).tensors.tensor("a"), A)
    (snapshot / "model.safetensors").unlink()
    (snapshot / "model.safetensors").symlink_to("/etc/hostname")
    with pytest.raises(CheckpointError, match="leads outside the folder"):
        open_folder(snapshot)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("pytorch_model.bin", r"clearformer pull .* --allow-pickle"),
        ("pytorch_model.bin.index.json", r"clearformer pull .* --allow-pickle"),
        ("tf_model.h5", "Get the model as safetensors"),
    ],
)
def test_legacy_formats_are_refused_unread(folder, name, remedy):
    (folder / name).write_bytes(b"cos\nsystem\n(S'touch /tmp/pwned'\ntR.")
    with pytest.raises(CheckpointError, match=f"only in {name}.*{remedy}"):
        open_folder(folder)


def test_what_is_missing_is_said(folder, tmp_path):
    with pytest.raises(CheckpointError, match=r"expected model.safetensors or its index"):
        open_folder(folder)
    with pytest.raises(CheckpointError, match=r"a folder with a config.json"):
        open_folder(tmp_path)


CONFIGS = {
    "invalid JSON": b"{",
    "found list": b"[]",
    "key a occurs twice": b'{"x": {"a": 1, "a": 2}}',
    "nested deeper than 64": b'{"a":' * 65 + b"1" + b"}" * 65,
    "deeper than 64": b'{"a":' + b"[" * 400_000,
    "at most 10000000 bytes": b" " * 10_000_001,
    "invalid JSON .UnicodeDecodeError": b'{"a": "\xff"}',
    "invalid JSON .ValueError": b'{"a": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("message", CONFIGS)
def test_hostile_configs(folder, message):
    (folder / "config.json").write_bytes(CONFIGS[message])
    with pytest.raises(CheckpointError, match=message):
        open_folder(folder)

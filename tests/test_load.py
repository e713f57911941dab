"""A name becomes a model: in the type asked for, held once, with the tokenizer that fits, or an error that says why."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models

from clearformer.build import build
from clearformer.checkpoint import weight_table
from clearformer.checkpoint.writing import save_folder
from clearformer.errors import CheckpointError, MachineError, StoreError, TokenizerError, UsageError
from clearformer.families import GenerationDefaults, family_for
from clearformer.families.generation import read_generation, token_keys, write_generation
from clearformer.generate.speaker import begin_id
from clearformer.load import DTYPES, load
from clearformer.spec import Hidden, Last, Mean, Pooling, Vector
from clearformer.spec.presets import tiny_gpt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spec = tiny_gpt(width=16, heads=2, layers=2, vocabulary=40, context=32)
    family, config = family_for(spec)
    model = build(spec, generator=torch.Generator().manual_seed(0))
    tensors = weight_table.dump(family.table(spec), dict(model.named_parameters()))
    save_folder(tmp_path / "model", config, tensors, {"eos_token_id": [3, 4], "temperature": 0.6, "do_sample": True})
    return tmp_path / "model"


def add_tokenizer(folder: Path, words: int) -> None:
    vocabulary = {f"w{index}": index for index in range(words)}
    Tokenizer(models.WordLevel(vocabulary, unk_token="w0")).save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_type(folder, dtype):
    loaded = load(folder, dtype=dtype)
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {dtype}
    assert not loaded.model.training
    with torch.no_grad():
        logits = loaded.model(torch.tensor([[1, 2, 3]]))
    assert logits.shape == (1, 3, 40)
    assert logits.isfinite().all()


def test_what_comes_with_it(folder):
    loaded = load(folder)
    assert (loaded.name, loaded.tokenizer, loaded.template) == ("model", None, None)
    assert loaded.generation == GenerationDefaults(sample=True, temperature=0.6, end_ids=(3, 4))
    assert loaded.spec == loaded.model.spec
    numbers = sum(parameter.numel() for parameter in loaded.model.parameters()) / 1e6
    assert repr(loaded) == f"Loaded('model': DecoderOnly, {numbers:.1f} million parameters, float32, cpu)"


def test_a_tokenizer_larger_than_the_table_is_refused(folder):
    add_tokenizer(folder, 40)
    assert load(folder).tokenizer.vocabulary_size == 40
    add_tokenizer(folder, 41)
    with pytest.raises(CheckpointError, match=r"41 ids.*40 rows"):
        load(folder)


def test_bad_requests_are_named(folder):
    with pytest.raises(UsageError, match="found int8"):
        load(folder, dtype=torch.int8)
    with pytest.raises(MachineError, match="no-such-device"):
        load(folder, device="no-such-device")
    if not torch.cuda.is_available():
        with pytest.raises(MachineError, match="cuda"):
            load(folder, device="cuda")


def test_memory_that_is_lacking_is_said(folder, monkeypatch):
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(weight_table, "load", refuse)
    with pytest.raises(MachineError, match=r"0\.0 GB on cpu in float32"):
        load(folder)


def test_an_untied_head_under_a_tied_config_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    with pytest.raises(CheckpointError, match=r"lm_head\.weight"):
        load(folder)


def sentence_folder(folder: Path, modules: object, pooling: dict[str, object]) -> Path:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["GPT2Model"]}))
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


def module(kind: str, path: str) -> dict[str, str]:
    return {"type": f"sentence_transformers.models.{kind}", "path": path}


MODULES = [module("Transformer", ""), module("Pooling", "1_Pooling")]
MEAN = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}


def test_sentence_heads(folder):
    assert load(sentence_folder(folder, MODULES, MEAN)).spec.head == Vector(Pooling(Mean()), normalise=False)
    (folder / "modules.json").write_text(json.dumps([*MODULES, module("Normalize", "2_Normalize")]))
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_lasttoken": True}))
    assert load(folder).spec.head == Vector(Pooling(Last()), normalise=True)
    (folder / "modules.json").unlink()
    assert load(folder).spec.head == Hidden()


@pytest.mark.parametrize(
    ("modules", "pooling", "named"),
    [
        ([*MODULES, module("Dense", "2_Dense")], MEAN, "Dense"),
        (MODULES[1:], MEAN, "Pooling"),
        ({"a": 1}, MEAN, "modules"),
        ([1], MEAN, "found 1"),
        ([module("Transformer", ""), module("Pooling", "../..")], MEAN, "outside"),
        (MODULES, MEAN | {"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
        (MODULES, MEAN | {"pooling_mode_cls_token": True}, "2 of them"),
        (MODULES, {}, "0 of them"),
        (MODULES, MEAN | {"pooling_mode_new": True}, "pooling_mode_new"),
    ],
)
def test_sentence_heads_refused_by_name(folder, modules, pooling, named):
    with pytest.raises(CheckpointError, match=named.replace(".", r"\.")):
        load(sentence_folder(folder, modules, pooling))


def test_generation_defaults():
    given = {"eos_token_id": 2, "top_p": 0.9, "num_beams": 4, "typical_p": 0.5, "transformers_version": "5"}
    found = read_generation(given, {"eos_token_id": 7, "bos_token_id": 1, "pad_token_id": -1})
    assert found == GenerationDefaults(top_p=0.9, begin_id=1, end_ids=(2,), left_out=("num_beams", "typical_p"))
    assert read_generation(write_generation(found), {}) == GenerationDefaults(top_p=0.9, begin_id=1, end_ids=(2,))
    assert token_keys(found) == {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
    for wrong in ({"temperature": "hot"}, {"eos_token_id": [1, "x"]}, {"eos_token_id": -5}, {"do_sample": 1}):
        with pytest.raises(CheckpointError, match=next(iter(wrong))):
            read_generation(wrong, {})


def test_what_an_encoder_decoder_begins_with_and_never_writes():
    """From config.json, where the makers wrote it once, and from generation_config.json, which comes first."""
    config = {"bos_token_id": 0, "decoder_start_token_id": 8, "bad_words_ids": [[8]], "forced_eos_token_id": 0}
    given = {"forced_bos_token_id": 3, "bad_words_ids": [[8], [5], [1, 2]], "renormalize_logits": True}
    found = read_generation(given, config)
    assert found == GenerationDefaults(
        begin_id=0, start_id=8, first_id=3, never_ids=(8, 5), left_out=("bad_words_ids",)
    )
    assert read_generation({}, config) == GenerationDefaults(begin_id=0, start_id=8, never_ids=(8,))
    again = read_generation(write_generation(found), {})
    assert again == GenerationDefaults(begin_id=0, start_id=8, first_id=3, never_ids=(8, 5))
    assert token_keys(found)["decoder_start_token_id"] == 8
    for wrong in (
        {"bad_words_ids": 8},
        {"bad_words_ids": [8]},
        {"bad_words_ids": [["a"]]},
        {"forced_bos_token_id": 1.5},
    ):
        with pytest.raises(CheckpointError, match=next(iter(wrong))):
            read_generation(wrong, {})


BESIDE = ["model.safetensors", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]
BESIDE += ["special_tokens_map.json", "chat_template.jinja", "modules.json"]


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("kind", ["folder", "pipe", "broken link", "loop", "device", "outside"])
def test_a_file_that_is_there_is_read_or_refused_and_never_passed_over(folder, tmp_path, name, kind):
    if name == "modules.json":
        sentence_folder(folder, [], {})
    path = folder / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        (tmp_path / "outside").write_text("{}")
        targets = {"broken link": "absent", "loop": name, "device": "/dev/zero", "outside": tmp_path / "outside"}
        path.symlink_to(targets[kind])
    with pytest.raises((CheckpointError, TokenizerError), match=name):
        load(folder)


def test_a_begin_token_past_the_table_is_refused_when_it_is_needed(folder):
    for begin in (40, 2**31):
        (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": begin}))
        loaded = load(folder)
        with pytest.raises(CheckpointError, match=str(begin)):
            begin_id(loaded)
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 39}))
    assert begin_id(load(folder)) == 39


@pytest.mark.parametrize("device", ["meta", "tpu", "", 3.5, -1, "cpu:x"])
def test_a_device_that_is_none_is_refused(folder, device):
    with pytest.raises(MachineError, match="cannot be used here"):
        load(folder, device=device)


def test_a_home_folder_that_nobody_has(folder):
    with pytest.raises(StoreError, match="no-such-user"):
        load("~no-such-user/model")

"""Whole models as GGUF files: types, tokenizer, template, sampling; and what becomes of them on the way."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from clearformer import spec as s
from clearformer.build import build
from clearformer.checkpoint.gguf_file import open_gguf
from clearformer.checkpoint.writing import save_folder
from clearformer.errors import CheckpointError
from clearformer.export import export
from clearformer.export_gguf import export_gguf
from clearformer.families import GenerationDefaults
from clearformer.families.own import OWN
from clearformer.load import load
from clearformer.spec.presets import modern_decoder, paper, tiny_gpt
from clearformer.text.training import train_bpe
from drawing.folders import TEMPLATE
from drawing.gguf_files import folder_of, gguf_of, small_llama

SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
TEXTS = ["the cat sat — 猫。", "naïve 12345  😀\n", "", "</s> is no mark here"]
GENERATION = GenerationDefaults(begin_id=0, end_ids=(1,), pad_id=2, sample=True, temperature=0.7, top_k=11, min_p=0.05)


def tokenizer():
    return train_bpe(["the cat sat on the mat because it was tired — 猫"] * 3, 280, SPECIALS)


def kinds_of(path: Path) -> dict[str, str]:
    file = open_gguf(path)
    return {name: file.kind(name) for name in file.names()}


def test_a_model_keeps_its_words_template_and_settings(tmp_path):
    path = gguf_of(tmp_path / "m.gguf", tokenizer(), template=TEMPLATE, generation=GENERATION)
    ours, source = load(path), load(tmp_path / "m")
    assert ours.generation == GENERATION
    assert ours.template == TEMPLATE == source.template
    for text in TEXTS:
        assert ours.tokenizer.encode(text) == source.tokenizer.encode(text)
        assert ours.tokenizer.encode_trusted(text) == source.tokenizer.encode_trusted(text)
    assert ours.tokenizer.decode([281]) == "[PAD281]"
    assert ours.spec.decoder == source.spec.decoder


def test_a_model_without_a_tokenizer_keeps_its_marks(tmp_path):
    folder = folder_of(tmp_path / "in", small_llama(101), generation=GENERATION)
    ours = load(export_gguf(folder, tmp_path / "m.gguf").path)
    assert ours.tokenizer is None
    assert ours.generation == GENERATION


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "q8_0", "q4_0"])
def test_each_type(tmp_path, kind):
    """Vectors stay whole, and the head of a Q4_0 file is finer than the rest, as llama.cpp has it."""
    spec = dataclasses.replace(small_llama(101), head=s.Language(tied=False))
    folder = folder_of(tmp_path / "in", spec)
    written = export_gguf(folder, tmp_path / "m.gguf", kind)
    kinds = kinds_of(written.path)
    assert kinds.pop("output.weight") == ("Q8_0" if kind == "q4_0" else kind.upper())
    assert {kind for name, kind in kinds.items() if "norm" in name} == {"F32"}
    assert {kind for name, kind in kinds.items() if "norm" not in name} == {kind.upper()}
    assert (written.architecture, written.fell_back) == ("llama", ())
    ids = torch.arange(20)[None]
    with torch.no_grad():
        ours, source = load(written.path).model(ids), load(folder).model(ids)
    near = {"f32": 1e-6, "f16": 2e-3, "bf16": 2e-2, "q8_0": 2e-2, "q4_0": 0.3}[kind]
    assert (ours - source).abs().max() <= near * (source.max() - source.min())


def test_rows_that_are_no_blocks_fall_back_to_f16(tmp_path):
    spec = modern_decoder(width=32, heads=4, kv_heads=2, hidden=40, layers=2, vocabulary=101, context=64)
    written = export_gguf(folder_of(tmp_path / "in", spec), tmp_path / "m.gguf", "q4_0")
    assert written.fell_back == ("blk.0.ffn_down.weight", "blk.1.ffn_down.weight")
    kinds = kinds_of(written.path)
    assert {kinds[name] for name in written.fell_back} == {"F16"}
    assert kinds["blk.0.ffn_up.weight"] == "Q4_0"


def test_tables_that_are_added_stay_whole(tmp_path):
    spec = tiny_gpt(width=32, heads=2, layers=1, vocabulary=101, context=64)
    kinds = kinds_of(export_gguf(folder_of(tmp_path / "in", spec), tmp_path / "m.gguf", "q8_0").path)
    assert (kinds["position_embd.weight"], kinds["token_embd.weight"]) == ("F32", "Q8_0")


def test_a_gguf_file_becomes_a_folder_and_another_file(tmp_path):
    """Twice on the way, and the words, the template and every byte of the weights are what they were."""
    first = gguf_of(tmp_path / "first.gguf", tokenizer(), kind="q8_0", template=TEMPLATE, generation=GENERATION)
    folder = export(first, tmp_path / "folder")
    second = export_gguf(folder, tmp_path / "second.gguf", "q8_0").path
    source, ours = load(first), load(second)
    for text in TEXTS:
        assert ours.tokenizer.encode(text) == source.tokenizer.encode(text)
    assert (ours.template, ours.spec, ours.generation) == (source.template, source.spec, source.generation)
    one, two = open_gguf(first), open_gguf(second)
    assert one.names() == two.names()
    # Q8_0 of numbers that are Q8_0 already is the same Q8_0.
    assert all(one.raw(name)[0].tobytes() == two.raw(name)[0].tobytes() for name in one.names())


def test_a_weight_too_large_for_float16_is_refused_and_bfloat16_takes_it(tmp_path):
    spec = small_llama(101)
    weights = dict(build(spec).named_parameters())
    weights["decoder.blocks.0.feedforward.up.weight"].data[3, 3] = 1e5
    save_folder(tmp_path / "in", OWN.write(spec), weights)
    with pytest.raises(CheckpointError, match=r"ffn_up.*100000.*f16"):
        export_gguf(tmp_path / "in", tmp_path / "m.gguf", "f16")
    assert not (tmp_path / "m.gguf").exists()
    assert load(export_gguf(tmp_path / "in", tmp_path / "m.gguf", "bf16").path)


def test_an_encoder_decoder_is_refused_with_what_stands_in_the_way(tmp_path):
    spec = paper(width=16, heads=2, hidden=32, layers=1, vocabulary=101, context=64)
    with pytest.raises(CheckpointError, match=r"No architecture of llama\.cpp.*EncoderDecoder"):
        export_gguf(folder_of(tmp_path / "in", spec), tmp_path / "m.gguf")


def test_a_window_that_llama_cpp_would_look_past_is_refused(tmp_path):
    """Phi-3's files can say it, and llama.cpp leaves it out: no other model is written under that name."""
    spec = small_llama(101)
    (block,) = spec.decoder.blocks
    seeing = dataclasses.replace(block, attention=dataclasses.replace(block.attention, visibility=s.Causal(8)))
    windowed = dataclasses.replace(spec, decoder=dataclasses.replace(spec.decoder, blocks=(seeing,)))
    with pytest.raises(CheckpointError, match=r"llama \(spec\.decoder\.blocks\[0\]\.attention\.visibility"):
        export_gguf(folder_of(tmp_path / "in", windowed), tmp_path / "m.gguf")


def test_what_stands_there_is_not_touched(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"mine")
    with pytest.raises(CheckpointError, match="already exists"):
        export_gguf("no such model", tmp_path / "m.gguf")
    assert (tmp_path / "m.gguf").read_bytes() == b"mine"

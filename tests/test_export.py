"""Exports: transformers reads them with equal logits, tokenizer and generation config; we read them back bit-equal."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from clearformer import spec as s
from clearformer.build import build
from clearformer.checkpoint.writing import save_folder
from clearformer.errors import CheckpointError
from clearformer.export import export
from clearformer.families import GenerationDefaults, family_of
from clearformer.families.own import OWN
from clearformer.load import load
from clearformer.model import Model
from clearformer.runs.folder import RunFolder
from clearformer.spec.presets import modern_decoder, paper, tiny_gpt
from clearformer.text.training import tokenizer_files, train_bpe

SIZE, CONTEXT = 300, 32
SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
GENERATION = GenerationDefaults(begin_id=0, end_ids=(1,), pad_id=2, sample=True, temperature=0.7, top_k=11)


def bert() -> s.EncoderOnly:
    norm, layers = s.LayerNorm(1e-12), 2
    attention = s.Attention(2, 2, 8, 8, visibility=s.Full(), bias=s.Biases.everywhere())
    block = s.Block(attention, s.Dense(24, "gelu"), norm, norm, arrangement=s.Sequential("post"))
    tokens = s.Tokens(SIZE, s.Learned(CONTEXT), segments=2, norm=norm)
    head = s.Language(True, bias=True, transform=s.Transform("gelu", norm))
    return s.EncoderOnly(s.Stack(16, tokens, (block,) * layers), head, CONTEXT)


SHAPES: dict[str, tuple[s.Spec, type]] = {
    "gpt2": (tiny_gpt(width=16, heads=2, layers=2, vocabulary=SIZE, context=CONTEXT), AutoModelForCausalLM),
    "llama": (
        modern_decoder(width=24, heads=6, kv_heads=2, hidden=40, layers=2, vocabulary=SIZE, context=CONTEXT),
        AutoModelForCausalLM,
    ),
    "bert": (bert(), AutoModelForMaskedLM),
}


def trained(spec: s.Spec) -> Model:
    """Weights as large as trained ones; at initialisation a lost bias or norm would not be seen."""
    generator = torch.Generator().manual_seed(0)
    model = build(spec, generator=generator).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn(weight.shape, generator=generator))
    return model


def run_of(path: Path, spec: s.Spec) -> tuple[RunFolder, Model]:
    run, model = RunFolder.create(path, "steps: 3\n"), trained(spec)
    files = tokenizer_files(train_bpe(["the cat sat on the mat — 猫"] * 3, 270, SPECIALS))
    run.publish(spec, dict(model.named_parameters()), files | {"labels.json": b"[]"}, GENERATION)
    return run, model


def foreign(kind: type, folder: Path) -> PreTrainedModel:
    model, report = kind.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    assert not set().union(*(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")))
    return model.eval()


@pytest.mark.parametrize("form", ["run", "hf", "own"])
@pytest.mark.parametrize("name", SHAPES)
def test_transformers_reads_runs_and_exports_and_we_read_them_bit_equal(tmp_path, name, form):
    spec, kind = SHAPES[name]
    run, model = run_of(tmp_path / "run", spec)
    folder = run.path if form == "run" else export(run.path, tmp_path / "out", form)
    ids = torch.randint(0, 270, (2, CONTEXT), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        ours = model(ids)
        assert torch.equal(load(folder).model(ids), ours)
        assert load(folder).generation == GENERATION
        if form != "own":
            theirs = foreign(kind, folder)(ids).logits
            spread = ours.max() - ours.min()
            assert (theirs - ours).abs().max() <= 1e-5 * spread
            settings = GenerationConfig.from_pretrained(folder)
            found = (settings.bos_token_id, settings.eos_token_id, settings.pad_token_id, settings.do_sample)
            assert found == (0, 1, 2, True)
            assert (settings.temperature, settings.top_k) == (0.7, 11)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    text = "the cat, 猫 sat</s>"
    assert load(folder).tokenizer.encode_trusted(text) == tokenizer.encode(text)
    assert tokenizer.mask_token == "<mask>"
    assert (folder / "labels.json").read_bytes() == b"[]"
    assert (folder / "recipe.yaml").exists() == (form == "run")


def test_a_run_that_no_family_can_say_is_refused_and_goes_out_in_our_own_form(tmp_path):
    spec = paper(width=16, heads=2, hidden=32, layers=1, vocabulary=SIZE, context=CONTEXT)
    run, model = run_of(tmp_path / "run", spec)
    with pytest.raises(CheckpointError, match=r"in the way: marian \(.*, bart \("):
        export(run.path, tmp_path / "hf")
    assert not (tmp_path / "hf").exists()
    loaded = load(export(run.path, tmp_path / "own", "own"))
    source, target = torch.arange(8)[None], torch.arange(5)[None]
    with torch.no_grad():
        assert torch.equal(loaded.model(source, target), model(source, target))


def test_what_stands_there_already_is_not_touched(tmp_path):
    run, _ = run_of(tmp_path / "run", SHAPES["gpt2"][0])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(CheckpointError, match="already exists"):
        export(run.path, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_number_types_and_label_names_are_kept(tmp_path):
    head = s.Classes(2, s.Pooling(s.Last()), False)
    spec = dataclasses.replace(SHAPES["gpt2"][0], head=head)
    family = family_of({"model_type": "gpt2"})
    model = trained(spec).bfloat16()
    from clearformer.checkpoint import weight_table

    names = {"id2label": {"0": "bad", "1": "good"}, "label2id": {"bad": 0, "good": 1}}
    tensors = weight_table.dump(family.table(spec), dict(model.named_parameters()))
    save_folder(tmp_path / "in", family.write(spec) | names, tensors, {"num_beams": 4})
    export(tmp_path / "in", tmp_path / "out")
    from transformers import AutoModelForSequenceClassification

    theirs = foreign(AutoModelForSequenceClassification, tmp_path / "out")
    assert theirs.dtype == torch.bfloat16
    assert theirs.config.id2label == {0: "bad", 1: "good"}
    assert GenerationConfig.from_pretrained(tmp_path / "out").num_beams == 4


def roberta() -> s.EncoderOnly:
    spec = bert()
    position = s.Learned(CONTEXT, offset=2)
    stack = dataclasses.replace(spec.encoder, input=dataclasses.replace(spec.encoder.input, position=position))
    return dataclasses.replace(spec, encoder=stack)


@pytest.mark.parametrize("model_type", ["roberta", "xlm-roberta"])
def test_a_model_stays_in_its_family_where_two_can_say_it(tmp_path, model_type):
    family = family_of({"model_type": model_type})
    spec = roberta()
    from clearformer.checkpoint import weight_table

    tensors = weight_table.dump(family.table(spec), dict(trained(spec).named_parameters()))
    save_folder(tmp_path / "in", family.write(spec), tensors)
    config = json.loads((export(tmp_path / "in", tmp_path / "out") / "config.json").read_text())
    assert config["model_type"] == model_type


def test_an_unknown_padding_does_not_unsay_what_the_positions_are_counted_from(tmp_path):
    """Our own form has no special tokens here; RoBERTa's config says its offset by the padding's id."""
    spec = roberta()
    model = trained(spec)
    save_folder(tmp_path / "own", OWN.write(spec), dict(model.named_parameters()))
    theirs = foreign(AutoModelForMaskedLM, export(tmp_path / "own", tmp_path / "out"))
    assert theirs.config.pad_token_id == 1
    ids = torch.arange(2, 14)[None]
    with torch.no_grad():
        assert torch.allclose(theirs(ids).logits, model(ids), atol=1e-4)


@pytest.mark.parametrize("take", [s.Mean(), s.First(), s.Last()])
@pytest.mark.parametrize("normalise", [True, False])
def test_sentence_encoders_keep_their_pooling(tmp_path, take, normalise):
    """From our own form to the published one, where the pooling lies in files of its own."""
    spec = dataclasses.replace(bert(), head=s.Vector(s.Pooling(take), normalise=normalise))
    model = trained(spec)
    save_folder(tmp_path / "own", OWN.write(spec), dict(model.named_parameters()))
    folder = export(tmp_path / "own", tmp_path / "out")
    again = load(folder)
    ids = torch.arange(12)[None]
    with torch.no_grad():
        assert torch.equal(again.model(ids), model(ids))
        states = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()(ids).last_hidden_state
    assert again.spec.head == spec.head
    pooled = {"Mean": states.mean(1), "First": states[:, 0], "Last": states[:, -1]}[type(take).__name__]
    pooled = torch.nn.functional.normalize(pooled, dim=-1) if normalise else pooled
    assert np.allclose(pooled.detach(), again.model(ids).detach(), atol=1e-5 * float(pooled.detach().abs().max()))


def test_a_gguf_file_becomes_a_folder_with_its_tokenizer(tmp_path, smollm2_gguf):
    folder = export(smollm2_gguf, tmp_path / "out")
    ours, source = load(folder), load(smollm2_gguf)
    text = "The capital of France is Paris, 1234 — 猫<|im_end|>"
    assert ours.tokenizer.encode(text) == source.tokenizer.encode(text)
    assert ours.template == source.template
    assert ours.generation.begin_id == source.generation.begin_id
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    ids = torch.tensor([tokenizer.encode("The capital of France is")])
    assert ids.tolist() == [source.tokenizer.encode("The capital of France is")]
    with torch.no_grad():
        expected = source.model(ids)
        assert torch.equal(ours.model(ids), expected)
        theirs = foreign(AutoModelForCausalLM, folder).float()(ids).logits
    assert (theirs - expected).abs().max() <= 1e-4 * (expected.max() - expected.min())

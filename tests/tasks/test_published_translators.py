"""Translators in the form in which others publish them: weights of transformers, and a tokenizer that can be read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from clearformer.cli.main import main
from clearformer.errors import TokenizerError
from clearformer.export import export
from clearformer.generate.speak import complete, generate
from clearformer.inspect.trace import trace
from clearformer.load import load
from clearformer.tasks.translating import Beams
from clearformer.tasks.translator import translate

PAD, END, CONTEXT = 0, 1, 96
GERMAN = ["hund", "katze", "haus", "rot", "alt", "läuft", "und", "ein"]
ENGLISH = ["dog", "cat", "house", "red", "old", "runs", "and", "a"]
TEXTS = ["ein hund läuft", "katze und haus", "alt und rot und alt"]
PAPER = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": CONTEXT,
    "scale_embedding": True,
    "activation_function": "swish",
    "pad_token_id": PAD,
    "eos_token_id": END,
    "bos_token_id": END,
    "decoder_start_token_id": PAD,
    "forced_eos_token_id": None,
}


def save_tokenizer(folder: Path, words: Sequence[str], name: str = "tokenizer.json") -> int:
    """SentencePiece's kind, as T5 and Marian have it: pieces with scores, an end mark behind each text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    pieces = ["▁", *(f"▁{word}" for word in words), *sorted(set("".join(words)))]
    marks = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0)]
    scores = [(piece, -2.0 - place / 10) for place, piece in enumerate(pieces)]
    backend = Tokenizer(models.Unigram(marks + scores, unk_id=2))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", END)])
    backend.add_special_tokens(["<pad>", "</s>", "<unk>"])
    backend.save(str(folder / name))
    named = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    return len(marks + scores)


def draw(model: Any) -> None:
    """Weights as large as trained ones; the end mark not unlikely, and padding likelier than anything."""
    generator = torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        if parameter.dim() == 2 and parameter.requires_grad:
            parameter.data.normal_(0, 1.5 / math.sqrt(parameter.shape[1]), generator=generator)
    if model.config.model_type == "marian":
        model.final_logits_bias[0, [PAD, END]] = torch.tensor([30.0, 1.0])


def marian(folder: Path, *, shared: bool) -> Any:
    folder.mkdir()
    if shared:
        sizes = {"vocab_size": save_tokenizer(folder, GERMAN + ENGLISH)}
    else:
        read = save_tokenizer(folder, GERMAN, "source_tokenizer.json")
        sizes = {"vocab_size": read, "decoder_vocab_size": save_tokenizer(folder, ENGLISH)}
    model = MarianMTModel(MarianConfig(**PAPER, **sizes, share_encoder_decoder_embeddings=shared)).eval()
    draw(model)
    model.generation_config.bad_words_ids = [[PAD]]
    model.generation_config.renormalize_logits = True
    model.save_pretrained(folder)
    return model


def tokenizer(path: Path) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token="</s>", pad_token="<pad>", unk_token="<unk>")


@pytest.mark.parametrize("shared", [True, False])
def test_marian_translates_as_transformers_does(tmp_path: Path, shared: bool) -> None:
    folder = tmp_path / "marian"
    theirs = marian(folder, shared=shared)
    loaded = load(folder)
    assert (loaded.generation.start_id, loaded.generation.never_ids) == (PAD, (PAD,))
    assert not loaded.generation.left_out
    reads = tokenizer(folder / ("tokenizer.json" if shared else "source_tokenizer.json"))
    writes = tokenizer(folder / "tokenizer.json")
    found = translate(loaded, TEXTS, beams=Beams(3, 0.0))
    assert len({each.translation for each in found}) == len(TEXTS)
    lengths = set()
    for text, each in zip(TEXTS, found, strict=True):
        ids = torch.tensor([reads(text)["input_ids"]])
        search = {"num_beams": 3, "length_penalty": 0.0, "early_stopping": "never", "do_sample": False}
        written = theirs.generate(ids, max_new_tokens=min(ids.shape[1] + 50, CONTEXT - 1), **search)
        assert each.translation == writes.decode(written[0], skip_special_tokens=True)
        lengths.add(written.shape[1])
        plain = theirs.generate(ids, max_new_tokens=20, do_sample=False)
        assert generate(loaded, text, max_new_tokens=20) == writes.decode(plain[0], skip_special_tokens=True)
    assert min(lengths) < 10 < max(lengths)
    forced = replace(loaded, generation=replace(loaded.generation, first_id=5))
    begun = translate(forced, TEXTS, beams=Beams(3, 0.0))
    assert [each.score for each in begun] != pytest.approx([each.score for each in found], abs=1e-3)
    for text, each in zip(TEXTS, begun, strict=True):
        limit = len(reads(text)["input_ids"]) + 50
        assert each.translation == generate(forced, text, num_beams=3, length_penalty=0.0, max_new_tokens=limit)
    # Without the makers' word there would be nothing but padding.
    unmuted = replace(loaded, generation=replace(loaded.generation, never_ids=()))
    assert complete(unmuted, TEXTS[0], max_new_tokens=3).token_ids == [PAD] * 3


def test_it_is_exported_and_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "marian"
    marian(folder, shared=True)
    out = export(folder, tmp_path / "out")
    again = load(out)
    assert again.generation == load(folder).generation
    assert translate(again, TEXTS) == translate(load(folder), TEXTS)
    assert json.loads((out / "config.json").read_text())["decoder_start_token_id"] == PAD
    assert trace(again, TEXTS[0]).tokens[-1] == "</s>"


def test_the_command_translates_and_generates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "marian"
    marian(folder, shared=True)
    found = translate(load(folder), TEXTS[:2])
    assert main(["translate", str(folder), *TEXTS[:2]]) == 0
    assert capsys.readouterr().out.splitlines() == [each.translation for each in found]
    assert main(["generate", str(folder), TEXTS[0], "--max-new-tokens", "8"]) == 0
    assert generate(load(folder), TEXTS[0], max_new_tokens=8) in capsys.readouterr().out


def test_t5_answers(tmp_path: Path) -> None:
    size = save_tokenizer(tmp_path, GERMAN + ENGLISH)
    config = T5Config(vocab_size=size + 7, d_model=32, d_kv=6, d_ff=48, num_layers=2, num_heads=4, pad_token_id=PAD)
    model = T5ForConditionalGeneration(config).eval()
    draw(model)
    model.generation_config.decoder_start_token_id = PAD
    model.save_pretrained(tmp_path)
    loaded, reads = load(tmp_path), tokenizer(tmp_path / "tokenizer.json")
    for text in TEXTS:
        written = model.generate(torch.tensor([reads(text)["input_ids"]]), max_new_tokens=12, do_sample=False)
        result = complete(loaded, text, max_new_tokens=12)
        assert result.token_ids == written[0, 1:].tolist()
        # Rows past the tokenizer's are words without a spelling.
        if max(result.token_ids) < size:
            assert result.text == reads.decode(written[0], skip_special_tokens=True)


@pytest.mark.parametrize("name", ["source.spm", "spiece.model"])
def test_a_folder_with_sentencepiece_alone_is_refused_when_it_reads_text(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "marian"
    theirs = marian(folder, shared=True)
    (folder / "tokenizer.json").unlink()
    for each in (name, "vocab.json"):
        (folder / each).write_bytes(b"{}")
    loaded = load(folder)
    with torch.no_grad():
        ids = torch.tensor([[5, 6, END]])
        expected = theirs(ids, decoder_input_ids=ids).logits
        assert torch.allclose(loaded.model(ids, ids), expected, atol=1e-4)
    with pytest.raises(TokenizerError, match=rf"tokenizer\.json.*{name}") as caught:
        translate(loaded, TEXTS)
    assert "source_tokenizer.json" in caught.value.remedy("en")
    with pytest.raises(TokenizerError, match=name):
        generate(loaded, TEXTS[0])

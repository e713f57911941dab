"""Masked language modelling: transformers reads the run, scores as we do and fills the same gaps."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM, pipeline

from clearformer.build import build
from clearformer.errors import DataError, GenerationError, UsageError
from clearformer.load import load
from clearformer.loss import IGNORE
from clearformer.tasks.corpus import TextData
from clearformer.tasks.filling import fill
from clearformer.tasks.masked import MaskedRecipe, MaskedTask
from clearformer.tasks.models import Encoder
from task_runs import TEXT, publish, train

Opened = Callable[[Any], tuple[Any, Any, Any]]


def recipe(path: Path | str, **data: Any) -> MaskedRecipe:
    data = {"context": 20, "batch": 4, **data}
    return MaskedRecipe(data=TextData(path=str(path), **data), model=Encoder(width=16, heads=2, layers=1))


def test_transformers_reads_the_run_and_answers_alike(text_file: Path, opened: Opened) -> None:
    task, ours, run = opened(recipe(text_file))
    folder = publish(task, ours, run)
    theirs = AutoModelForMaskedLM.from_pretrained(folder).eval()
    assert isinstance(theirs, BertForMaskedLM)
    batch = task.training().batch(0, 0)
    with torch.no_grad():
        expected = theirs(input_ids=batch.ids, attention_mask=batch.real.long()).logits
        found = ours(batch.ids, real=batch.real)
    torch.testing.assert_close(found[batch.real], expected[batch.real], rtol=1e-4, atol=1e-5)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = "the cat sat — 猫"
    assert tokenizer(text)["input_ids"] == load(folder).tokenizer.encode(text)
    assert tokenizer.mask_token == "[MASK]"
    assert json.loads((folder / "config.json").read_text())["pad_token_id"] == tokenizer.pad_token_id == 0


def test_pieces_hold_every_token_of_the_text_once(text_file: Path, opened: Opened) -> None:
    task, _, _ = opened(recipe(text_file))
    part, ids = task.corpus.part("training"), []
    tokenizer = task.corpus.tokenizer
    for row in task._rows(part):
        assert len(row) <= 20
        assert row[0] == tokenizer.added_tokens["[CLS]"]
        assert row[-1] == tokenizer.added_tokens["[SEP]"]
        ids += row[1:-1].tolist()
    assert ids == part.ids[1:-1].tolist()


def documents(path: Path) -> Path:
    """Documents of unequal lengths, so that every batch holds padding."""
    texts = [TEXT[40 * n : 40 * n + 3 + 5 * (n % 7)] for n in range(60)]
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts) + "\n", encoding="utf-8")
    return path


def test_the_loss_asks_for_masked_tokens_alone(tmp_path: Path, opened: Opened) -> None:
    """Each row read by itself, without its padding."""
    task, model, _ = opened(recipe(documents(tmp_path / "texts.jsonl")))
    batch = task.training().batch(0, 0)
    assert not batch.real.all()
    found, expected = task.loss(model, batch), 0.0
    for ids, real, targets in zip(*batch, strict=True):
        asked = targets[real] != IGNORE
        logs = model(ids[real][None])[0].double().log_softmax(-1)[asked]
        expected -= logs.gather(1, targets[real][asked][:, None]).sum().item()
    assert found.units == task.units(batch) == int((batch.targets != IGNORE).sum())
    assert found.total.item() == pytest.approx(expected, rel=1e-5)


def test_the_figures_do_not_depend_on_the_batch(tmp_path: Path) -> None:
    path, found = documents(tmp_path / "texts.jsonl"), []
    for batch in (1, 5, 64):
        task = MaskedTask.open(recipe(path, batch=batch), tmp_path)
        model = build(task.spec, generator=torch.Generator().manual_seed(2)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(4)
        found.append(task.evaluate(model))
    for figures in found[1:]:
        assert figures == pytest.approx(found[0], rel=1e-5)


def test_pseudo_perplexity_hides_one_token_at_a_time(tmp_path: Path, text_file: Path, opened: Opened) -> None:
    """Every token of a short text, by the definition."""
    short = tmp_path / "short.txt"
    short.write_text("Line 3: the cat number 3 sat", encoding="utf-8")
    task, model, _ = opened(recipe(text_file, validation=str(short)))
    mask = task.corpus.tokenizer.added_tokens["[MASK]"]
    nats = []
    for row in task._rows(task.corpus.part("validation")):
        for at in range(1, len(row) - 1):
            ids = torch.from_numpy(row)[None].clone()
            ids[0, at] = mask
            nats.append(-model(ids)[0, at].double().log_softmax(-1)[row[at]].item())
    assert task.evaluate(model)["pseudo_perplexity"] == pytest.approx(math.exp(sum(nats) / len(nats)), rel=1e-5)


def test_it_learns(text_file: Path, opened: Opened) -> None:
    task, model, _ = opened(recipe(text_file, batch=16))
    before = task.evaluate(model)
    # Longer, and so short a text is learnt by heart: the loss on the rest rises again.
    train(task, model, steps=60, lr=5e-3)
    after = task.evaluate(model)
    assert after["loss"] < 0.75 * before["loss"]
    assert after["accuracy"] > before["accuracy"] + 0.05
    (sample,) = task.samples(model)
    assert "[MASK]" in sample.input


def test_gaps_are_filled_as_transformers_fills_them(text_file: Path, opened: Opened) -> None:
    task, model, run = opened(recipe(text_file))
    train(task, model, steps=40, lr=5e-3)
    folder = publish(task, model, run)
    found = fill(load(folder), "the cat[MASK] on", top=3)
    expected = pipeline("fill-mask", model=str(folder), top_k=3)("the cat[MASK] on")
    assert [each.score for each in found] == pytest.approx([each["score"] for each in expected], rel=1e-3)
    assert [each.word for each in found] == [each["token_str"].strip() for each in expected]
    assert all(each.text == "the cat" + " " * (each.word.isalpha()) + each.word + " on" for each in found[:1])


def test_a_space_before_a_gap_belongs_to_the_hidden_word(text_file: Path, opened: Opened) -> None:
    task, model, run = opened(recipe(text_file))
    loaded = load(publish(task, model, run))
    assert fill(loaded, "the cat [MASK] on [MASK]") == fill(loaded, "the cat[MASK] on[MASK]")
    gaps = [each.gap for each in fill(loaded, "the [MASK] and [MASK]", top=2)]
    assert gaps == [0, 0, 1, 1]


def test_what_cannot_be_filled_is_refused(text_file: Path, opened: Opened) -> None:
    task, model, run = opened(recipe(text_file))
    loaded = load(publish(task, model, run))
    with pytest.raises(UsageError, match="no gap"):
        fill(loaded, "nothing missing")
    with pytest.raises(UsageError, match="top must be"):
        fill(loaded, "a [MASK]", top=0)
    with pytest.raises(GenerationError, match="20"):
        fill(loaded, "word " * 30 + "[MASK]")


def test_a_built_in_sentence_encoder_fills_nothing(minilm_folder: Path) -> None:
    with pytest.raises(UsageError, match="fills no gaps"):
        fill(load(minilm_folder), "a [MASK]")


def test_a_context_too_short_for_the_marks_is_refused(text_file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"data\.context"):
        MaskedTask.open(recipe(text_file, context=2), tmp_path)
    blank = tmp_path / "blank.jsonl"
    blank.write_text('{"text": "x"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="training part holds 0 tokens"):
        MaskedTask.open(recipe(blank), tmp_path)

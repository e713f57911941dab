"""Language modelling: every figure against transformers, the slow path or a count by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from clearformer import spec as s
from clearformer.build import build
from clearformer.data.packing import TokenBatch
from clearformer.generate.speak import complete
from clearformer.load import load
from clearformer.spec.presets import tiny_gpt
from clearformer.tasks.corpus import TextData
from clearformer.tasks.language import LanguageRecipe, LanguageTask, byte_lengths
from clearformer.tasks.models import Custom, Gpt, Modern
from clearformer.tasks.scoring import free_running_accuracy, score
from clearformer.tasks.tokenizing import BytePair
from task_runs import TEXT, publish, train

SMALL = Gpt(width=16, heads=2, layers=1)
Opened = Callable[[Any], tuple[Any, Any, Any]]


def recipe(path: Path | str, *, model: Gpt | Modern | Custom = SMALL, **data: Any) -> LanguageRecipe:
    return LanguageRecipe(data=TextData(path=str(path), **{"context": 24, "batch": 4, **data}), model=model)


@pytest.mark.parametrize("model", [SMALL, Modern(width=16, heads=2, kv_heads=1, layers=1)])
def test_transformers_reads_the_run_and_reaches_the_same_loss(
    model: Gpt | Modern, text_file: Path, opened: Opened
) -> None:
    """Window by window, each read by transformers: loss, accuracy, and bits over the text's own bytes."""
    task, ours, run = opened(recipe(text_file, model=model))
    figures = task.evaluate(ours)
    folder = publish(task, ours, run)
    theirs = AutoModelForCausalLM.from_pretrained(folder).eval()
    text = TEXT[int(len(TEXT) * 0.9) :]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    end = tokenizer.eos_token_id
    ids = torch.tensor([end, *tokenizer.encode(text), end])
    nats = right = 0
    with torch.no_grad():
        for start in range(0, len(ids) - 1, 24):
            window = ids[start : start + 25]
            logits = theirs(window[None, :-1]).logits[0].double()
            nats -= logits.log_softmax(-1).gather(1, window[1:, None]).sum()
            right += (logits.argmax(-1) == window[1:]).sum()
    count = len(ids) - 1
    assert figures["loss"] == pytest.approx(float(nats) / count, rel=1e-5)
    assert figures["perplexity"] == pytest.approx(math.exp(float(nats) / count), rel=1e-4)
    assert figures["accuracy"] == pytest.approx(int(right) / count)
    assert figures["bits_per_byte"] == pytest.approx(float(nats) / math.log(2) / len(text.encode()), rel=1e-5)


@pytest.mark.parametrize("path", ["text", "cyclic"])
def test_the_figures_do_not_depend_on_the_batch(path: str, text_file: Path, tmp_path: Path) -> None:
    found = []
    for batch in (1, 3, 64):
        task = LanguageTask.open(recipe(text_file if path == "text" else path, batch=batch), tmp_path)
        model = build(task.spec, generator=torch.Generator().manual_seed(2)).eval()
        found.append(task.evaluate(model))
    for figures in found[1:]:
        assert figures == pytest.approx(found[0], rel=1e-6)


def test_packed_documents_are_learnt_as_if_each_were_alone(text_file: Path, opened: Opened) -> None:
    task, model, _ = opened(recipe(text_file))
    ids = torch.randint(3, 20, (1, 19), generator=torch.Generator().manual_seed(0))
    packed = TokenBatch(ids, torch.tensor([[0] * 7 + [1] * 12]))
    apart = [TokenBatch(ids[:, :7], None), TokenBatch(ids[:, 7:], None)]
    together, losses = task.loss(model, packed), [task.loss(model, each) for each in apart]
    assert together.units == sum(each.units for each in losses) == task.units(packed) == 17
    assert together.total.item() == pytest.approx(sum(each.total.item() for each in losses), rel=1e-6)


def test_cyclic_integers_are_learnt_and_continued(opened: Opened) -> None:
    """The made set: above 95 % with the true text before each token, and without it."""
    task, model, run = opened(recipe("cyclic", model=Gpt(width=32, heads=2, layers=2), context=64, batch=16))
    before = task.evaluate(model)["accuracy"]
    train(task, model, steps=150, lr=3e-3)
    figures = task.evaluate(model)
    assert before < 0.5
    assert figures["accuracy"] > 0.95
    assert figures["free_running_accuracy"] > 0.95
    assert task.samples(model)[0].output == task.samples(model)[0].truth
    assert complete(load(publish(task, model, run)), "789", max_new_tokens=8).text == "01234567"


def test_free_running_is_greedy_generation(text_file: Path, opened: Opened) -> None:
    task, model, run = opened(recipe(text_file))
    texts = torch.from_numpy(task.corpus.excerpts("validation", 5, 24))
    loaded = load(publish(task, model, run))
    right = 0
    for row in texts.tolist():
        ids = row[:10]
        while len(ids) < 24:
            ids.append(int(loaded.model(torch.tensor([ids]))[0, -1].argmax()))
        right += sum(a == b for a, b in zip(ids[10:], row[10:], strict=True))
    assert free_running_accuracy(model, texts, given=10) == pytest.approx(right / (5 * 14))
    truth = torch.tensor([ids])
    assert free_running_accuracy(model, truth, given=10) == 1.0


def test_an_untrained_uniform_model_costs_the_vocabularys_logarithm(text_file: Path, opened: Opened) -> None:
    task, model, _ = opened(recipe(text_file))
    with torch.no_grad():
        model.stack.embed.token.weight.zero_()
    figures = task.evaluate(model)
    assert figures["loss"] == pytest.approx(math.log(task.corpus.tokenizer.vocabulary_size), rel=1e-6)


def test_byte_lengths_add_up_to_the_text(text_file: Path, tmp_path: Path) -> None:
    for choice in ("Characters", "BytePair"):
        made = (
            recipe(text_file)
            if choice == "Characters"
            else LanguageRecipe(data=TextData(path=str(text_file), context=24), tokenizer=BytePair(300), model=SMALL)
        )
        (tmp_path / choice).mkdir()
        task = LanguageTask.open(made, tmp_path / choice)
        sizes = byte_lengths(task.corpus.tokenizer)
        assert sizes[np.asarray(task.corpus.part("training").ids)].sum() == len(TEXT[: int(len(TEXT) * 0.9)].encode())
        assert sizes[list(task.corpus.tokenizer.special_ids)].sum() == 0


def test_a_custom_spec_is_trained_with_its_balance_loss(text_file: Path, tmp_path: Path) -> None:
    plain = tiny_gpt(width=16, heads=2, layers=1, context=24)
    experts = s.Experts(count=4, active=1, expert=s.Dense(16), router=s.SoftmaxRouter(), balance_loss=0.1)
    block = replace(plain.decoder.blocks[0], feedforward=experts)
    spec = replace(plain, decoder=replace(plain.decoder, blocks=(block,)))
    task = LanguageTask.open(recipe(text_file, model=Custom(spec)), tmp_path)
    model = build(task.spec, generator=torch.Generator().manual_seed(0))
    batch = task.training().batch(0, 0)
    learning = task.loss(model, batch)
    inputs, targets = batch.ids[:, :-1], batch.ids[:, 1:]
    nats = -model(inputs).log_softmax(-1).gather(-1, targets[..., None]).sum()
    # A perfectly even router costs its weight once a token, an uneven one more.
    balance = (learning.total - nats).item() / learning.units
    assert 0.0999 <= balance < 0.2


def test_score_is_the_same_however_its_logits_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([0, 4, -100, 2, 1, 3, -100])
    whole = score(lambda rows: rows, hidden, targets)
    monkeypatch.setattr("clearformer.tasks.scoring._LOGITS", 40)
    cut = score(lambda rows: rows, hidden, targets)
    logs = hidden.double().log_softmax(-1)
    by_hand = -sum(float(logs[i, t]) for i, t in enumerate(targets.tolist()) if t >= 0)
    assert whole == cut
    assert whole.nats == pytest.approx(by_hand, rel=1e-6)
    assert whole.asked == 5

"""Text classification: figures against scikit-learn, answers against transformers, splits without leaks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from clearformer.build import build
from clearformer.errors import CheckpointError, DataError, UsageError
from clearformer.load import load
from clearformer.messages import tasks as say
from clearformer.tasks.classes import confusion, macro_f1
from clearformer.tasks.classification import ClassificationRecipe, ClassificationTask
from clearformer.tasks.classifier import classify
from clearformer.tasks.confusion_picture import draw_confusion
from clearformer.tasks.labelled_texts import Encoded, Examples, LabelledData, LabelledTexts
from clearformer.tasks.models import Encoder
from clearformer.tasks.tokenizing import Characters
from task_runs import publish, train

Opened = Callable[[Any], tuple[Any, Any, Any]]


def recipe(path: Path | str, **data: Any) -> ClassificationRecipe:
    data = {"context": 48, "batch": 8, "share": 0.25, **data}
    return ClassificationRecipe(data=LabelledData(path=str(path), **data), model=Encoder(width=32, heads=2, layers=1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_confusion_and_f1_are_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    labels, chosen = map(list, zip(*pairs, strict=True))
    matrix = confusion(torch.tensor(chosen), torch.tensor(labels), 4)
    assert (matrix.numpy() == metrics.confusion_matrix(labels, chosen, labels=range(4))).all()
    assert macro_f1(matrix) == pytest.approx(metrics.f1_score(labels, chosen, average="macro", zero_division=0))


def test_it_learns_and_says_so(table_file: Path, opened: Opened, tmp_path: Path) -> None:
    task, model, run = opened(recipe(table_file))
    train(task, model, steps=60, lr=2e-3)
    figures = task.evaluate(model)
    assert figures["accuracy"] == figures["macro_f1"] == 1.0
    assert [sample.output for sample in task.samples(model)] == [sample.truth for sample in task.samples(model)]
    loaded = load(publish(task, model, run))
    texts = ["film 99 is good, said viewer 3", "film 98 is bad, said viewer 4", "film 7 is so-so, said viewer 1"]
    found = classify(loaded, texts)
    assert [each.label for each in found] == ["gut", "schlecht", "mittel"]
    assert all(sum(each.scores.values()) == pytest.approx(1) for each in found)
    assert json.loads((run.path / "labels.json").read_text()) == ["gut", "mittel", "schlecht"]
    logits, labels = task.predict(model, "validation")
    matrix = confusion(logits.argmax(1), labels, 3)
    assert draw_confusion(tmp_path / "map.png", matrix, task.classes).stat().st_size


def test_transformers_gives_the_same_probabilities(table_file: Path, opened: Opened) -> None:
    """Texts of unequal length together, and one longer than the context."""
    task, model, run = opened(recipe(table_file))
    folder = publish(task, model, run)
    texts = ["good", "the film is bad, so bad", "good and bad " * 40]
    theirs = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert theirs.config.id2label == dict(enumerate(task.classes))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read = tokenizer(texts, padding=True, truncation=True, max_length=48, return_tensors="pt")
    with torch.no_grad():
        expected = theirs(input_ids=read["input_ids"], attention_mask=read["attention_mask"]).logits.softmax(-1)
    found = torch.tensor([list(each.scores.values()) for each in classify(load(folder), texts)])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_the_figures_do_not_depend_on_the_batch(table_file: Path, tmp_path: Path) -> None:
    found = []
    for batch in (1, 4, 64):
        task = ClassificationTask.open(recipe(table_file, batch=batch), tmp_path)
        model = build(task.spec, generator=torch.Generator().manual_seed(2)).eval()
        found.append(task.evaluate(model))
    for figures in found[1:]:
        assert figures == pytest.approx(found[0], rel=1e-6)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=200), st.integers(1, 7), st.integers(0, 3))
def test_every_text_is_read_once_an_epoch(lengths: list[int], size: int, epoch: int) -> None:
    texts = Encoded(tuple((number + 1,) * length for number, length in enumerate(lengths)), np.array(lengths), 0)
    for seed in (None, 5):
        examples, again = Examples(texts, size, 0, seed), Examples(texts, size, 0, seed)
        batches = [examples.batch(epoch, number) for number in range(examples.count(epoch))]
        again.batch(epoch + 1, 0)
        assert all((again.batch(epoch, n).ids == batch.ids).all() for n, batch in enumerate(batches))
        assert sorted(n for batch in batches for n in batch.ids[:, 0].tolist()) == list(range(1, len(lengths) + 1))
        for batch in batches:
            assert batch.real.sum(1).tolist() == batch.labels.tolist()
            assert (batch.ids[~batch.real] == 0).all()


def test_equal_texts_and_all_classes_stay_together(table_file: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.tsv"
    lines = table_file.read_text().splitlines()
    twice.write_text("\n".join(lines + lines[1:]) + "\n", encoding="utf-8")
    texts = LabelledTexts.open(LabelledData(path=str(twice), share=0.25), Characters(), tmp_path)
    training, validation = (set(texts.splits[split].ids) for split in ("training", "validation"))
    assert not training & validation
    assert len(texts.splits["training"].ids) == 2 * len(training) == 90
    assert np.bincount(texts.splits["validation"].labels).tolist() == [10, 10, 10]


def test_sst2_keeps_whole_sentences_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No training text is a phrase of a validation sentence, and the test set is its own."""
    folder = tmp_path / "data" / "sst2"
    folder.mkdir(parents=True)
    sentences = [f"the plot of film {n} is {'rather good' if n % 2 else 'quite bad'} today" for n in range(30)]
    rows = [(text, n % 2) for n, text in enumerate(sentences)]
    rows += [(" ".join(text.split()[2:5]), n % 2) for n, text in enumerate(sentences)]
    for name, part in {"train": rows[::2], "dev": rows[1::2], "test": [("fine", 1), ("dull", 0)]}.items():
        lines = ["sentence\tlabel", *(f"{text}\t{label}" for text, label in part)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("CLEARFORMER_DATA", str(folder.parent))
    texts = LabelledTexts.open(LabelledData(path="sst2", share=0.2), Characters(), tmp_path)
    decode = texts.tokenizer.decode
    training = [decode(ids) for ids in texts.splits["training"].ids]
    validation = [decode(ids) for ids in texts.splits["validation"].ids]
    assert len(validation) == 6
    assert len(training) == 48
    assert not [text for text in training if any(f" {text} " in f" {whole} " for whole in validation)]
    assert texts.sizes()["test texts"] == 2


def test_data_that_cannot_be_learnt_are_refused(table_file: Path, tmp_path: Path) -> None:
    def refused(lines: str, match: str, **data: Any) -> None:
        path = tmp_path / "odd.tsv"
        path.write_text(lines, encoding="utf-8")
        given_data = {"path": str(table_file), "test": str(path)} if data.pop("as_test", False) else {"path": str(path)}
        with pytest.raises(DataError, match=match):
            LabelledTexts.open(LabelledData(**given_data, **data), Characters(), tmp_path / "run")

    (tmp_path / "run").mkdir()
    refused("text\tlabel\na\tx\nb\tx\nc\tx\nd\tx\ne\tx\nf\tx\n", "every text has the label x")
    refused("text\tlabel\nonly\tx\nother\ty\n", "leave the validation split empty")
    refused("text\tlabel\nodd\tnever\n", "label never does not occur in the training data", as_test=True)
    refused("", "holds no text")
    with pytest.raises(DataError, match="names no data"):
        LabelledTexts.open(LabelledData(), Characters(), tmp_path)
    with pytest.raises(DataError, match="no test split"):
        ClassificationTask.open(recipe(table_file), tmp_path / "run").texts.examples("test", 4, seed=None)


def test_what_cannot_be_classified_is_refused(table_file: Path, opened: Opened, minilm_folder: Path) -> None:
    task, model, run = opened(recipe(table_file))
    loaded = load(publish(task, model, run))
    for texts in ([], "one text"):
        with pytest.raises(UsageError, match="no text to classify"):
            classify(loaded, texts)
    with pytest.raises(UsageError, match="Text 2 is empty"):
        classify(loaded, ["a", ""])
    with pytest.raises(UsageError, match="classifies nothing: its head is Vector"):
        classify(load(minilm_folder), ["a"])
    (run.path / "labels.json").write_text('["one"]', encoding="utf-8")
    with pytest.raises(CheckpointError, match="list of 3 names; found 1"):
        classify(loaded, ["a"])
    (run.path / "labels.json").unlink()
    named = json.loads((run.path / "config.json").read_text(encoding="utf-8"))["id2label"]
    assert list(classify(loaded, ["a"])[0].scores) == list(named.values())
    (run.path / "config.json").unlink()
    assert list(classify(loaded, ["a"])[0].scores) == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert say.EMPTY_TEXT.cause.text("zh", number=2) == "第 2 条文本是空的。"

"""Translation: every figure against the slow path, sacreBLEU's own functions and transformers' tokenizer."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from transformers import PreTrainedTokenizerFast

from clearformer.build import build
from clearformer.data.parallel import PairBatch
from clearformer.errors import ClearformerError, DataError, GenerationError, TokenizerError, TrainingError, UsageError
from clearformer.export import export
from clearformer.generate.speak import complete, generate
from clearformer.load import load
from clearformer.loss import IGNORE
from clearformer.spec.presets import paper, tiny_gpt
from clearformer.tasks.evaluation import evaluate
from clearformer.tasks.parallel_text import ParallelData
from clearformer.tasks.translating import Beams
from clearformer.tasks.translation import CustomPair, Paper, TranslationRecipe, TranslationTask, bleu_signature
from clearformer.tasks.translation import self_written as replaced
from clearformer.tasks.translator import translate
from task_runs import publish, train

WORDS = {"ein": "a", "hund": "dog", "mann": "man", "läuft": "runs", "schläft": "sleeps", "rot": "red", "und": "and"}
SMALL = Paper(width=16, heads=2, hidden=32, layers=1)
Opened = Callable[[Any], tuple[Any, Any, Any]]


def written(folder: Path, count: int) -> dict[str, str]:
    """A language that is another word by word; the source is compressed."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 7, (count,), generator=generator).tolist()
    words = list(WORDS)
    rows = [[words[i] for i in torch.randperm(len(words), generator=generator)[:n].tolist()] for n in lengths]
    named = {"source": folder / "a.de.gz", "target": folder / "a.en"}
    named["source"].write_bytes(gzip.compress("".join(" ".join(row) + "\n" for row in rows).encode()))
    named["target"].write_text("".join(" ".join(map(WORDS.get, row)).capitalize() + "\n" for row in rows))
    return {side: str(path) for side, path in named.items()}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    return written(tmp_path, 90)


def recipe(files: dict[str, str], **given: Any) -> TranslationRecipe:
    own = {key: given.pop(key) for key in ("model", "scheduled_sampling", "search", "loss") if key in given}
    data = ParallelData(**{**files, "share": 0.2, "size": 265, "batch": 80, "lowercase": True, **given})
    return TranslationRecipe(data=data, **{"model": SMALL, **own})


def greedy(model: Any, source: list[int], begin: int, end: int, limit: int) -> list[int]:
    """By whole forward passes."""
    words: list[int] = []
    while len(words) < limit and end not in words:
        logits = model(torch.tensor([source]), torch.tensor([[begin, *words]]))
        words.append(int(logits[0, -1].argmax()))
    return words


@pytest.mark.parametrize("vocabulary", ["shared", "separate"])
@torch.no_grad()
def test_every_figure_is_that_of_the_slow_path(vocabulary: str, files: dict[str, str], opened: Opened) -> None:
    task, model, _ = opened(recipe(files, vocabulary=vocabulary, share=0.1))
    figures = task.evaluate(model)
    part, end = task.text.split("validation"), task.text.target.eos_id
    nats = right = asked = free = words = 0
    texts = []
    for source, target in zip(part.source, part.target, strict=True):
        logits, truth = model(torch.tensor([source]), torch.tensor([target[:-1]]))[0].double(), torch.tensor(target[1:])
        nats -= float(logits.log_softmax(-1)[range(len(truth)), truth].sum())
        right, asked = right + int((logits.argmax(-1) == truth).sum()), asked + len(truth)
        written = [i for i in greedy(model, source, target[0], end, len(source) + 50) if i != end]
        free += sum(a == b for a, b in zip(written, target[1:-1], strict=False))
        words += len(target) - 2
        texts.append(task.text.target.decode(written))
    assert figures["loss"] == pytest.approx(nats / asked, rel=1e-5)
    assert (figures["accuracy"], figures["free_running_accuracy"]) == pytest.approx((right / asked, free / words))
    bleu = sacrebleu.corpus_bleu(texts, [part.references], lowercase=True)
    assert figures["bleu"] == pytest.approx(bleu.score)
    assert figures["chrf"] == pytest.approx(
        sacrebleu.metrics.CHRF(lowercase=True).corpus_score(texts, [part.references]).score
    )
    assert task.samples(model)[0].output == texts[0]
    assert task.samples(model)[0].truth == part.references[0]


def test_the_figures_do_not_depend_on_the_batch(files: dict[str, str], opened: Opened) -> None:
    test = {"test_source": files["source"], "test_target": files["target"]}
    task, model, run = opened(recipe(files, search=Beams(3, 0.8), **test))
    train(task, model, steps=20, lr=5e-3)
    publish(task, model, run)
    for split in ("validation", "test"):
        first, *others = (evaluate(run.path, split, batch=batch).metrics for batch in (40, 80, 4000))
        assert 0 < first["accuracy"] < 1
        for found in others:
            assert found == pytest.approx(first, rel=1e-5)


def test_the_loss_is_smoothed_cross_entropy_and_padding_adds_nothing(files: dict[str, str], opened: Opened) -> None:
    given = recipe(files)
    task, model, _ = opened(replace(given, loss=replace(given.loss, smoothing=0.1)))
    batch = task.training().batch(0, 0)
    total, units = task.loss(model, batch)
    targets = batch.target[:, 1:].masked_fill(~batch.target_real[:, 1:], IGNORE)
    logits = model(batch.source, batch.target[:, :-1], source_real=batch.source_real)
    expected = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, label_smoothing=0.1, reduction="sum"
    )
    assert units == task.units(batch) == int((targets != IGNORE).sum())
    torch.testing.assert_close(total, expected)
    longer = PairBatch(*(torch.nn.functional.pad(part, (0, 3)) for part in batch))
    assert task.units(longer) == units
    torch.testing.assert_close(task.loss(model, longer).total, total)


def test_scheduled_sampling_reads_the_models_own_words(files: dict[str, str], opened: Opened) -> None:
    """All of them at share 1, none at 0; which ones follows from torch's generator."""
    task, model, _ = opened(recipe(files, scheduled_sampling=0.4))
    batch = task.training().batch(0, 0)
    inputs, real = batch.target[:, :-1], batch.target_real[:, :-1]
    memory = model.encode(batch.source, real=batch.source_real)
    own = model(batch.source, inputs, source_real=batch.source_real, target_real=real).argmax(-1)
    whole = torch.cat((inputs[:, :1], own[:, :-1].where(real[:, 1:], inputs[:, 1:])), 1)
    assert torch.equal(replaced(model, inputs, memory, real, 0.0), inputs)
    assert torch.equal(replaced(model, inputs, memory, real, 1.0), whole)
    losses = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        loss = task.loss(model.train(), batch)
        losses.append(loss.total.item())
        assert loss.units == task.units(batch)
    assert losses[0] == losses[1] != losses[2]
    some = replaced(model.eval(), inputs, memory, real, 0.5)
    share = ((some == whole) & (whole != inputs)).sum() / (whole != inputs).sum()
    assert 0.2 < share < 0.8


@pytest.mark.parametrize("vocabulary", ["shared", "separate"])
def test_a_published_run_translates(vocabulary: str, files: dict[str, str], opened: Opened, tmp_path: Path) -> None:
    """Together as alone; as `complete` does; exported as well; a text is read as transformers' tokenizer reads it."""
    task, model, run = opened(recipe(files, vocabulary=vocabulary))
    folder = publish(task, model, run)
    loaded = load(folder)
    texts = ["Ein Hund läuft", "und", "mann und hund und mann und mann", "rot ein"]
    beams = Beams(4, 1.0)
    together = translate(loaded, texts, beams=beams)
    assert [each.text for each in together] == texts
    assert len({each.translation for each in together}) > 1
    assert not any("</s>" in each.translation for each in together)
    for text, found in zip(texts, together, strict=True):
        (alone,) = translate(loaded, [text], beams=beams)
        assert alone.translation == found.translation
        assert alone.score == pytest.approx(found.score, abs=1e-5)
        (plain,) = translate(loaded, [text], beams=Beams(width=1))
        ids = (loaded.source_tokenizer or loaded.tokenizer).encode(text)  # type: ignore[union-attr]
        limit = len(ids) + 50
        assert complete(loaded, text, max_new_tokens=limit).text == plain.translation
        assert generate(loaded, text, max_new_tokens=limit, num_beams=4, length_penalty=1.0) == found.translation
    moved = load(export(folder, tmp_path / "out", form="own"))
    assert [each.translation for each in translate(moved, texts, beams=beams)] == [e.translation for e in together]
    name = "tokenizer.json" if vocabulary == "shared" else "source_tokenizer.json"
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(folder / name), eos_token="</s>")
    assert theirs("Ein Hund")["input_ids"] == task.text.source.encode("Ein Hund") == task.text.source.encode("ein hund")
    assert task.text.source.encode("ein")[-1] == theirs.eos_token_id
    assert (folder / "source_tokenizer.json").exists() == (vocabulary == "separate")


def test_a_run_opened_again_has_the_same_vocabulary(files: dict[str, str], tmp_path: Path) -> None:
    first = TranslationTask.open(recipe(files, vocabulary="separate"), tmp_path)
    Path(files["source"]).write_bytes(gzip.compress(b"neu\n" * 90))
    again = TranslationTask.open(recipe(files, vocabulary="separate"), tmp_path)
    assert again.published() == first.published()
    assert first.text.source.to_json() != first.text.target.to_json()


def test_it_learns_to_translate(opened: Opened, tmp_path: Path) -> None:
    choice = Paper(width=32, heads=2, hidden=64, layers=1, dropout=0.0, placement="pre")
    task, _, run = opened(recipe(written(tmp_path, 400), batch=400, size=None, model=choice))
    model = build(task.spec, generator=torch.Generator().manual_seed(3))
    for steps, lr in ((150, 5e-3), (60, 1e-3)):
        train(task, model, steps=steps, lr=lr)
    figures = task.evaluate(model)
    assert figures["bleu"] > 75
    assert figures["free_running_accuracy"] > 0.85
    (found,) = translate(load(publish(task, model, run)), ["Ein Mann schläft"])
    assert found.translation == "a man sleeps"


def test_the_named_set_has_its_test_split(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sets" / "multi30k"
    folder.mkdir(parents=True)
    compressed = {"de": Path(files["source"]).read_bytes(), "en": gzip.compress(Path(files["target"]).read_bytes())}
    for stem in ("train", "val", "test_2016_flickr", "test_2017_flickr"):
        for language, content in compressed.items():
            (folder / f"{stem}.{language}.gz").write_bytes(content)
    monkeypatch.setenv("CLEARFORMER_DATA", str(folder.parent))
    task = TranslationTask.open(recipe({}, name="multi30k"), tmp_path)
    assert {name: n for name, n in task.sizes().items() if name.endswith("pairs")} == {
        f"{split} pairs": 90 for split in ("training", "validation", "test")
    }
    assert task.text.split("test").sentences[0].split()[0] in WORDS


def test_the_signature_is_sacrebleus() -> None:
    signature = bleu_signature(lowercase=True)
    for part in ("nrefs:1", "case:lc", "tok:13a", f"version:{sacrebleu.__version__}"):
        assert part in signature
    assert "case:mixed" in bleu_signature(lowercase=False)


def test_a_model_of_ones_own_takes_the_vocabularies(files: dict[str, str], tmp_path: Path) -> None:
    spec = paper(width=16, heads=2, hidden=24, layers=1, vocabulary=9, context=64)
    task = TranslationTask.open(recipe(files, model=CustomPair(spec), vocabulary="separate"), tmp_path)
    assert not task.spec.shared_vocabulary
    assert task.spec.encoder.input == replace(spec.encoder.input, vocabulary=task.text.source.vocabulary_size)


def test_bad_data_and_settings_are_named(files: dict[str, str], tmp_path: Path) -> None:
    short, one = tmp_path / "short.en", tmp_path / "one"
    short.write_text("a dog\n")
    one.write_text("ein\n")
    cases: list[tuple[type[ClearformerError], str, dict[str, Any]]] = [
        (DataError, "a.de.gz.*90.*short.en.*1", {"target": str(short)}),
        (DataError, "at least 2 pairs", {"source": str(one), "target": str(one)}),
        (DataError, "data.target", {"target": None}),
        (DataError, "data.source", {"source": None, "target": None}),
        (DataError, "multi30k.*wmt", {"name": "wmt"}),
        (DataError, "data.validation_target", {"validation_source": files["source"]}),
        (TokenizerError, "5000", {"size": 5000}),
        (UsageError, "data.size", {"size": 20}),
        (UsageError, "data.share", {"share": 1.0}),
        (UsageError, "scheduled_sampling", {"scheduled_sampling": 1.5}),
        (TrainingError, "holds 8", {"model": CustomPair(paper(width=16, heads=2, hidden=24, layers=1, context=8))}),
    ]
    for number, (kind, words, change) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(kind, match=words):
            TranslationTask.open(recipe(files, **change), folder)
    (tmp_path / "fine").mkdir()
    task = TranslationTask.open(recipe(files, batch=8), tmp_path / "fine")
    with pytest.raises(DataError, match=r"budget"):
        task.training()
    with pytest.raises(DataError, match="no test split"):
        task.text.split("test")
    for wrong in ({"width": 0}, {"alpha": -1.0}, {"width": 1, "alpha": float("nan")}):
        with pytest.raises(UsageError, match=r"num_beams|length_penalty"):
            Beams(**wrong)


def test_what_cannot_be_translated_is_named(files: dict[str, str], opened: Opened) -> None:
    task, model, run = opened(recipe(files))
    loaded = load(publish(task, model, run))
    for kind, words, texts in (
        (UsageError, "at least one text", []),
        (UsageError, "at least one text", "ein hund"),
        (GenerationError, "Text 2 is empty", ["ein", "  "]),
        (GenerationError, r"Text 1 has \d+ tokens", ["hund " * 200]),
    ):
        with pytest.raises(kind, match=words):
            translate(loaded, texts)  # type: ignore[arg-type]
    gpt = build(tiny_gpt(width=16, heads=2, layers=1, vocabulary=300, context=32))
    with pytest.raises(UsageError, match="needs an encoder and a decoder"):
        translate(replace(loaded, model=gpt), ["ein"])

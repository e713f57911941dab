"""What was trained, used: evaluate, generate, translate, forecast, classify, fill, export."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from drawing.folders import llama_folder
from drawing.training_data import TINY

METRICS = {
    "language": {"loss", "perplexity", "bits_per_byte", "accuracy", "free_running_accuracy"},
    "masked": {"loss"},
    "translation": {"loss", "perplexity", "accuracy", "free_running_accuracy", "bleu", "chrf"},
    "forecasting": {"mse", "mae", "persistence_mse", "linear_mse"},
    "classification": {"loss", "accuracy", "macro_f1"},
    "vision": {"loss", "accuracy", "macro_f1"},
}


@pytest.mark.parametrize("task", list(TINY))
def test_every_run_is_evaluated(clearformer, trained, task) -> None:
    ended = clearformer("evaluate", str(trained / task), "--json")
    assert ended.code == 0, ended.out
    assert (ended.json["task"], ended.json["split"]) == (task, "validation")
    assert ended.json["n"] > 0
    assert ended.json["metrics"].keys() >= METRICS[task]
    assert clearformer("evaluate", str(trained / task)).code == 0


@pytest.mark.parametrize("task", ["language", "classification", "vision", "forecasting"])
def test_the_batch_size_does_not_show(clearformer, trained, task) -> None:
    one, many = (clearformer("evaluate", str(trained / task), "--batch", n, "--json").json for n in ("1", "64"))
    assert one["metrics"] == pytest.approx(many["metrics"], rel=1e-5)


@pytest.mark.parametrize("task", ["classification", "vision"])
def test_a_confusion_matrix_is_drawn(clearformer, trained, task) -> None:
    ended = clearformer("evaluate", str(trained / task), "--plot", "seen.png")
    assert ended.out.splitlines()[-1] == "seen.png"
    assert Path("seen.png").read_bytes().startswith(b"\x89PNG")
    refused = clearformer("evaluate", str(trained / "language"), "--plot", "seen.svg")
    assert refused.code == 2
    assert not Path("seen.svg").exists()


def test_bleu_comes_with_its_signature(clearformer, trained) -> None:
    path = str(trained / "translation")
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in clearformer("evaluate", path).out
    assert "version:" in clearformer("evaluate", path, "--json").json["signature"]


def test_language_is_continued(clearformer, trained) -> None:
    arguments = ("generate", str(trained / "language"), "the cat", "--max-new-tokens", "5", "--seed", "1", "--json")
    ended = clearformer(*arguments)
    assert ended.code == 0, ended.out
    # A model of eight steps may draw its end mark at any place.
    least = 5 if ended.json["stop_reason"] == "length" else 1
    assert least <= ended.json["new_tokens"] <= 5
    assert len(ended.json["token_ids"]) == ended.json["new_tokens"]
    assert clearformer(*arguments).json["token_ids"] == ended.json["token_ids"]


def test_a_prompt_that_the_tokenizer_cannot_spell_is_not_continued_in_silence(clearformer, trained) -> None:
    call = ("generate", str(trained / "language"), "--max-new-tokens", "1")
    assert "2 of the prompt's 6 tokens are unknown" in clearformer(*call, "中cat文 ").err
    assert "不认识" in clearformer(*call, "中", "--lang", "zh").err
    assert "unknown" not in clearformer(*call, "the cat").err
    assert "tok/s, 1 new; ended by" in clearformer(*call, "the cat").err, "one token has no pace"


def test_sentences_are_translated_in_order(clearformer, trained) -> None:
    path = str(trained / "translation")
    Path("truth.en").write_text("one dog\ntwo house\n", encoding="utf-8")
    ended = clearformer("translate", path, "ein Hund", "zwei Haus", "--reference", "truth.en", "--json")
    assert ended.code == 0, ended.out
    assert [each["input"] for each in ended.json["outputs"]] == ["ein Hund", "zwei Haus"]
    assert set(ended.json["metrics"]) == {"bleu", "chrf", "signature"}
    assert len(clearformer("translate", path, "ein Hund", "zwei Haus").out.splitlines()) >= 2
    refused = clearformer("translate", path, "ein Hund", "--reference", "truth.en")
    assert refused.code == 2


def test_letters_of_both_sizes_count_unless_the_user_says_otherwise(clearformer, trained) -> None:
    """The scores are sacreBLEU's own."""
    call = ("translate", str(trained / "translation"), "ein Hund", "zwei Haus", "--num-beams", "1")
    found = [each["output"] for each in clearformer(*call, "--json").json["outputs"]]
    truth = [text.upper() for text in found]
    Path("truth.en").write_text("".join(f"{text}\n" for text in truth), encoding="utf-8")
    for flags, small in (((), False), (("--lowercase",), True)):
        metrics = clearformer(*call, "--reference", "truth.en", *flags, "--json").json["metrics"]
        expected = BLEU(lowercase=small)
        assert metrics["bleu"] == pytest.approx(expected.corpus_score(found, [truth]).score)
        assert metrics["signature"] == str(expected.get_signature())
    alone = clearformer(*call, "--lowercase")
    assert (alone.code, "--reference" in alone.err) == (2, True)


def test_a_series_is_forecast(clearformer, trained) -> None:
    path, data = str(trained / "forecasting"), str(trained / "data" / "waves.csv")
    ended = clearformer("forecast", path, "--data", data, "--hold-out", "--plot", "next.svg", "--json")
    assert ended.code == 0, ended.out
    assert set(ended.json["metrics"]) == {"mse", "mae"}
    assert "<svg" in Path("next.svg").read_text()
    rows = list(csv.DictReader(io.StringIO(clearformer("forecast", path, "--data", data, "--steps", "6").out)))
    # The table ends at 2020-01-10 23:00.
    assert [row["date"] for row in rows] == [f"2020-01-11 {hour:02}:00:00" for hour in range(6)]
    held = list(csv.DictReader(io.StringIO(Path(data).read_text(encoding="utf-8"))))[-4:]
    assert [each["output"]["date"] for each in ended.json["outputs"]] == [row["date"] for row in held]


def test_texts_and_images_are_classified(clearformer, trained) -> None:
    text = clearformer("classify", str(trained / "classification"), "good film", "bad film", "--json").json
    assert [each["input"] for each in text["outputs"]] == ["good film", "bad film"]
    shades = [str(trained / "data" / "shades" / name / "0.png") for name in ("dark", "bright")]
    image = clearformer("classify", str(trained / "vision"), *shades, "--json").json
    for each in (*text["outputs"], *image["outputs"]):
        assert each["score"] == max(each["scores"].values())
        assert each["scores"][each["output"]] == each["score"]
        assert sum(each["scores"].values()) == pytest.approx(1)
    assert {each["output"] for each in image["outputs"]} <= {"dark", "bright"}


def test_gaps_are_filled(clearformer, trained) -> None:
    ended = clearformer("fill", str(trained / "masked"), "the c[MASK]t", "--top", "3", "--json")
    assert ended.code == 0, ended.out
    scores = [each["score"] for each in ended.json["outputs"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    refused = clearformer("fill", str(trained / "masked"), "the cat")
    assert refused.code == 2
    assert "[MASK]" in refused.err


def test_an_exported_run_writes_the_same(clearformer, trained) -> None:
    ended = clearformer("export", str(trained / "language"), "out", "--json")
    assert ended.code == 0, ended.out
    prompt = ("the cat", "--max-new-tokens", "8", "--temperature", "0", "--json")
    one, other = (clearformer("generate", path, *prompt).json for path in (str(trained / "language"), "./out"))
    assert one["token_ids"] == other["token_ids"]
    assert clearformer("export", str(trained / "language"), "out").code != 0


def test_an_exported_gguf_file_writes_the_same(clearformer, tmp_path) -> None:
    llama_folder(tmp_path / "toy")
    ended = clearformer("export", "./toy", "out.gguf", "--type", "f32")
    assert (ended.code, ended.out) == (0, "out.gguf\n"), ended.err
    prompt = ("the cat", "--max-new-tokens", "8", "--temperature", "0", "--json")
    one, other = (clearformer("generate", path, *prompt).json for path in ("./toy", "./out.gguf"))
    assert one["token_ids"] == other["token_ids"]
    assert "already exists" in clearformer("export", "./toy", "out.gguf").err


def test_what_falls_back_is_said(clearformer, tmp_path) -> None:
    """Rows of 48 do not divide into blocks of 32."""
    llama_folder(tmp_path / "toy")
    ended = clearformer("export", "./toy", "out.gguf", "--type", "q8_0", "--lang", "zh")
    assert "有 2 个张量存为 f16（首个为 blk.0.ffn_down.weight）" in ended.err
    found = clearformer("export", "./toy", "again.gguf", "--type", "q8_0", "--json").json
    assert found["fell_back"] == ["blk.0.ffn_down.weight", "blk.1.ffn_down.weight"]


def test_a_tokenizer_of_characters_is_refused_by_its_kind(clearformer, trained) -> None:
    ended = clearformer("export", str(trained / "language"), "out.gguf", "--json")
    assert ended.code == 1
    assert "WordLevel" in ended.json["error"]["message"]
    assert not Path("out.gguf").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("out", "--type", "f16"), "--type f16 is for GGUF files"),
        (("out.gguf", "--form", "own"), "--form own is a form of folders"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(clearformer, trained, arguments, said) -> None:
    ended = clearformer("export", str(trained / "language"), *arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not Path(arguments[0]).exists()


@pytest.mark.parametrize(
    ("verb", "task"), [("fill", "language"), ("classify", "language"), ("translate", "language"), ("fill", "vision")]
)
def test_another_task_s_run_is_refused(clearformer, trained, verb, task) -> None:
    ended = clearformer(verb, str(trained / task), "the [MASK]", "--json")
    assert ended.code in (1, 2)
    assert ended.json["error"]["kind"] != "internal"

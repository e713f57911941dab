"""Small files of every kind that a task trains on, and the options that make its model tiny."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from PIL import Image

PLAIN = (
    *("--compute.compile", "no", "--compute.kernel", "plain", "--compute.switch", "no"),
    *("--threads", "1", "--watch.evaluate", "4", "--quiet"),
)
TINY = {
    "language": ("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--data.context", "16"),
    "masked": ("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--data.context", "16"),
    "translation": ("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--model.hidden", "32"),
    "forecasting": (
        *("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--model.hidden", "32"),
        *("--data.lookback", "16", "--horizon", "4", "--model.patch", "8", "--model.stride", "4"),
    ),
    "classification": ("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--data.context", "16"),
    "vision": (
        *("--model.width", "16", "--model.heads", "2", "--model.layers", "1", "--model.hidden", "32"),
        *("--model.patch", "4"),
    ),
}


def write_data(folder: Path) -> dict[str, tuple[str, ...]]:
    """The files, and each task's options that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "words.txt"
    text.write_text("the cat sat on the mat and the dog lay on the log. " * 60, encoding="utf-8")
    numbers = [f"{first} {second}" for first in ("ein", "zwei", "drei") for second in ("Hund", "Haus", "Mann")] * 8
    (folder / "a.de").write_text("\n".join(numbers) + "\n", encoding="utf-8")
    english = dict(
        zip(
            ["ein", "zwei", "drei", "Hund", "Haus", "Mann"], ["one", "two", "three", "dog", "house", "man"], strict=True
        )
    )
    lines = [" ".join(english[word] for word in line.split()) for line in numbers]
    (folder / "a.en").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table(folder / "waves.csv")
    rows = [f"{word} film number {n}\t{label}" for n in range(40) for word, label in (("good", "yes"), ("bad", "no"))]
    (folder / "films.tsv").write_text("text\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    images(folder / "shades")
    return {
        "language": ("--data", str(text)),
        "masked": ("--data", str(text), "--tokenizer.type", "Characters"),
        "translation": ("--src", str(folder / "a.de"), "--tgt", str(folder / "a.en")),
        "forecasting": ("--data", str(folder / "waves.csv")),
        "classification": ("--data", str(folder / "films.tsv")),
        "vision": ("--data", str(folder / "shades")),
    }


def table(path: Path, rows: int = 240) -> Path:
    """Two columns of numbers, an hour a row."""
    hours = np.datetime64("2020-01-01T00:00:00") + np.arange(rows).astype("timedelta64[h]")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("date", "load", "OT"))
        for row, hour in enumerate(hours):
            date = str(hour).replace("T", " ")
            writer.writerow((date, f"{np.sin(row / 3):.5f}", f"{np.cos(row / 5) + row / 100:.5f}"))
    return path


def images(folder: Path, each: int = 20) -> Path:
    """Dark and bright squares of 8 × 8, a folder a class."""
    drawn = np.random.default_rng(0)
    for name, low in (("dark", 0), ("bright", 128)):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            shade = drawn.integers(low, low + 100, (8, 8), dtype=np.uint8)
            Image.fromarray(shade).save(folder / name / f"{number}.png")
    return folder

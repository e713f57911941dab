"""The vision task: figures by hand, the same for every batch size; what it refuses, publishes and predicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.build import build
from clearformer.data.augmentation import Augmentation
from clearformer.errors import DataError, UsageError
from clearformer.model import EncoderOnly
from clearformer.tasks.image_classifier import FACTS, classify_image, looking_from
from clearformer.tasks.vision import ImageData, VisionRecipe, VisionTask, VisionTransformer

SMALL = VisionTransformer(width=16, heads=2, layers=1, hidden=16)
DIGITS = ImageData(path="digits")


def task(folder: Path, data: ImageData = DIGITS, model: VisionTransformer = SMALL) -> VisionTask:
    return VisionTask.open(VisionRecipe(data=data, model=model), folder / "run")


def model_of(task: VisionTask) -> EncoderOnly:
    model = build(task.spec, generator=torch.Generator().manual_seed(0)).eval()
    assert isinstance(model, EncoderOnly)
    return model


def squares(folder: Path) -> Path:
    """Coloured pictures of two classes: the upper half is bright, or the lower one."""
    draw = np.random.default_rng(0)
    for name, bright in (("lower", slice(3, 6)), ("upper", slice(0, 3))):
        (folder / "data" / name).mkdir(parents=True)
        for index in range(12):
            pixels = draw.integers(0, 100, (6, 6, 3), dtype=np.uint8)
            pixels[bright] += 120
            Image.fromarray(pixels).save(folder / "data" / name / f"{index}.png")
    return folder / "data"


def test_figures_by_hand(tmp_path: Path) -> None:
    found = task(tmp_path)
    assert found.sizes() == {"training images": 1259, "validation images": 179, "test images": 359}
    model, part = model_of(found), found.parts["test"]
    pixels = found.pictures.images[part].astype(np.float64).transpose(0, 3, 1, 2) / 255
    training = found.pictures.images[found.parts["training"]].astype(np.float64) / 255
    images = torch.from_numpy((pixels - training.mean()) / training.std()).float()
    with torch.no_grad():
        logits = model(images).double().numpy()
    labels = found.pictures.labels[part]
    logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    figures = found.evaluate(model, "test")
    assert figures["accuracy"] == pytest.approx((logits.argmax(1) == labels).mean())
    assert figures["loss"] == pytest.approx(-logp[np.arange(len(labels)), labels].mean(), rel=1e-5)


def test_no_batch_size_shows_in_a_figure(tmp_path: Path) -> None:
    figures = [task(tmp_path, replace(DIGITS, batch=batch)) for batch in (1, 50, 1000)]
    found = [each.evaluate(model_of(each), "validation") for each in figures]
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert found[0] == pytest.approx(found[2], rel=1e-5)


def test_the_loss_is_a_sum_over_images(tmp_path: Path) -> None:
    found = task(tmp_path)
    model, batch = model_of(found), found.training().batch(0, 0)
    loss = found.loss(model, batch)
    assert loss.units == found.units(batch) == 64
    logp = model(batch.images).log_softmax(1)
    expected = -(0.9 * logp[torch.arange(64), batch.labels] + 0.1 * logp.mean(1)).sum()
    torch.testing.assert_close(loss.total, expected)


def test_a_folder_of_images_is_learnt_and_predicted(tmp_path: Path) -> None:
    data = ImageData(path=str(squares(tmp_path)), batch=8, augmentation=Augmentation(0.05, 5, 0.05))
    found = task(tmp_path, data)
    assert found.sizes() == {"training images": 18, "validation images": 2, "test images": 4}
    model = model_of(found).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(30):
        loss = found.loss(model, found.training().batch(step // 2, step % 2))
        optimizer.zero_grad()
        loss.total.backward()
        optimizer.step()
    assert found.evaluate(model.eval(), "test")["accuracy"] == 1
    verdict = classify_image(model, found.looking, tmp_path / "data" / "upper" / "3.png")
    assert verdict.label == "upper"
    assert sum(verdict.scores.values()) == pytest.approx(1)
    assert set(verdict.scores) == {"lower", "upper"}
    with pytest.raises(DataError, match="found none there"):
        classify_image(model, found.looking, tmp_path / "absent.png")


def test_predictions_read_a_file_as_training_did(tmp_path: Path) -> None:
    found = task(tmp_path, ImageData(path=str(squares(tmp_path))))
    model, sample = model_of(found), int(found.parts["test"][0])
    files = sorted((tmp_path / "data").rglob("*.png"))
    verdict = classify_image(model, found.looking, files[sample])
    with torch.no_grad():
        shares = model(found.looking.standard.tensor(found.pictures.images[[sample]]))[0].softmax(0)
    assert list(verdict.scores.values()) == pytest.approx(shares.tolist())


@pytest.mark.parametrize(
    ("data", "model", "named"),
    [
        (ImageData(), SMALL, "names no images"),
        (ImageData(path="absent"), SMALL, "no images at absent"),
        (DIGITS, replace(SMALL, patch=3), "8 × 8 do not divide into patches of 3"),
        (replace(DIGITS, size=(16, 16)), SMALL, "arrays of 8 × 8"),
        (replace(DIGITS, test=0.0), SMALL, "shares"),
        (replace(DIGITS, test=0.6, validation=0.4), SMALL, "shares"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, data: ImageData, model: VisionTransformer, named: str) -> None:
    with pytest.raises((DataError, UsageError)) as caught:
        task(tmp_path, data, model)
    assert named in caught.value.cause()


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch": 0},
        {"size": (0, 4)},
        {"augmentation": Augmentation(shift=1.0)},
        {"augmentation": Augmentation(turn=-1)},
    ],
)
def test_numbers_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ImageData(**wrong)


@pytest.mark.parametrize("wrong", [{"patch": 0}, {"layers": -1}, {"width": 0}, {"hidden": 0}, {"heads": -4}])
def test_sizes_of_nothing(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=f"model.{next(iter(wrong))} must be"):
        VisionTransformer(**wrong)


def test_what_is_published_opens_the_task_in_the_same_units(tmp_path: Path) -> None:
    found = task(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    (run / FACTS).write_bytes(found.published().files[FACTS])
    assert looking_from(run) == found.looking
    assert task(tmp_path, replace(DIGITS, split_seed=5)).looking == found.looking
    with pytest.raises(DataError, match="was trained on 10 classes"):
        task(tmp_path, ImageData(path=str(squares(tmp_path))))
    for damaged in (
        '{"names": ["a"]}',
        "[]",
        "{",
        found.published().files[FACTS].decode().replace('"channels": 1', '"channels": 3'),
    ):
        (run / FACTS).write_text(damaged)
        with pytest.raises(DataError, match="does not say"):
            looking_from(run)


def test_samples_are_drawn(tmp_path: Path) -> None:
    found = task(tmp_path)
    samples = found.samples(model_of(found))
    assert len(samples) == 4
    for sample in samples:
        assert sample.picture is not None
        assert [len(line) for line in sample.picture.splitlines()] == [16] * 8
        assert sample.input.startswith("#"), "a log names it"
        assert sample.truth in found.pictures.names

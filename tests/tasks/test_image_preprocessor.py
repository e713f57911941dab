"""A published vision model reads a picture as transformers' own processor does, and its verdict is transformers'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from clearformer.data.image_files import read_image
from clearformer.errors import CheckpointError, DataError
from clearformer.load import load
from clearformer.model import EncoderOnly
from clearformer.spec import Patches
from clearformer.tasks.image_classifier import classify_image, looking_of
from clearformer.tasks.image_preprocessor import PREPROCESSOR, read_preprocessor

transformers = pytest.importorskip("transformers")

PATCHES = Patches(height=24, width=24, patch=8)
STRETCHED: dict[str, Any] = {"size": {"height": 24, "width": 24}, "image_mean": [0.1, 0.2, 0.3], "image_std": 0.4}
COVERED: dict[str, Any] = {
    "size": {"shortest_edge": 29},
    "crop_size": {"height": 24, "width": 24},
    "do_center_crop": True,
}


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (37, 51, 3), dtype=np.uint8)).save(path)
    return path


def write(folder: Path, **facts: object) -> Path:
    (folder / PREPROCESSOR).write_text(json.dumps(facts))
    return folder


@pytest.mark.parametrize("facts", [STRETCHED, {**STRETCHED, "resample": 3}, {**STRETCHED, "resample": 0}])
def test_a_stretched_picture_equals_the_vit_processors(facts: dict[str, Any], tmp_path: Path, picture: Path) -> None:
    deviation = [facts["image_std"]] * 3
    agree(transformers.ViTImageProcessorPil(**{**facts, "image_std": deviation}), write(tmp_path, **facts), picture)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("edge", [24, 29])
def test_a_covered_picture_equals_the_clip_processors(edge: int, turned: bool, tmp_path: Path, picture: Path) -> None:
    if turned:
        Image.open(picture).rotate(90, expand=True).save(picture)
    processor = transformers.CLIPImageProcessorPil(**{**COVERED, "size": {"shortest_edge": edge}})
    processor.save_pretrained(tmp_path)
    agree(processor, tmp_path, picture)


def agree(processor: Any, folder: Path, picture: Path) -> None:
    expected = processor(Image.open(picture), return_tensors="pt")["pixel_values"]
    fitting, standard = read_preprocessor(folder, PATCHES)
    found = standard.tensor(read_image(picture, fitting, 3)[None])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-6)


def test_a_published_classifier_gives_transformers_verdict_by_its_own_labels(tmp_path: Path, picture: Path) -> None:
    config = transformers.ViTConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=24, patch_size=8,
        id2label={0: "cat", 1: "dog", 2: "owl"}, label2id={"cat": 0, "dog": 1, "owl": 2},
    )  # fmt: skip
    torch.manual_seed(0)
    original = transformers.ViTForImageClassification(config).eval()
    original.save_pretrained(tmp_path)
    processor = transformers.ViTImageProcessorPil(size={"height": 24, "width": 24})
    processor.save_pretrained(tmp_path)
    with torch.no_grad():
        shares = original(processor(Image.open(picture), return_tensors="pt")["pixel_values"]).logits[0].softmax(0)
    loaded = load(tmp_path)
    assert isinstance(loaded.model, EncoderOnly)
    with pytest.raises(DataError, match="expected an image file, found none"):
        classify_image(loaded.model, looking_of(tmp_path, loaded.model.spec), tmp_path / "nowhere.png")
    verdict = classify_image(loaded.model, looking_of(tmp_path, loaded.model.spec), picture)
    assert verdict.label == ("cat", "dog", "owl")[int(shares.argmax())]
    assert list(verdict.scores.values()) == pytest.approx(shares.tolist(), abs=1e-5)
    (tmp_path / PREPROCESSOR).unlink()
    with pytest.raises(DataError, match=r"has no preprocessor_config\.json"):
        looking_of(tmp_path, loaded.model.spec)


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ({"size": {"height": 32, "width": 32}}, "size"),
        ({"do_resize": False}, "do_resize"),
        ({"rescale_factor": 1.0}, "rescale_factor"),
        ({"resample": 9}, "resample"),
        ({"size": {"shortest_edge": 29}}, "do_center_crop"),
        ({**COVERED, "size": {"shortest_edge": 20}}, "crop_size"),
        ({"size": {"height": "24", "width": 24}}, "size"),
        ({"image_mean": [0.5, 0.5]}, "image_mean"),
        ({"image_std": 0.0}, "image_std"),
        ({"image_std": [1.0, float("nan"), 1.0]}, "image_std"),
        ({"do_grayscale": True}, "do_grayscale"),
    ],
)
def test_what_cannot_be_honoured_is_named(facts: dict[str, Any], named: str, tmp_path: Path) -> None:
    folder = write(tmp_path, **({"size": {"height": 24, "width": 24}} | facts))
    with pytest.raises(CheckpointError, match=named):
        read_preprocessor(folder, PATCHES)

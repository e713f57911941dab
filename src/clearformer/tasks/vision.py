"""Vision: a Transformer over the squares of an image says its class (Dosovitskiy et al. 2020, arXiv 2010.11929)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.data.augmentation import Augmentation
from clearformer.data.image_files import Stretch
from clearformer.data.images import (
    ImageBatch,
    ImageBatches,
    Pictures,
    Standard,
    array_pictures,
    folder_pictures,
    stratified,
)
from clearformer.data.made import digits
from clearformer.errors import DataError, UsageError
from clearformer.loss import Loss, cross_entropy
from clearformer.messages import images as data_say
from clearformer.messages import tasks as tasks_say
from clearformer.messages import tasks_vision as say
from clearformer.model import EncoderOnly, Model
from clearformer.spec import EncoderOnly as EncoderSpec
from clearformer.spec import Xavier
from clearformer.spec.presets import vit
from clearformer.tasks.classes import judged
from clearformer.tasks.image_classifier import FACTS, Looking, looking_from
from clearformer.tasks.ranges import require, require_counts
from clearformer.train.recipe import EMA, AdamW, Average, Cosine, LossSettings, Optimizer, Recipe, Schedule
from clearformer.train.task import Metric, Progress, Published, Sample, Split

_SHOWN = 4
_SHADES = " ░▒▓█"
_WIDEST = 32


@dataclass(frozen=True)
class ImageData:
    """Images and their classes. Each class is cut into training, validation and test by the same shares."""

    path: str = ""
    """A folder with one folder of images a class; an .npz file with images and labels; or digits."""
    size: tuple[int, int] | None = None
    """Height and width that images of a folder are scaled to; the first image's if left out."""
    validation: float = 0.1
    """Share of each class kept for validation."""
    test: float = 0.2
    """Share of each class that no choice is made on."""
    split_seed: int = 0
    """Which images are kept; apart from the recipe's seed, so that several runs share one test set."""
    augmentation: Augmentation = field(default_factory=Augmentation)
    batch: int = 64
    """Images a batch."""

    def __post_init__(self) -> None:
        require("data.batch", self.batch, self.batch >= 1, tasks_say.WHOLE_FROM_1)
        require("data.size", self.size, self.size is None or min(self.size) >= 1, say.FROM_1)
        for name in ("shift", "zoom", "untouched"):
            share = getattr(self.augmentation, name)
            require(f"data.augmentation.{name}", share, 0 <= share < 1, tasks_say.SHARE_WITH_ZERO)
        turn = self.augmentation.turn
        require("data.augmentation.turn", turn, 0 <= turn <= 180, say.DEGREES)

    def require_named(self) -> None:
        """Raises DataError where there is no path."""
        if not self.path:
            raise DataError(say.NO_DATA)


@dataclass(frozen=True)
class VisionTransformer:
    """ViT's design (arXiv 2010.11929), small enough to learn from a few thousand images."""

    width: int = 64
    heads: int = 4
    layers: int = 4
    hidden: int = 128
    patch: int = 2
    """Side of a square in pixels."""
    dropout: float = 0.1
    pooled: bool = True
    """Read the mean of all positions and not a class token (arXiv 2205.01580)."""

    def __post_init__(self) -> None:
        require_counts(self, "width", "heads", "hidden", "layers", "patch")


@dataclass(frozen=True, kw_only=True)
class VisionRecipe(Recipe):
    """Train a model that sorts images into classes."""

    data: ImageData = field(default_factory=ImageData)
    model: VisionTransformer = field(default_factory=VisionTransformer)
    optimizer: Optimizer = field(default_factory=lambda: AdamW(lr=4e-3, weight_decay=0.05))
    schedule: Schedule = field(default_factory=lambda: Cosine(warmup=100, floor=0.0))
    loss: LossSettings = field(default_factory=lambda: LossSettings(smoothing=0.1))
    average: Average | None = field(default_factory=lambda: EMA(0.99))


@dataclass(frozen=True)
class VisionTask:
    """The class of an image, by cross-entropy."""

    recipe: VisionRecipe
    pictures: Pictures
    parts: dict[str, np.ndarray]
    looking: Looking
    spec: EncoderSpec
    name: str = "vision"
    unit: Literal["token", "example"] = "example"
    metric: Metric = field(default_factory=lambda: Metric("accuracy", higher_is_better=True))

    @classmethod
    def open(cls, recipe: VisionRecipe, folder: Path) -> VisionTask:
        """Reads every image once; the units are the folder's, if it was trained in before. Raises DataError, UsageError
        and SpecError."""
        data, model = recipe.data, recipe.model
        pictures = _pictures(data, folder)
        trained, watched, tested = stratified(
            pictures.labels, (data.validation, data.test), data.split_seed, pictures.names
        )
        height, width, channels = pictures.images.shape[1:]
        if height % model.patch or width % model.patch:
            raise UsageError(say.SIZE_DOES_NOT_DIVIDE, height=height, width=width, patch=model.patch)
        looking = Looking(pictures.names, Stretch((height, width)), channels, Standard.fitted(pictures.images[trained]))
        if (folder / FACTS).is_file():
            kept = looking_from(folder)
            shapes = [f"{len(each.names)} classes, {each.size} × {each.channels}" for each in (kept, looking)]
            if kept.names != looking.names or shapes[0] != shapes[1]:
                raise DataError(say.OTHER_CLASSES, expected=shapes[0], found=shapes[1])
            looking = kept
        spec = vit(
            size=(height, width),
            channels=channels,
            patch=model.patch,
            classes=len(pictures.names),
            width=model.width,
            heads=model.heads,
            hidden=model.hidden,
            layers=model.layers,
            dropout=model.dropout,
            pooled=model.pooled,
        )
        # Xavier's matrices are drawn for their width: a narrow model learns faster from them than from ViT's own 0.02.
        spec = replace(spec, initial=Xavier())
        parts = {"training": trained, "validation": watched, "test": tested}
        return cls(recipe, pictures, parts, looking, spec)

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names, in the order of the logits."""
        return self.pictures.names

    def training(self) -> ImageBatches:
        data, chosen = self.recipe.data, self.parts["training"]
        return ImageBatches(
            self.pictures, chosen, self.looking.standard, data.augmentation, data.batch, self.recipe.seed
        )

    def sizes(self) -> dict[str, int]:
        return {f"{split} images": len(part) for split, part in self.parts.items()}

    def units(self, batch: ImageBatch) -> int:
        return len(batch.labels)

    def loss(self, model: Model, batch: ImageBatch) -> Loss:
        assert isinstance(model, EncoderOnly)
        settings = self.recipe.loss
        return cross_entropy(model(batch.images), batch.labels, smoothing=settings.smoothing, z=settings.z)

    def evaluate(
        self, model: Model, split: Split = "validation", *, progress: Progress | None = None
    ) -> dict[str, float]:
        """Over every image of the split, none changed: `loss` (nats an image), `accuracy`, `macro_f1`."""
        return judged(*self.predict(model, split, progress=progress))

    @torch.no_grad()
    def predict(
        self, model: Model, split: Split, *, progress: Progress | None = None
    ) -> tuple[Float[Tensor, "n classes"], Int[Tensor, " n"]]:
        """The logits of every image of the split and its labels, on the CPU."""
        assert isinstance(model, EncoderOnly)
        part, logits, done = self.parts[split], [], 0
        for some in torch.from_numpy(part).split(self.recipe.data.batch):
            logits.append(self._logits(model, some.numpy()))
            done += len(some)
            if progress is not None:
                progress(done, len(part))
        return torch.cat(logits), torch.from_numpy(self.pictures.labels[part])

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """A few validation images by their number in the data, drawn in shades, with the class that the model gives."""
        assert isinstance(model, EncoderOnly)
        part, names = self.parts["validation"], self.pictures.names
        chosen = part[np.linspace(0, len(part) - 1, min(_SHOWN, len(part))).astype(int)]
        with torch.no_grad():
            found = self._logits(model, chosen).argmax(1).tolist()
        return tuple(
            Sample(
                f"#{sample}",
                names[label],
                names[int(self.pictures.labels[sample])],
                _drawn(self.pictures.images[sample]),
            )
            for sample, label in zip(chosen, found, strict=True)
        )

    def published(self) -> Published:
        return Published({FACTS: self.looking.json()}, labels=self.classes)

    def _logits(self, model: EncoderOnly, samples: np.ndarray) -> Tensor:
        images = self.looking.standard.tensor(self.pictures.images[samples])
        logits: Tensor = model(images.to(next(model.parameters()).device))
        return logits.float().cpu()


def _pictures(data: ImageData, folder: Path) -> Pictures:
    data.require_named()
    path = Path(data.path)
    if data.path != "digits" and path.is_dir():
        return folder_pictures(path, data.size, folder / "cache")
    if data.path != "digits" and path.suffix != ".npz":
        raise DataError(data_say.NO_IMAGES, path=path)
    pictures = digits() if data.path == "digits" else array_pictures(path)
    found = pictures.images.shape[1:3]
    if data.size is not None and data.size != found:
        shapes = [f"{height} × {width}" for height, width in (found, data.size)]
        raise UsageError(say.SIZE_IS_FIXED, path=data.path, found=shapes[0], expected=shapes[1])
    return pictures


def _drawn(image: np.ndarray) -> str:
    """An image as rows of shades, thinned to a line's width; brighter is darker, as on paper."""
    grey = image.astype(np.float64).mean(-1)
    every = -(-max(grey.shape) // _WIDEST)
    rows = (grey[::every, ::every] / 256 * len(_SHADES)).astype(int)
    return "\n".join("".join(2 * _SHADES[shade] for shade in row) for row in rows)

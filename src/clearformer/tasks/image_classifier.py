"""A trained image classifier at work: from a picture to its class."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from clearformer.data.image_files import Fitting, Stretch, read_image
from clearformer.data.images import Standard
from clearformer.errors import DataError, UsageError
from clearformer.messages import tasks as say_of_tasks
from clearformer.messages import tasks_vision as say
from clearformer.model import EncoderOnly
from clearformer.spec import Classes, Patches
from clearformer.spec import EncoderOnly as EncoderSpec
from clearformer.tasks.image_preprocessor import PREPROCESSOR, read_preprocessor
from clearformer.tasks.labels import names_in

FACTS = "vision.json"


@dataclass(frozen=True)
class Looking:
    """How a trained classifier reads images: the classes' names, how a picture is fitted, channels and units."""

    names: tuple[str, ...]
    fitting: Fitting
    channels: int
    standard: Standard

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) as the model sees it."""
        return self.fitting.size

    def json(self) -> bytes:
        """What `looking_from` reads back as it was."""
        facts = {
            "names": self.names,
            "size": self.size,
            "channels": self.channels,
            "mean": self.standard.mean,
            "deviation": self.standard.deviation,
        }
        return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def looking_of(folder: Path, spec: EncoderSpec) -> Looking:
    """How the classifier in a folder reads pictures: as it was trained to here, or as its publisher says.

    Raises DataError where neither is said, CheckpointError for a preprocessor that cannot be honoured.
    """
    patches, head = spec.encoder.input, spec.head
    if not isinstance(patches, Patches) or not isinstance(head, Classes):
        raise UsageError(say_of_tasks.NO_LABELS, name=folder, found=type(head).__name__)
    if (folder / FACTS).is_file():
        return looking_from(folder)
    if not (folder / PREPROCESSOR).is_file():
        raise DataError(say.NO_PREPROCESSOR, path=folder, name=PREPROCESSOR)
    fitting, standard = read_preprocessor(folder, patches)
    return Looking(names_in(folder, head.count), fitting, patches.channels, standard)


def looking_from(folder: Path) -> Looking:
    """What training left in a run folder beside the weights. Raises DataError for a file that is missing or damaged."""
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        height, width = map(int, facts["size"])
        mean, deviation = tuple(map(float, facts["mean"])), tuple(map(float, facts["deviation"]))
        channels = int(facts["channels"])
        if not (channels == len(mean) == len(deviation)) or channels not in (1, 3) or min(height, width) < 1:
            raise ValueError("channels, mean and deviation do not fit together")
        fitting = Stretch((height, width))
        return Looking(tuple(map(str, facts["names"])), fitting, channels, Standard(mean, deviation))
    except (OSError, ValueError, KeyError, TypeError) as error:
        detail = f"{type(error).__name__} {error}"
        raise DataError(say.BAD_FACTS, path=path, detail=detail) from error


@dataclass(frozen=True)
class Verdict:
    """The likeliest class, its probability, and every class's."""

    label: str
    score: float
    scores: dict[str, float]


@torch.no_grad()
def classify_image(model: EncoderOnly, looking: Looking, path: Path) -> Verdict:
    """The class of an image file. Raises DataError where it cannot be read."""
    pixels = read_image(path, looking.fitting, looking.channels)
    images = looking.standard.tensor(pixels[None]).to(next(model.parameters()))
    shares = model(images)[0].float().softmax(0).tolist()
    named = dict(zip(looking.names, shares, strict=True))
    label = max(named, key=named.__getitem__)
    return Verdict(label, named[label], named)

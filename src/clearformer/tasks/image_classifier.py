"""A trained image classifier at work: from a picture to its class."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from clearformer.data.image_files import read_image
from clearformer.data.images import Standard
from clearformer.errors import DataError
from clearformer.messages import tasks_vision as say
from clearformer.model import EncoderOnly

FACTS = "vision.json"


@dataclass(frozen=True)
class Looking:
    """How a trained classifier reads images: the classes' names, (height, width), channels and units."""

    names: tuple[str, ...]
    size: tuple[int, int]
    channels: int
    standard: Standard

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


def looking_from(folder: Path) -> Looking:
    """What stands in a run folder beside the weights. Raises DataError for a file that is missing or damaged."""
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        height, width = map(int, facts["size"])
        mean, deviation = tuple(map(float, facts["mean"])), tuple(map(float, facts["deviation"]))
        channels = int(facts["channels"])
        if not (channels == len(mean) == len(deviation)) or channels not in (1, 3) or min(height, width) < 1:
            raise ValueError("channels, mean and deviation do not fit together")
        return Looking(tuple(map(str, facts["names"])), (height, width), channels, Standard(mean, deviation))
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
    pixels = read_image(path, looking.size, looking.channels)
    images = looking.standard.tensor(pixels[None]).to(next(model.parameters()))
    shares = model(images)[0].float().softmax(0).tolist()
    named = dict(zip(looking.names, shares, strict=True))
    label = max(named, key=named.__getitem__)
    return Verdict(label, named[label], named)

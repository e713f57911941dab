"""A run folder: what one training leaves behind, and what it needs to go on.

recipe.yaml      every choice, resolved             metrics.jsonl, plots/    how it went
config.json, model.safetensors, …, manifest.json    the published model, as transformers reads it
state/           what training resumes from         lock                     which process works here
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from clearformer.checkpoint.atomic import TEMPORARY, write_bytes
from clearformer.checkpoint.folder import RECIPE
from clearformer.checkpoint.reading import read_bounded
from clearformer.errors import RunError
from clearformer.families import GenerationDefaults
from clearformer.messages import runs as say
from clearformer.runs.lock import locked
from clearformer.runs.publish import MAX_RECIPE, publish
from clearformer.spec import Spec

RUNS = Path("runs")


def next_free(name: str) -> Path:
    """runs/NAME-1, or the first number that is free."""
    number = 1
    while (path := RUNS / f"{name}-{number}").exists():
        number += 1
    return path


@dataclass(frozen=True)
class RunFolder:
    """A folder with a recipe in it."""

    path: Path

    @classmethod
    def create(cls, path: Path, recipe: str, *, exists_ok: bool = False) -> RunFolder:
        """A new run with this recipe (YAML). With `exists_ok` the folder may hold other files, and a run that is
        already there is opened, its recipe left as it is. Raises RunError, and CheckpointError on a full disk."""
        if (path / RECIPE).exists():
            if exists_ok:
                return cls.open(path)
            raise RunError(say.EXISTS, path=path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not exists_ok and any(path.iterdir()):
                raise RunError(say.EXISTS, path=path)
        except OSError as error:
            raise RunError(say.CANNOT_CREATE, path=path, detail=error.strerror) from error
        write_bytes(path / RECIPE, recipe.encode("utf-8"))
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run at `path`. Raises RunError where there is none."""
        if not (path / RECIPE).is_file():
            raise RunError(say.NO_RUN, path=path)
        return cls(path)

    @property
    def recipe_path(self) -> Path:
        return self.path / RECIPE

    @property
    def metrics_path(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def plots_path(self) -> Path:
        return self.path / "plots"

    @property
    def state_path(self) -> Path:
        return self.path / "state"

    def recipe_text(self) -> str:
        """The recipe as it was written. Raises RunError where it is not text, CheckpointError where it is not there."""
        try:
            return read_bounded(self.recipe_path, MAX_RECIPE).decode("utf-8")
        except UnicodeDecodeError as error:
            raise RunError(say.NOT_TEXT, path=self.recipe_path, at=error.start) from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Work here alone. What a process that died left half-written is swept. Raises RunError naming the process that
        works here."""
        with locked(self.path / "lock"):
            for place in (self.path, self.state_path):
                for left in place.glob(f"{TEMPORARY}*"):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            yield

    def empty(self) -> None:
        """Take everything out, the recipe first: whatever cannot go is no run then. The folder itself stays where it
        cannot be removed, as the one that this process stands in."""
        self.recipe_path.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def publish(
        self,
        spec: Spec,
        weights: Mapping[str, Tensor],
        files: Mapping[str, bytes],
        generation: GenerationDefaults | None = None,
        labels: Sequence[str] = (),
    ) -> None:
        """Make the model loadable from here; see `publish.publish`."""
        publish(self.path, spec, weights, files, generation, labels)

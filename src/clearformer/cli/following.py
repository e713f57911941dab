"""A training run's events, told to a tracker and held against the losses that its recipe should give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clearformer.runs.folder import RunFolder
from clearformer.train.band import compared, read_band, write_band
from clearformer.train.events import Event
from clearformer.train.recipe import Recipe
from clearformer.train.recipe_file import differences, read_recipe
from clearformer.train.trackers import make_tracker, tracked

BAND = "band.json"


def followed(
    events: Iterator[Event], recipe: Recipe, run: RunFolder, *, config: Path | None, tracker: str | None
) -> Iterator[Event]:
    """The events; `config` is the recipe file that a new run was started with. Its band is kept in the run, so that a
    resumed one is held against it too. Raises UsageError for a tracker or a band that cannot be used."""
    if tracker is not None:
        events = tracked(events, make_tracker(tracker, run.path / "tracker"))
    kept = run.path / BAND
    if config is not None and (band := _band_of(config, recipe)) is not None:
        write_band(read_band(band), kept)
    return compared(events, read_band(kept)) if kept.is_file() else events


def _band_of(config: Path, recipe: Recipe) -> Path | None:
    """The band beside a recipe file, if this run follows the file: another recipe has other losses."""
    band = config.parent / "bands" / f"{config.stem}.json"
    if not band.is_file():
        return None
    changed = differences(read_recipe(type(recipe), config), recipe)
    own = any(field != "seed" and not field.startswith("compute.") for field, _, _ in changed)
    return None if own else band

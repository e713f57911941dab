"""The stations of the tour that train: a toy with one right answer, a text, and waves; each from nothing, in seconds.

Each leaves a run folder as `clearformer train` does. Nothing is measured first, so that every machine shows the same.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.cli.journey import Journey
from clearformer.cli.screen import visible
from clearformer.messages import tour as say

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

    from clearformer.load import Loaded
    from clearformer.tasks.forecasting import ForecastingRecipe
    from clearformer.tasks.language import LanguageRecipe
    from clearformer.train.recipe import Compute, Recipe, Watch
    from clearformer.train.task import Task

PROMPT = "The expression"
_WRITTEN = 48
RIGHT, BETTER = 0.95, 1000
"""What the first must get right, and by how much the last must beat the repetition of the last value."""
_DRAWN = 3


def counting() -> LanguageRecipe:
    """recipes/language-cyclic.yaml."""
    from clearformer.tasks.corpus import TextData
    from clearformer.tasks.language import LanguageRecipe
    from clearformer.tasks.models import Gpt
    from clearformer.train.recipe import AdamW, Cosine

    return LanguageRecipe(
        steps=300,
        optimizer=AdamW(lr=3e-3, weight_decay=0.0),
        schedule=Cosine(warmup=20, floor=0.1),
        data=TextData(path="cyclic", context=32, batch=32),
        model=Gpt(width=64, heads=4, layers=2),
        watch=_watch(100),
        compute=_plainly(),
    )


def prose() -> LanguageRecipe:
    """recipes/language-pydoc.yaml, for longer."""
    from clearformer.tasks.corpus import TextData
    from clearformer.tasks.language import LanguageRecipe
    from clearformer.tasks.models import Modern
    from clearformer.tasks.tokenizing import BytePair
    from clearformer.train.recipe import WSD, AdamW, Muon

    return LanguageRecipe(
        steps=600,
        optimizer=Muon(lr=0.02, adamw=AdamW(lr=3e-3, weight_decay=0.0)),
        schedule=WSD(warmup=20, decay=0.5, floor=0.02),
        data=TextData(path="pydoc", context=64, batch=24),
        tokenizer=BytePair(1024),
        model=Modern(width=128, heads=4, kv_heads=2, layers=3),
        watch=_watch(150),
        compute=_plainly(),
    )


def waves() -> ForecastingRecipe:
    """recipes/forecasting-sine.yaml with a smaller model: that waves keep their level, it need not be told."""
    from clearformer.tasks.forecasting import ForecastingRecipe, PatchForecaster
    from clearformer.tasks.series_data import SeriesData
    from clearformer.train.recipe import AdamW, Cosine

    return ForecastingRecipe(
        steps=600,
        optimizer=AdamW(lr=5e-3, weight_decay=0.0),
        schedule=Cosine(warmup=50, floor=0.0),
        data=SeriesData(path="sine", batch=16),
        model=PatchForecaster(width=32, heads=4, layers=1, hidden=64, normalise=False),
        watch=_watch(300),
        compute=_plainly(),
    )


def _watch(every: int) -> Watch:
    from clearformer.train.recipe import Watch

    return Watch(evaluate=every, save=every, sample=every)


def _plainly() -> Compute:
    from clearformer.train.recipe import Compute

    return Compute(compile="no", kernel="sdpa", switch="no")


def count(journey: Journey, path: Path) -> None:
    """More than RIGHT of the next digits must be right."""
    recipe = counting()
    _, told, curve = _trained(journey, recipe, path)
    for step, figures in curve:
        journey.say(say.COUNTED, step=step, loss=figures["loss"], share=figures["accuracy"])
    told["accuracy"] = _kept(curve)["accuracy"]
    held = told["accuracy"] > RIGHT
    _judge(journey, "counting", held, say.COUNTED_RIGHT if held else say.COUNTED_WRONG, told, least=RIGHT)


def write_prose(journey: Journey, path: Path) -> None:
    """The same prompt before and after."""
    from clearformer.load import load

    recipe = prose()
    task, told, curve = _trained(journey, recipe, path)
    for step, figures in curve:
        journey.say(say.READ_PROSE, step=step, **figures)
    before, after = _continued(_untrained(recipe, task, path)), _continued(load(path))
    journey.say(say.BEFORE, text=visible(PROMPT + before))
    journey.say(say.AFTER)
    journey.show(lambda: journey.screen.text(PROMPT + after.rstrip()))
    journey.say(say.TAKEN, **told)
    told |= {name: _kept(curve)[name] for name in ("loss", "bits_per_byte")}
    journey.told["training"]["prose"] = {**told, "prompt": PROMPT, "before": before, "after": after}


def continue_waves(journey: Journey, path: Path) -> None:
    """Persistence's error on the test rows must be more than BETTER times as large."""
    from clearformer.tasks.evaluation import evaluate_run, open_run

    recipe = waves()
    _, told, curve = _trained(journey, recipe, path)
    for step, figures in curve:
        journey.say(say.FORECAST, step=step, mse=figures["mse"])
    opened = open_run(path)
    figures = evaluate_run(opened, "test").metrics
    told |= {"mse": figures["mse"], "persistence_mse": figures["persistence_mse"]}
    told["picture"] = str(_drawn(journey, opened.loaded, path / "forecast.png"))
    held = told["persistence_mse"] > BETTER * told["mse"]
    ratio = told["persistence_mse"] / told["mse"]
    _judge(journey, "waves", held, say.WAVES_MET if held else say.WAVES_MISSED, told, ratio=ratio, least=BETTER)
    journey.say(say.PICTURE, path=told["picture"])


def _trained(journey: Journey, recipe: Recipe, path: Path) -> tuple[Task[Any], dict[str, Any], list[tuple[int, Any]]]:
    """The recipe's run, what there is to tell of it, and its evaluations."""
    from clearformer.runs.folder import RunFolder
    from clearformer.tasks.registry import open_task
    from clearformer.train.events import Evaluated, Stepped, Stopped
    from clearformer.train.loop import Trainer
    from clearformer.train.recipe_file import write_recipe

    run, begun, curve = RunFolder.create(path, write_recipe(recipe)), time.monotonic(), []
    reason = "done"
    with run.lock(), journey.screen.progress(say.TRAINING) as advance:
        task = open_task(recipe, path)
        for event in Trainer(task, recipe, run).run():
            match event:
                case Stepped():
                    advance(event.step, event.steps)
                case Evaluated():
                    curve.append((event.step, event.metrics))
                case Stopped():
                    reason = event.reason
    if reason in ("SIGINT", "SIGTERM", "SIGUSR1"):
        # The loop heard it and saved; now that it listens no more, the signal ends the tour as it ends any verb.
        signal.raise_signal(getattr(signal, reason))
    return task, {"run": str(path), "steps": recipe.steps, "seconds": time.monotonic() - begun}, curve


def _kept(curve: list[tuple[int, Any]]) -> Any:
    """The figures of the weights that the run published: those of its lowest loss."""
    return min((figures for _, figures in curve), key=lambda figures: figures["loss"])


def _judge(journey: Journey, part: str, held: bool, verdict: say.Message, told: dict[str, Any], **more: Any) -> None:
    journey.say(verdict, **told, **more)
    journey.say(say.TAKEN, **told)
    journey.told["training"][part] = told
    if not held:
        journey.failed.append(part)


def _untrained(recipe: LanguageRecipe, task: Task[Any], path: Path) -> Loaded:
    """The model as the run began: the seed alone decides its weights."""
    import torch

    from clearformer.build import build
    from clearformer.families.generation import GenerationDefaults
    from clearformer.load import Loaded
    from clearformer.text.load import tokenizer_from_folder

    model = build(task.spec, generator=torch.Generator().manual_seed(recipe.seed)).eval()
    return Loaded("prose", model, task.spec, tokenizer_from_folder(path), GenerationDefaults(), template=None)


def _continued(speaker: Loaded) -> str:
    from clearformer.generate.speak import complete

    return complete(speaker, PROMPT, max_new_tokens=_WRITTEN, temperature=0.7, seed=0).text


def _drawn(journey: Journey, speaker: Loaded, path: Path) -> Path:
    """The first waves' end, forecast from what came before: as a line of bars, and as a picture."""
    from clearformer.data.made import sine
    from clearformer.model import EncoderOnly
    from clearformer.tasks.forecast_picture import draw_forecast
    from clearformer.tasks.forecaster import Forecast, forecast
    from clearformer.tasks.series_data import reading_from

    assert isinstance(speaker.model, EncoderOnly)
    assert speaker.path is not None
    reading, table = reading_from(speaker.path), sine()
    history, truth = table.but_last(reading.horizon), table.last(reading.horizon)
    whole = forecast(speaker.model, reading, history)
    found = Forecast(whole.columns[:_DRAWN], whole.values[:, :_DRAWN])
    past = history.values[-reading.horizon :, 0]
    for message, line in ((say.TRUE_WAVE, truth.values[:, 0]), (say.FORECAST_WAVE, found.values[:, 0])):
        journey.say(message, past=_bars(past), line=_bars(line))
    return draw_forecast(path, history, found, truth, language=journey.screen.language)


def _bars(values: Float[np.ndarray, " steps"]) -> str:
    from clearformer.tasks.sparkline import sparkline

    return sparkline(values, -1.0, 1.0)

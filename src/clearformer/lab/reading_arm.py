"""An arm that trains nothing: a published model reads sentences, one for each seed, and is looked into."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from clearformer.errors import UsageError
from clearformer.lab.described import described
from clearformer.lab.experiment import Outcome, Trial
from clearformer.load import Loaded, load
from clearformer.machine import use_threads
from clearformer.messages import Message
from clearformer.messages import lab_looking as say
from clearformer.messages import lab_machine as say_of_lab

Sentences = Sequence[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class ReadingArm:
    """`look` is given the model and the sentences of the trial's seed; there is one item of `sentences` a seed."""

    name: str
    label: Message
    model: str
    sentences: Sentences
    look: Callable[[Loaded, tuple[str, ...]], Outcome]

    def described(self) -> str:
        return f"{self.model} {self.sentences} {described(self.look)}"

    def facts(self, data: Path) -> Mapping[str, int]:
        """None: nothing is promised of a model that is the same for all."""
        return {}

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        begun = time.perf_counter()
        self.measure(replace(trial, seed=0))
        return time.perf_counter() - begun

    def measure(self, trial: Trial) -> Outcome:
        """Raises UsageError for more seeds than sentences, else what `load` does."""
        if trial.seed >= len(self.sentences):
            raise UsageError(say_of_lab.BAD_SEEDS, most=len(self.sentences), found=trial.seed + 1)
        use_threads(trial.threads)
        outcome = self.look(_loaded(self.model), self.sentences[trial.seed])
        trial.tell(1)
        return outcome


@cache
def _loaded(model: str) -> Loaded:
    return load(model)


def place_of(loaded: Loaded, ids: Sequence[int], word: str) -> int:
    """The one position of a word that is one token. Raises UsageError where it is none, or stands there twice."""
    assert loaded.tokenizer is not None
    places = [at for at, each in enumerate(ids) if loaded.tokenizer.decode([each]).strip() == word]
    if len(places) != 1:
        raise UsageError(say.NOT_ONE_TOKEN, word=word, name=loaded.name, count=len(places))
    return places[0]

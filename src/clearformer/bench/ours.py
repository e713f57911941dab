"""Clearformer as its users run it: `generate` on a static cache, projections packed where the processor gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clearformer.bench.contestant import Stopwatch, Written
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import Loaded
from clearformer.speed.pack import is_packed, packed


class Clearformer:
    """No token ends the text and none is turned into text: the peer is asked for ids alone, too."""

    name = "clearformer"

    def __init__(self, speaker: Loaded) -> None:
        endless = replace(speaker.generation, end_ids=())
        self._speaker = replace(speaker, model=packed(speaker.model), tokenizer=None, template=None, generation=endless)

    @property
    def backend(self) -> str:
        """As `generate` names it."""
        return "torch-packed" if is_packed(self._speaker.model) else "torch"

    def write(self, prompt: Sequence[int], new: int) -> Written:
        watch = Stopwatch()
        options = Options(max_new_tokens=new, temperature=0.0, repetition_penalty=1.0)
        generation = Generation(self._speaker, [list(prompt)], options)
        for _ in generation.steps():
            watch.mark()
        return Written(tuple(generation.results()[0].token_ids), watch)

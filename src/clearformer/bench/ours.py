"""Clearformer as its users run it: what `generate` does, on the model as its backend holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from clearformer.bench.contestant import Stopwatch, Written
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation
from clearformer.load import Loaded
from clearformer.machine import threads_of_torch
from clearformer.speed.backend import backend_of
from clearformer.speed.native import NativeDecoder


class Clearformer:
    """No token ends the text and none is turned into text: the peer is asked for ids alone, too."""

    name = "clearformer"

    def __init__(self, speaker: Loaded) -> None:
        endless = replace(speaker.generation, end_ids=())
        self._speaker = replace(speaker, tokenizer=None, template=None, generation=endless)

    @property
    def backend(self) -> str:
        """As `generate` names it."""
        return backend_of(self._speaker.model)

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        watch = Stopwatch()
        options = Options(max_new_tokens=new, temperature=0.0, repetition_penalty=1.0)
        generation = Generation(self._speaker, [list(prompt) for prompt in prompts], options)
        # Idle threads of torch's spin on the cores that the kernels use.
        with threads_of_torch(1 if isinstance(self._speaker.model, NativeDecoder) else torch.get_num_threads()):
            for _ in generation.steps():
                watch.mark()
        return Written(tuple(tuple(result.token_ids) for result in generation.results()), watch)

"""Turns of a chat. The cache is kept from turn to turn as long as the new conversation begins with what it holds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import torch

from clearformer.generate.native_reader import NativeReader
from clearformer.generate.reader import CachedReader, device_of, reads_prefix
from clearformer.generate.settings import Options
from clearformer.generate.speak import Generation, Result
from clearformer.generate.speaker import Speaker, chat_ids, speaking_model
from clearformer.speed.native import NativeDecoder

_LEAST_CAPACITY = 1024


class Conversation:
    """Messages as chat templates know them, one `Result` an answer, and the cache that grew with them.

    Rotary tables chosen by length are chosen by the cache's capacity, one table for all turns that share it. Raises
    UsageError for a model that has no chat template, TemplateError for a template that fails.
    """

    def __init__(self, speaker: Speaker, *, system: str | None = None, options: Options | None = None) -> None:
        self._speaker, self._options = speaker, options or Options()
        self._model = speaking_model(speaker)
        self._opening = [] if system is None else [{"role": "system", "content": system}]
        self.reset()
        # Fail before the first question is typed.
        chat_ids(speaker, [*self.messages, {"role": "user", "content": "1"}])

    def reset(self) -> None:
        """Forget all but the system message."""
        self.messages: list[dict[str, str]] = list(self._opening)
        self.results: list[Result] = []
        self._reader: CachedReader | NativeReader | None = None
        self._held: list[int] = []

    def answer(self, text: str) -> Generator[str, None, None]:
        """The answer piece by piece. Broken off, by an exception or by closing the iterator, what came is kept."""
        asked = {"role": "user", "content": text}
        prompt = chat_ids(self._speaker, [*self.messages, asked])
        generation = self._generation(prompt)
        try:
            for step in generation.steps():
                yield from (token.piece for token in step if token.piece)
        finally:
            (result,) = generation.results()
            if self._reader is not None:
                self._held = (prompt + result.token_ids)[: self._reader.length]
            if result.token_ids:
                self.messages += [asked, {"role": "assistant", "content": result.text}]
                self.results.append(result)

    def _generation(self, prompt: list[int]) -> Generation:
        options = self._options
        if options.seed is not None:
            # Each turn draws other numbers, and the whole chat can be had again.
            options = replace(options, seed=options.seed + len(self.results))
        context = self._model.spec.context
        needed = min(context, len(prompt) + options.length(self._speaker.generation))
        # Beams leave the cache with the row of another beginning than the one that was written.
        apart = not options.use_cache or options.num_beams > 1 or reads_prefix(self._model)
        if apart or len(prompt) >= context:
            return Generation(self._speaker, [prompt], options)
        goes_on = len(self._held) < len(prompt) and prompt[: len(self._held)] == self._held
        if self._reader is None or not goes_on or needed > self._reader.capacity:
            capacity = min(context, max(2 * needed, _LEAST_CAPACITY))
            bound = torch.tensor([capacity], device=device_of(self._model))
            chunk = options.prefill_chunk
            if isinstance(self._model, NativeDecoder):
                self._reader = NativeReader(self._model, capacity=capacity, length_bound=bound, chunk=chunk)
            else:
                self._reader = CachedReader(self._model, capacity=capacity, length_bound=bound, chunk=chunk)
            self._held = []
        return Generation(self._speaker, [prompt], options, self._reader)

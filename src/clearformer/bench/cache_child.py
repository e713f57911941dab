"""One model writing after one prompt, with the cache, without, or as transformers does: run by `bench cache`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from clearformer.bench.children import Told, serve
from clearformer.bench.contestant import Contestant, Stopwatch, Written
from clearformer.bench.hugging_face import HuggingFace
from clearformer.bench.jobs import prompt_of
from clearformer.bench.ours import Clearformer
from clearformer.generate.speaker import speaking_model, tokenizer_of
from clearformer.load import Loaded, load
from clearformer.model import DecoderOnly
from clearformer.speed.pack import packed
from clearformer.store import resolve


class WithoutCache:
    """The same model and products, but the whole text is read again for every token."""

    name = "no cache"

    def __init__(self, loaded: Loaded) -> None:
        model = packed(speaking_model(loaded))
        assert isinstance(model, DecoderOnly)
        self._model = model

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        (prompt,) = prompts
        watch, text = Stopwatch(), list(prompt)
        with torch.inference_mode():
            for _ in range(new):
                hidden = self._model.hidden(torch.tensor([text]))
                text.append(int(self._model.logits(hidden[:, -1:]).argmax()))
                watch.mark()
        return Written((tuple(text[len(prompt) :]),), watch)


def prepare(told: Told) -> Writer:
    torch.set_num_threads(told["threads"])
    return Writer(told)


class Writer:
    """A model with its prompt."""

    def __init__(self, told: Told) -> None:
        located, dtype = resolve(told["model"]), getattr(torch, told["dtype"])
        loaded = load(Path(located.path), dtype=dtype)
        self._prompt, self._new = prompt_of(tokenizer_of(loaded), told["length"]), told["new"]
        self._writes: Contestant
        match told["way"]:
            case "cache":
                self._writes = Clearformer(loaded)
            case "no cache":
                self._writes = WithoutCache(loaded)
            case _:
                del loaded
                self._writes = HuggingFace(located, dtype)
        self._writes.write([self._prompt[:8]], 2)

    def __call__(self) -> Told:
        written = self._writes.write([self._prompt], self._new)
        each = written.decode_seconds / (self._new - 1)
        return {"first": written.prefill_seconds, "each": each, "tokens": list(written.tokens[0])}


if __name__ == "__main__":
    serve(prepare)

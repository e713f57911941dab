"""One model writing after one prompt, with the cache, without, or as transformers does: run by `bench cache`."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from clearformer.bench.children import Told, serve
from clearformer.bench.contestant import Contestant, Stopwatch, Written
from clearformer.bench.hugging_face import HuggingFace
from clearformer.bench.jobs import prompt_of
from clearformer.bench.ours import Clearformer
from clearformer.generate.speaker import speaking_model
from clearformer.load import Loaded, loaded, look, weights_of, with_model
from clearformer.model import DecoderOnly
from clearformer.native.structures import BLOCKS
from clearformer.spec import DecoderOnly as DecoderOnlySpec
from clearformer.speed.native import NativeDecoder, as_format
from clearformer.speed.pack import packed
from clearformer.store import resolve


class WithoutCache:
    """The same model by PyTorch, but the whole text is read again for every token."""

    name = "no cache"

    def __init__(self, speaker: Loaded) -> None:
        model = packed(speaking_model(speaker))
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
        located = resolve(told["model"])
        found, dtype = look(located), torch.float32 if told["dtype"] == "float32" else torch.bfloat16
        assert found.tokenizer is not None
        self._prompt, self._new = prompt_of(found.tokenizer, told["length"]), told["new"]
        self._writes: Contestant
        match told["way"]:
            case "cache" if told["backend"] == "native":
                assert isinstance(found.spec, DecoderOnlySpec)
                held, type_ = weights_of(found, blocks=BLOCKS), as_format(told["dtype"])
                decoder = NativeDecoder(found.spec, held, type_, threads=told["threads"])
                self._writes = Clearformer(with_model(found, decoder))
            case "cache":
                self._writes = Clearformer(loaded(found, torch.device("cpu"), dtype))
            case "no cache":
                self._writes = WithoutCache(loaded(found, torch.device("cpu"), dtype))
            case _:
                self._writes = HuggingFace(located, dtype)
        self._writes.write([self._prompt[:8]], 2)

    def __call__(self) -> Told:
        written = self._writes.write([self._prompt], self._new)
        each = written.decode_seconds / (self._new - 1)
        return {"first": written.prefill_seconds, "each": each, "tokens": list(written.tokens[0])}


if __name__ == "__main__":
    serve(prepare)

"""llama.cpp as its users run it: a GGUF file, its own defaults, every row a sequence of one batch.

Run by the Python of the environment that holds llama-cpp-python; of ours it imports `children`, which needs neither
torch nor NumPy of ours.
"""

from __future__ import annotations

import ctypes
import os
from importlib import metadata
from typing import Any

from clearformer.bench.children import Told, serve
from clearformer.bench.contestant import Stopwatch

_BATCH = 512


class Model:
    """A file with room for `rows` texts of `capacity` tokens each."""

    def __init__(self, file: str, *, rows: int, capacity: int, threads: int) -> None:
        import llama_cpp as c

        self._c = c
        self._silence = c.llama_log_callback(lambda level, text, data: None)
        c.llama_log_set(self._silence, ctypes.c_void_p(0))
        c.llama_backend_init()
        self._model = c.llama_model_load_from_file(file.encode(), c.llama_model_default_params())
        if not self._model:
            raise SystemExit(f"llama.cpp cannot load {file}")
        wanted = c.llama_context_default_params()
        wanted.n_ctx, wanted.n_seq_max = rows * capacity, rows
        wanted.n_batch = wanted.n_ubatch = _BATCH
        wanted.n_threads = wanted.n_threads_batch = threads
        self._context = c.llama_init_from_model(self._model, wanted)
        if not self._context:
            raise SystemExit(f"llama.cpp makes no context for {rows} × {capacity} tokens")
        self.vocabulary = c.llama_vocab_n_tokens(c.llama_model_get_vocab(self._model))
        self._room = max(_BATCH, rows)
        self._batch = c.llama_batch_init(self._room, 0, 1)

    def forget(self) -> None:
        self._c.llama_memory_clear(self._c.llama_get_memory(self._context), False)

    def read(self, tokens: list[tuple[int, int, int, bool]]) -> None:
        """Token, position and row of each, and whether its logits are wanted; at most `_BATCH` of them."""
        batch = self._batch
        batch.n_tokens = len(tokens)
        for at, (token, position, row, wanted) in enumerate(tokens):
            batch.token[at], batch.pos[at], batch.logits[at] = token, position, wanted
            batch.n_seq_id[at], batch.seq_id[at][0] = 1, row
        if code := self._c.llama_decode(self._context, batch):
            raise SystemExit(f"llama_decode returned {code}")

    def logits(self, at: int) -> Any:
        """Those of token `at` of the last batch."""
        import numpy as np

        return np.ctypeslib.as_array(self._c.llama_get_logits_ith(self._context, at), shape=(self.vocabulary,))

    def likeliest(self, at: int) -> int:
        return int(self.logits(at).argmax())

    def prompt(self, ids: list[int], row: int) -> int:
        """Read a prompt into a row; the likeliest token after it."""
        last = len(ids) - 1
        for start in range(0, len(ids), _BATCH):
            part = ids[start : start + _BATCH]
            self.read([(token, start + at, row, start + at == last) for at, token in enumerate(part)])
        return self.likeliest(last % _BATCH)

    def tokens_of(self, text: str) -> list[int]:
        """As the file's own tokenizer has it."""
        said = text.encode()
        room = (ctypes.c_int32 * (len(said) + 8))()
        vocabulary = self._c.llama_model_get_vocab(self._model)
        return list(room[: self._c.llama_tokenize(vocabulary, said, len(said), room, len(room), True, False)])

    def piece(self, token: int) -> bytes:
        room = ctypes.create_string_buffer(256)
        vocabulary = self._c.llama_model_get_vocab(self._model)
        return room.raw[: max(0, self._c.llama_token_to_piece(vocabulary, token, room, 256, 0, False))]


class Writer:
    """Continues prompts; `about` names the version."""

    def __init__(self, told: Told) -> None:
        self._model = Model(told["file"], rows=told["rows"], capacity=told["capacity"], threads=told["threads"])
        self.about = {"version": metadata.version("llama-cpp-python")}

    def __call__(self, prompts: list[list[int]], new: int) -> Told:
        model, rows = self._model, range(len(prompts))
        model.forget()
        watch = Stopwatch()
        texts = [[model.prompt(prompt, row)] for row, prompt in enumerate(prompts)]
        watch.mark()
        for step in range(new - 1):
            model.read([(texts[row][-1], len(prompts[row]) + step, row, True) for row in rows])
            for row in rows:
                texts[row].append(model.likeliest(row))
            watch.mark()
        return {"tokens": texts, "started": watch.started, "marks": watch.marks}


class Scorer:
    """Writes the logits of every position of a window into a file, float32, window × vocabulary."""

    def __init__(self, told: Told) -> None:
        self._model = Model(told["file"], rows=1, capacity=_BATCH, threads=told["threads"])

    def __call__(self, ids: list[int], out: str) -> Told:
        import numpy as np

        self._model.forget()
        self._model.read([(token, at, 0, True) for at, token in enumerate(ids)])
        np.stack([self._model.logits(at) for at in range(len(ids))]).tofile(out)
        return {"vocabulary": self._model.vocabulary}


def say_one(told: Told) -> None:
    """Load a file and say the one token after a text, as a process that is started for it."""
    model = Model(told["file"], rows=1, capacity=_BATCH, threads=told["threads"])
    os.write(1, model.piece(model.prompt(model.tokens_of(told["prompt"]), 0)) + b"\n")


def prepare(told: Told) -> Any:
    match told["task"]:
        case "write":
            return Writer(told)
        case _:
            return Scorer(told)


if __name__ == "__main__":
    serve(prepare)

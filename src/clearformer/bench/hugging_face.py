"""Hugging Face transformers as its users run it: `generate`, greedy, with its default dynamic cache."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import torch

from clearformer.bench.contestant import Stopwatch, Written
from clearformer.errors import MachineError
from clearformer.messages import bench as messages
from clearformer.store import Located
from clearformer.verify.transformers_model import silent


class Streamer:
    """transformers hands it the prompt first, then each token as it is chosen."""

    def __init__(self, watch: Stopwatch) -> None:
        self._watch, self._prompt_seen = watch, False

    def put(self, value: torch.Tensor) -> None:
        if self._prompt_seen:
            self._watch.mark()
        self._prompt_seen = True

    def end(self) -> None:
        """Nothing is held back."""


class HuggingFace:
    """The same weights, read by transformers. Raises MachineError where it is missing or cannot read them."""

    name = "transformers"

    def __init__(self, located: Located, dtype: torch.dtype) -> None:
        require_transformers()
        from transformers import AutoModelForCausalLM

        gguf = located.kind == "gguf"
        folder = located.path.parent if gguf else located.path
        extra = {"gguf_file": located.path.name} if gguf else {}
        with silent():
            try:
                model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True, **extra)
            except (ValueError, OSError, KeyError) as error:
                detail = str(error).strip().partition("\n")[0]
                version = metadata.version("transformers")
                raise MachineError(
                    messages.PEER_CANNOT_LOAD, version=version, path=located.path, detail=detail
                ) from error
        self._model = model.eval()

    def write(self, prompts: Sequence[Sequence[int]], new: int) -> Written:
        ids = torch.tensor([list(prompt) for prompt in prompts])
        # Greedy, whatever the model's makers prefer, and exactly as long as ours.
        choices = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None, "repetition_penalty": 1.0}
        watch = Stopwatch()
        with torch.inference_mode(), silent():
            written = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                min_new_tokens=new,
                max_new_tokens=new,
                streamer=Streamer(watch),
                **choices,
            )
        return Written(tuple(map(tuple, written[:, ids.shape[1] :].tolist())), watch)


def require_transformers() -> None:
    """Raises MachineError where transformers is not installed."""
    if find_spec("transformers") is None:
        raise MachineError(messages.NO_TRANSFORMERS)

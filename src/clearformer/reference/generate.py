"""Generation, one token at a time: read the prompt once, then feed each chosen token back."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from jaxtyping import Bool, Int

from clearformer.errors import GenerationError
from clearformer.messages import reference as messages
from clearformer.reference import checks
from clearformer.reference.model import encode
from clearformer.reference.reader import Reader
from clearformer.reference.sampling import Sampling, choose_token
from clearformer.spec import DecoderOnly, EncoderDecoder

Table = Mapping[str, np.ndarray]


def generate(
    spec: DecoderOnly,
    weights: Table,
    prompt: Int[np.ndarray, "B T"],
    new_tokens: int,
    *,
    real: Bool[np.ndarray, "B T"] | None = None,
    sampling: Sampling | None = None,
    rng: np.random.Generator | None = None,
    stop: Collection[int] = (),
    cached: bool = True,
) -> list[list[int]]:
    """Each row's continuation of its prompt: up to `new_tokens` tokens, a stop token the last of them.

    Prompts of unequal length are padded on either side and marked by `real`. `sampling` None is greedy; `rng` draws
    where the temperature is above 0.
    """
    real = _prompt(prompt, real, new_tokens)
    bound = real.sum(axis=1) + new_tokens
    reader = Reader(spec, weights, capacity=prompt.shape[1] + new_tokens, length_bound=bound, cached=cached)
    return _continue(reader, prompt, real, new_tokens, sampling, rng, stop)


def translate(
    spec: EncoderDecoder,
    weights: Table,
    source: np.ndarray,
    start: Int[np.ndarray, "B T"],
    new_tokens: int,
    *,
    source_real: Bool[np.ndarray, "B S"] | None = None,
    sampling: Sampling | None = None,
    rng: np.random.Generator | None = None,
    stop: Collection[int] = (),
    cached: bool = True,
) -> list[list[int]]:
    """Each row's target after its `start` tokens, with the source read once."""
    real = _prompt(start, None, new_tokens)
    bound = np.full(len(start), start.shape[1] + new_tokens)
    memory = encode(spec, weights, source, real=source_real)
    reader = Reader(spec, weights, capacity=int(bound[0]), length_bound=bound, memory=memory, cached=cached)
    return _continue(reader, start, real, new_tokens, sampling, rng, stop)


def _continue(
    reader: Reader,
    prompt: np.ndarray,
    real: np.ndarray,
    new_tokens: int,
    sampling: Sampling | None,
    rng: np.random.Generator | None,
    stop: Collection[int],
) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in prompt]
    going = np.ones(len(prompt), dtype=bool)
    logits = reader.read(prompt, real)
    for step in range(new_tokens):
        chosen = choose_token(logits, sampling or Sampling(), rng)
        for row in np.flatnonzero(going):
            rows[row].append(int(chosen[row]))
            going[row] = chosen[row] not in stop
        if step + 1 == new_tokens or not going.any():
            break
        # A row that has stopped stays in the batch; its tokens are pads.
        logits = reader.read(chosen[:, None], going[:, None])
    return rows


def _prompt(prompt: np.ndarray, real: np.ndarray | None, new_tokens: int) -> Bool[np.ndarray, "B T"]:
    """Which tokens of the prompt are real; every row has one, and at least one more is asked for."""
    checks.shaped("prompt", prompt, ("B", "T"), np.integer, "whole numbers")
    known = checks.real(real, *prompt.shape)
    if not known.any(axis=1).all():
        raise GenerationError(messages.EMPTY, what="prompt")
    if new_tokens < 1:
        raise GenerationError(messages.NUMBER_OUT_OF_RANGE, what="new_tokens", low=1, high="∞", found=new_tokens)
    return known

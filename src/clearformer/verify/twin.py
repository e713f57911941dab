"""The NumPy twin as the reference: our spec and weights, computed a second time by other code."""

from __future__ import annotations

from typing import assert_never

import numpy as np
import torch

from clearformer.reference import model as twin
from clearformer.spec import DecoderOnly, EncoderDecoder, EncoderOnly, Tokens, TwoTowers, main_stack
from clearformer.taps import Listening
from clearformer.verify.ours import Suspect
from clearformer.verify.reading import Reading
from clearformer.verify.recording import ANSWER, Heard, Recording, silence


def run(suspect: Suspect, reading: Reading, heard: Heard = silence) -> Recording:
    """Every tensor that the twin names, and its answer."""
    seen: Recording = {}
    last: list[np.ndarray] = []

    def listen(name: str, value: np.ndarray) -> None:
        last[:] = [value]
        seen[name] = torch.from_numpy(np.array(value, dtype=np.float64))
        heard(name)

    answer = _answer(suspect, reading, Listening(listen))
    if not last or answer is not last[0]:
        seen[ANSWER] = torch.from_numpy(np.array(answer, dtype=np.float64))
    return seen


def _answer(suspect: Suspect, reading: Reading, tap: Listening) -> np.ndarray:
    spec, weights = suspect.spec, {name: value.numpy() for name, value in suspect.weights.items()}
    data = reading.data.numpy()
    match spec:
        case EncoderDecoder():
            assert reading.beside is not None
            bound = data.shape[1] if isinstance(spec.encoder.input, Tokens) else None
            memory = twin.encode(spec, weights, data, length_bound=bound, tap=tap)
            target = reading.beside.numpy()
            return twin.decode(spec, weights, target, memory, length_bound=target.shape[1], tap=tap)
        case TwoTowers():
            assert reading.beside is not None
            return twin.compare(spec, weights, data, reading.beside.numpy(), tap=tap)
        case DecoderOnly() | EncoderOnly():
            if not isinstance(main_stack(spec).input, Tokens):
                return twin.run(spec, weights, data, tap=tap)
            segments = None if reading.segments is None else reading.segments.numpy()
            return twin.run(spec, weights, data, segments=segments, length_bound=data.shape[1], tap=tap)
        case _:
            assert_never(spec)

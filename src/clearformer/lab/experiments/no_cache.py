"""No KV cache: the same tokens, each paid for with the whole text (Shazeer 2019 §2.4, arXiv 1911.02150)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.build import build
from clearformer.cost.kv_cache import kv_cache
from clearformer.cost.parameters import parameters
from clearformer.cost.work import Work
from clearformer.generate.reader import CachedReader, Reader, UncachedReader
from clearformer.lab.experiment import Claim, Curve, Experiment, Figure, Outcome, Trial
from clearformer.machine import use_threads
from clearformer.messages import Message
from clearformer.messages import lab_attention as say
from clearformer.model import DecoderOnly
from clearformer.spec import DecoderOnly as DecoderSpec
from clearformer.spec.presets import modern_decoder

LENGTHS = (64, 128, 256, 512)
SPEC = modern_decoder(width=256, heads=4, kv_heads=4, hidden=704, layers=4, vocabulary=512, context=4096)
_COMPARED = 8
Step = Callable[[], Tensor]


@dataclass(frozen=True, kw_only=True)
class WritingArm:
    """Random weights and prompts by the seed; a trial's steps are the tokens written after each prompt."""

    name: str
    label: Message
    cached: bool
    spec: DecoderSpec = SPEC

    def described(self) -> str:
        return f"{self.spec} {self.cached} {LENGTHS}"

    def facts(self, data: Path) -> dict[str, int]:
        counted, cache = parameters(self.spec), kv_cache(self.spec, Work()).per_token.value
        kept = cache if self.cached else 0
        return {"parameters": counted.total, "active_parameters": counted.active, "cache_bytes": kept}

    def step_seconds(self, trial: Trial, seconds: float) -> float:
        self._times(trial, 1)
        return sum(self._times(trial, 2))

    def measure(self, trial: Trial) -> Outcome:
        """Milliseconds a token, the median by the prompt's length, after the first of each, which reads the prompt."""
        model, prompts = self._set_up(trial)
        same = self._same(model, prompts[0])
        times = [1e3 * each for each in self._times(trial, trial.steps)]
        return Outcome({"ms": times[-1], "same": same}, {"ms": (list(map(float, LENGTHS)), times)})

    def _times(self, trial: Trial, steps: int) -> list[float]:
        model, prompts = self._set_up(trial)
        times, made = [], 0
        for prompt in prompts:
            step, taken = writer(model, prompt, steps, cached=self.cached), []
            for _ in range(steps):
                begun = time.perf_counter()
                step()
                taken.append(time.perf_counter() - begun)
                made += 1
                trial.tell(made // len(LENGTHS))
            times.append(statistics.median(taken))
        return times

    def _set_up(self, trial: Trial) -> tuple[DecoderOnly, list[Int[Tensor, "1 T"]]]:
        use_threads(trial.threads)
        generator = torch.Generator().manual_seed(trial.seed)
        model = build(self.spec, generator=generator).eval()
        assert isinstance(model, DecoderOnly)
        return model, [torch.randint(512, (1, length), generator=generator) for length in LENGTHS]

    def _same(self, model: DecoderOnly, prompt: Tensor) -> float:
        """The share of tokens that are the same both ways."""
        both = [writer(model, prompt, _COMPARED, cached=cached) for cached in (True, False)]
        pairs = [[int(step()) for step in both] for _ in range(_COMPARED)]
        return sum(one == other for one, other in pairs) / len(pairs)


def writer(model: DecoderOnly, prompt: Int[Tensor, "1 T"], new: int, *, cached: bool) -> Step:
    """A function that writes the next token; the prompt is read and the first token known."""
    length = torch.tensor([prompt.shape[1] + new + 1])
    reader: Reader
    if cached:
        reader = CachedReader(model, capacity=int(length), length_bound=length)
    else:
        reader = UncachedReader(model, length_bound=length)
    last = reader.read(prompt).argmax(-1)

    def step() -> Tensor:
        nonlocal last
        last = reader.read(last[:, None]).argmax(-1)
        return last

    return step


EXPERIMENT = Experiment(
    name="no-cache",
    title=say.NO_CACHE,
    about=say.NO_CACHE_ABOUT,
    arms=(
        WritingArm(name="cached", label=say.CACHED, cached=True),
        WritingArm(name="uncached", label=say.UNCACHED, cached=False),
    ),
    figure=Figure("ms", say.MS_A_TOKEN, form=".2f"),
    further=(Figure("same", say.SAME_TOKENS, higher_is_better=True, form=".0%"),),
    curves=(Curve("ms", say.PROMPT_X, say.MS_Y, log_x=True, log_y=True),),
    equal=("parameters",),
    claims=(Claim(say.NO_CACHE_CLAIM, above="uncached", below="cached", figure="ms"),),
    alone=True,
)

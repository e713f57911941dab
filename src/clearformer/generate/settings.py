"""What can be asked of a generation, and what is refused. No torch here: the help pages read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Protocol

from clearformer.errors import UsageError
from clearformer.messages import generate as messages

MOST_TOP_LOGPROBS = 100


@dataclass(frozen=True)
class SamplingSettings:
    """How the next token is chosen from logits.

    `temperature` 0 is greedy. `top_k` 0, `top_p` 1, `min_p` 0 and `repetition_penalty` 1 do nothing.
    Raises UsageError for a value that makes no sense.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        # Written so that NaN, which compares as False, is refused.
        if not 0 <= self.temperature < math.inf:
            raise UsageError(messages.BAD_TEMPERATURE, found=self.temperature)
        if self.top_k < 0:
            raise UsageError(messages.BAD_TOP_K, found=self.top_k)
        if not 0 < self.top_p <= 1:
            raise UsageError(messages.BAD_TOP_P, found=self.top_p)
        if not 0 <= self.min_p <= 1:
            raise UsageError(messages.BAD_MIN_P, found=self.min_p)
        if not 0 < self.repetition_penalty < math.inf:
            raise UsageError(messages.BAD_PENALTY, found=self.repetition_penalty)

    @property
    def greedy(self) -> bool:
        return self.temperature == 0


class Defaults(Protocol):
    """What the model's makers say about its generation; None where they do not."""

    @property
    def sample(self) -> bool: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def top_k(self) -> int | None: ...
    @property
    def top_p(self) -> float | None: ...
    @property
    def min_p(self) -> float | None: ...
    @property
    def repetition_penalty(self) -> float | None: ...
    @property
    def max_new_tokens(self) -> int | None: ...
    @property
    def begin_id(self) -> int | None: ...
    @property
    def end_ids(self) -> tuple[int, ...]: ...


@dataclass(frozen=True, kw_only=True)
class Options:
    """One generation's settings; None leaves the choice to the model's makers. Raises UsageError for a bad value."""

    max_new_tokens: int | None = None
    """Write at most this many tokens [the model's default, else 256]."""
    temperature: float | None = None
    """Divide logits by this before sampling; 0 takes the likeliest token [the model's default, else 0]."""
    top_k: int | None = None
    """Sample among this many likeliest tokens; 0 is off."""
    top_p: float | None = None
    """Sample among the likeliest tokens that hold this much probability; 1 is off."""
    min_p: float | None = None
    """Drop tokens less likely than this share of the likeliest one; 0 is off."""
    repetition_penalty: float | None = None
    """Divide the positive logits of tokens seen before by this, multiply the negative ones; 1 is off."""
    seed: int | None = None
    """Start of the random numbers; the same seed gives the same text."""
    stop: tuple[str, ...] = ()
    """End before this string; may be given several times."""
    top_logprobs: int = 0
    """Show the likeliest tokens at each step, this many, with their log-probabilities before any filter."""
    use_cache: bool = True
    """Keep keys and values; without, every step reads the whole text again."""
    prefill_chunk: int = 512
    """Read the prompt in pieces of this many tokens, which bounds the memory needed."""

    def __post_init__(self) -> None:
        if self.max_new_tokens is not None and self.max_new_tokens < 1:
            raise UsageError(messages.BAD_MAX_NEW, found=self.max_new_tokens)
        if not 0 <= self.top_logprobs <= MOST_TOP_LOGPROBS:
            raise UsageError(messages.BAD_TOP_LOGPROBS, found=self.top_logprobs, most=MOST_TOP_LOGPROBS)
        if self.prefill_chunk < 1:
            raise UsageError(messages.BAD_CHUNK, found=self.prefill_chunk)
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise UsageError(messages.BAD_SEED, found=self.seed)
        if "" in self.stop:
            raise UsageError(messages.EMPTY_STOP)
        # Refuse a bad value now and not when a model of gigabytes has been read.
        SamplingSettings(**{name: value for name, value in self._sampling().items() if value is not None})

    def sampling(self, defaults: Defaults) -> SamplingSettings:
        """These choices completed by the makers': a filter without a temperature means that sampling is wanted."""
        chosen = {name: value for name, value in self._sampling().items() if value is not None}
        makers = {name: value for name in _SAMPLING if (value := getattr(defaults, name)) is not None}
        if not defaults.sample and not chosen.keys() & {"top_k", "top_p", "min_p"}:
            makers["temperature"] = 0.0
        return SamplingSettings(**{"temperature": 1.0, **makers, **chosen})

    def length(self, defaults: Defaults) -> int:
        """Tokens to write at most."""
        return self.max_new_tokens or defaults.max_new_tokens or 256

    def _sampling(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SAMPLING}


_SAMPLING = tuple(field.name for field in fields(SamplingSettings))

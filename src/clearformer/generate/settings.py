"""What can be asked of a generation, and what is refused. No torch here: the help pages read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Protocol

from clearformer.errors import GenerationError, UsageError
from clearformer.messages import generate as messages
from clearformer.messages import verbatim

MOST_TOP_LOGPROBS = 100
# Beyond it, and below its inverse, a logit divided by the penalty leaves float32 and nothing can be drawn.
MOST_PENALTY = 1000
MOST_BEAMS = 1000
# ((5 + n) / 6) to this power stays a float64 for every text that fits into a machine.
MOST_LENGTH_PENALTY = 20


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
        if not (_number(self.temperature) and 0 <= self.temperature < math.inf):
            raise UsageError(messages.BAD_TEMPERATURE, found=self.temperature)
        if not _whole(self.top_k, 0):
            raise UsageError(messages.BAD_TOP_K, found=self.top_k)
        if not (_number(self.top_p) and 0 < self.top_p <= 1):
            raise UsageError(messages.BAD_TOP_P, found=self.top_p)
        if not (_number(self.min_p) and 0 <= self.min_p <= 1):
            raise UsageError(messages.BAD_MIN_P, found=self.min_p)
        most = MOST_PENALTY
        if not (_number(self.repetition_penalty) and 1 / most <= self.repetition_penalty <= most):
            raise UsageError(messages.BAD_PENALTY, found=self.repetition_penalty, least=1 / most, most=most)

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
    @property
    def start_id(self) -> int | None: ...
    @property
    def first_id(self) -> int | None: ...
    @property
    def never_ids(self) -> tuple[int, ...]: ...


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
    num_beams: int = 1
    """Beam search: keep this many likeliest beginnings and write the best whole text; 1 is off."""
    length_penalty: float | None = None
    """Rank the beams' texts by log-probability over ((5 + n) / 6) to this power; more favours long texts [0.6]."""

    def __post_init__(self) -> None:
        if self.max_new_tokens is not None and not _whole(self.max_new_tokens, 1):
            raise UsageError(messages.BAD_MAX_NEW, found=self.max_new_tokens)
        if not _whole(self.top_logprobs, 0, MOST_TOP_LOGPROBS):
            raise UsageError(messages.BAD_TOP_LOGPROBS, found=self.top_logprobs, most=MOST_TOP_LOGPROBS)
        if not _whole(self.prefill_chunk, 1):
            raise UsageError(messages.BAD_CHUNK, found=self.prefill_chunk)
        if not _whole(self.num_beams, 1, MOST_BEAMS):
            raise UsageError(messages.BAD_NUM_BEAMS, found=self.num_beams, most=MOST_BEAMS)
        if self.length_penalty is not None:
            if not (_number(self.length_penalty) and 0 <= self.length_penalty <= MOST_LENGTH_PENALTY):
                values = {"found": self.length_penalty, "most": MOST_LENGTH_PENALTY}
                raise UsageError(messages.BAD_LENGTH_PENALTY, **values)
            if self.num_beams == 1:
                raise UsageError(messages.PENALTY_WITHOUT_BEAMS)
        if self.seed is not None and not _whole(self.seed, 0, 2**63 - 1):
            raise UsageError(messages.BAD_SEED, found=self.seed)
        if isinstance(self.stop, str):
            # One string is a sequence of its characters, and would stop at each.
            object.__setattr__(self, "stop", (self.stop,))
        for string in self.stop if isinstance(self.stop, list | tuple) else [self.stop]:
            if not isinstance(string, str) or _undecodable(string):
                raise UsageError(messages.BAD_STOP, found=string)
            if not string:
                raise UsageError(messages.EMPTY_STOP)
        # Refuse a bad value now and not when a model of gigabytes has been read.
        chosen = SamplingSettings(**{name: value for name, value in self._sampling().items() if value is not None})
        if self.num_beams > 1:
            self._refuse_beside_beams(chosen)

    @property
    def alpha(self) -> float:
        """The exponent of the length penalty."""
        return 0.6 if self.length_penalty is None else self.length_penalty

    def sampling(self, defaults: Defaults) -> SamplingSettings:
        """These choices completed by the makers': a filter without a temperature means that sampling is wanted."""
        chosen = {name: value for name, value in self._sampling().items() if value is not None}
        makers = {name: value for name in _SAMPLING if (value := getattr(defaults, name)) is not None}
        if self.num_beams > 1:
            # Beams take the place of the makers' sampling; their penalty would change what is likely.
            penalty = makers.get("repetition_penalty", 1)
            if self.repetition_penalty is None and penalty != 1:
                raise GenerationError(messages.MAKERS_PENALTY, found=penalty)
            return SamplingSettings()
        if not defaults.sample and not chosen.keys() & {"top_k", "top_p", "min_p"}:
            makers["temperature"] = 0.0
        try:
            return SamplingSettings(**{"temperature": 1.0, **makers, **chosen})
        except UsageError as error:
            # What the user chose was checked when these options were made.
            why = verbatim(error.cause("en"), error.cause("zh"))
            raise GenerationError(messages.BAD_MAKERS, why=why) from error

    def length(self, defaults: Defaults) -> int:
        """Tokens to write at most."""
        return self.max_new_tokens or defaults.max_new_tokens or 256

    def _refuse_beside_beams(self, chosen: SamplingSettings) -> None:
        """Beam search looks for the likeliest text under the model itself, and knows it only as a whole."""
        off = SamplingSettings()
        beside = [name for name in _SAMPLING if getattr(chosen, name) != getattr(off, name)]
        beside += [name for name in ("stop", "top_logprobs") if getattr(self, name)]
        if beside:
            raise UsageError(messages.BESIDE_BEAMS, found=beside[0])

    def _sampling(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SAMPLING}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _undecodable(text: str) -> bool:
    """Lone surrogates, in which Python hides bytes that were not UTF-8; no text holds one."""
    return any("\ud800" <= character <= "\udfff" for character in text)


_SAMPLING = tuple(field.name for field in fields(SamplingSettings))

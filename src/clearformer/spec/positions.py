"""Where a token stands: added to the input, turned into queries and keys, or added to the scores.

Positions count real tokens: padding has none, so left padding, right padding and none at all agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec import checks

Layout = Literal["interleaved", "halves"]


@dataclass(frozen=True)
class Sinusoidal:
    """PE(pos, 2i) = sin(pos / base^(2i/D)), PE(pos, 2i+1) = cos(…) (Vaswani et al. 2017 §3.5, arXiv 1706.03762).

    `interleaved` is the paper's order; `halves` puts all sines first (Marian).
    """

    base: float = 10000.0
    layout: Layout = "interleaved"

    def __post_init__(self) -> None:
        checks.above_zero(self, "base")
        checks.one_of(self, "layout", Layout)


@dataclass(frozen=True)
class Learned:
    """A trained row per position; row `offset` is position 0 (OPT and RoBERTa reserve the first two)."""

    length: int
    offset: int = 0

    def __post_init__(self) -> None:
        checks.positive(self, "length")
        checks.not_negative(self, "offset")


InputPosition = Sinusoidal | Learned


@dataclass(frozen=True)
class LinearScaling:
    """Position interpolation: every angle divided by `factor` (Chen et al. 2023, arXiv 2306.15595)."""

    factor: float

    def __post_init__(self) -> None:
        checks.above_zero(self, "factor")


@dataclass(frozen=True)
class DynamicNTK:
    """The base grows with the length once it passes `original_length` (bloc97 2023; YaRN §2.3, arXiv 2309.00071)."""

    factor: float
    original_length: int

    def __post_init__(self) -> None:
        checks.above_zero(self, "factor")
        checks.positive(self, "original_length")


@dataclass(frozen=True)
class YaRN:
    """Slow frequencies interpolated, fast ones kept, scores sharpened (Peng et al. 2023 §3, arXiv 2309.00071).

    `attention_factor` multiplies cosines and sines; None is the paper's 0.1·ln(factor) + 1. `truncate` rounds the
    ends of the ramp to whole pairs, as the published code does.
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    truncate: bool = True

    def __post_init__(self) -> None:
        checks.above_zero(self, "factor", "beta_fast", "beta_slow", "attention_factor")
        checks.positive(self, "original_length")


@dataclass(frozen=True)
class Llama3Scaling:
    """Wavelengths above original_length/low_frequency are stretched by `factor`, with a smooth band (Llama 3.1)."""

    factor: float
    original_length: int
    low_frequency: float = 1.0
    high_frequency: float = 4.0

    def __post_init__(self) -> None:
        checks.above_zero(self, "factor", "low_frequency", "high_frequency")
        checks.positive(self, "original_length")
        held = self.low_frequency < self.high_frequency
        checks.require(held, self, "low_frequency", messages.BELOW_HIGH_FREQUENCY, high=self.high_frequency)


@dataclass(frozen=True)
class LongRoPE:
    """A searched divisor a pair: `short` up to the original length, `long` past it (Ding 2024, arXiv 2402.13753)."""

    short: tuple[float, ...]
    long: tuple[float, ...]
    original_length: int
    attention_factor: float

    def __post_init__(self) -> None:
        checks.positive(self, "original_length")
        checks.above_zero(self, "attention_factor")
        checks.each_above_zero(self, "short", "long")


RopeScaling = LinearScaling | DynamicNTK | YaRN | Llama3Scaling | LongRoPE


@dataclass(frozen=True)
class Rotary:
    """Queries and keys turned by pos · base^(−2i/R) (Su et al. 2021, arXiv 2104.09864).

    `width` R rotates only the first R numbers of a head (None: all of it). `halves` pairs i with i + R/2 (Llama as
    published on the Hub), `interleaved` pairs 2i with 2i + 1 (the paper, GPT-J, GLM).
    """

    base: float = 10000.0
    width: int | None = None
    layout: Layout = "halves"
    scaling: RopeScaling | None = None

    def __post_init__(self) -> None:
        checks.above_zero(self, "base")
        checks.one_of(self, "layout", Layout)
        checks.require(self.base > 1, self, "base", messages.ABOVE_1)
        if self.width is not None:
            checks.positive(self, "width")
            self.require_width(self.width)

    def rotated(self, head_width: int) -> int:
        """R, the rotated width, for heads of the given width."""
        return head_width if self.width is None else self.width

    def require_width(self, head_width: int) -> None:
        """Refuse an odd or too wide rotation of a head."""
        rotated = self.rotated(head_width)
        if rotated % 2 or rotated > head_width:
            raise SpecError(messages.ROTARY_WIDTH, limit=head_width, found=rotated)
        match self.scaling:
            case LongRoPE(short=short, long=long) if {len(short), len(long)} != {rotated // 2}:
                raise SpecError(messages.LONGROPE_LENGTH, expected=rotated // 2, short=len(short), long=len(long))
            case _:
                pass


@dataclass(frozen=True)
class ALiBi:
    """−slope · |i − j| added to the scores, slopes 2^(−max_bias·h/H) for heads h (Press 2021, arXiv 2108.12409)."""

    max_bias: float = 8.0

    def __post_init__(self) -> None:
        checks.above_zero(self, "max_bias")


@dataclass(frozen=True)
class RelativeBias:
    """A learnt bias per head and bucket of distance (Raffel et al. 2019 §2.1, arXiv 1910.10683).

    `two_sided` gives half of the buckets to later keys (encoders). `shared` keeps one table, in the first such block
    of the stack, for all of them (T5).
    """

    buckets: int = 32
    max_distance: int = 128
    two_sided: bool = False
    shared: bool = True

    def __post_init__(self) -> None:
        checks.positive(self, "buckets", "max_distance")
        exact = self.buckets // (4 if self.two_sided else 2)
        held = 1 <= exact < self.max_distance
        checks.require(held, self, "max_distance", messages.PAST_EXACT_BUCKETS, exact=exact)


AttentionPosition = Rotary | ALiBi | RelativeBias

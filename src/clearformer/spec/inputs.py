"""What enters the stack: tokens, patches of an image, or patches of a real-valued series."""

from __future__ import annotations

from dataclasses import dataclass

from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec import checks
from clearformer.spec.norms import Norm
from clearformer.spec.positions import InputPosition


@dataclass(frozen=True)
class Tokens:
    """table[id] · scale + position + segment, normalised if `norm` says so (BERT, BLOOM).

    The paper's scale is √D; `round_scale` rounds it to the model's type first, as Gemma was trained. `segments` is the
    number of segment kinds, 0 for none. `dropout` falls on the sum.
    """

    vocabulary: int
    position: InputPosition | None = None
    scale: float = 1.0
    segments: int = 0
    norm: Norm | None = None
    dropout: float = 0.0
    round_scale: bool = False

    def __post_init__(self) -> None:
        checks.positive(self, "vocabulary")
        checks.above_zero(self, "scale")
        checks.not_negative(self, "segments")
        checks.probability(self, "dropout")


@dataclass(frozen=True)
class Patches:
    """An image B C height width cut into squares of `patch`, each projected to the width (ViT, arXiv 2010.11929).

    `class_token` puts one learnt vector before them. Positions count the class token.
    """

    height: int
    width: int
    patch: int
    channels: int = 3
    class_token: bool = True
    position: InputPosition | None = None
    bias: bool = True
    norm: Norm | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "height", "width", "patch", "channels")
        checks.probability(self, "dropout")
        if self.height % self.patch or self.width % self.patch:
            raise SpecError(messages.PATCH_DOES_NOT_DIVIDE, height=self.height, width=self.width, patch=self.patch)

    @property
    def length(self) -> int:
        """Positions in the stack: patches, and the class token."""
        return (self.height // self.patch) * (self.width // self.patch) + int(self.class_token)


@dataclass(frozen=True)
class ReversibleNorm:
    """Each channel's mean and deviation over the window removed, and restored on the forecast (Kim et al. 2022, RevIN).

    `affine` learns a scale and shift a channel between the two.
    """

    eps: float = 1e-5
    affine: bool = False

    def __post_init__(self) -> None:
        checks.above_zero(self, "eps")


@dataclass(frozen=True)
class Series:
    """A series B S C cut into patches of `patch` steps every `stride`; patch 1 is one position a step.

    Steps before the first whole patch, counted from the latest, are left out. `independent` runs each channel alone
    through the same weights (PatchTST, arXiv 2211.14730); otherwise a patch holds all channels.
    """

    channels: int
    patch: int = 1
    stride: int = 1
    position: InputPosition | None = None
    normalise: ReversibleNorm | None = None
    independent: bool = False
    bias: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        checks.positive(self, "channels", "patch", "stride")
        checks.probability(self, "dropout")

    def length(self, steps: int) -> int:
        """Positions in the stack for a window of `steps`."""
        return (steps - self.patch) // self.stride + 1 if steps >= self.patch else 0


Input = Tokens | Patches | Series

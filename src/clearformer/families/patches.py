"""The convolution that cuts an image into patches, as ViT and CLIP store it."""

from __future__ import annotations

from clearformer.checkpoint.renames import Reshaped
from clearformer.spec import Patches


def patch_row(theirs: str, ours: str, patches: Patches, width: int) -> Reshaped:
    """Its stride is its size, so that each patch meets the kernel once: a matrix, its inputs channel by channel."""
    kernel = (patches.channels, patches.patch, patches.patch)
    return Reshaped(theirs, ours, (width, *kernel), (width, patches.channels * patches.patch**2))

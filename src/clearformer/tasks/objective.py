"""The loss that every task over tokens learns by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxtyping import Float, Int
from torch import Tensor

from clearformer.loss import Loss, chunked_cross_entropy
from clearformer.train.recipe import LossSettings


def token_loss(
    logits_of: Callable[[Float[Tensor, "rows D"]], Float[Tensor, "rows V"]],
    hidden: Float[Tensor, "*any D"],
    targets: Int[Tensor, "*any"],
    settings: LossSettings,
    balance: Sequence[Tensor],
) -> Loss:
    """Cross-entropy as the recipe has it, with the balance losses that the model noted."""
    loss = chunked_cross_entropy(
        hidden, logits_of, targets, smoothing=settings.smoothing, z=settings.z, chunk=settings.chunk
    )
    return loss.balanced(balance)

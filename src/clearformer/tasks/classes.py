"""What a task with classes is judged by, and which classes its model takes for which.

Accuracy counts examples; macro F1 counts classes, each alike however rare: the mean of 2·right / (named + meant).
"""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


def judged(logits: Float[Tensor, "n classes"], labels: Int[Tensor, " n"]) -> dict[str, float]:
    """`loss` (nats an example, without smoothing), `accuracy` and `macro_f1`."""
    matrix = confusion(logits.argmax(1), labels, logits.shape[1])
    loss = functional.cross_entropy(logits.double(), labels)
    return {"loss": float(loss), "accuracy": float(matrix.trace() / matrix.sum()), "macro_f1": macro_f1(matrix)}


def confusion(chosen: Int[Tensor, " n"], labels: Int[Tensor, " n"], classes: int) -> Int[Tensor, "classes classes"]:
    """Counts of examples by class meant (row) and class named (column)."""
    return (labels * classes + chosen).bincount(minlength=classes**2).reshape(classes, classes)


def macro_f1(matrix: Int[Tensor, "classes classes"]) -> float:
    """Classes that are neither named nor meant are left out."""
    right, either = matrix.diagonal().double(), (matrix.sum(0) + matrix.sum(1)).double()
    return float((2 * right / either)[either > 0].mean())

"""Formulas as they are printed, worked out again by Python's own arithmetic."""

from __future__ import annotations

from clearformer.cost.formula import Formula


def worked_out(text: str) -> int:
    """`2·B·(T + 1)/2` with numbers for letters."""
    plain = text.replace("·", "*").replace("−", "-").replace("/", "//")
    return int(eval(plain, {"__builtins__": {}}))


def filled_in(formula: Formula) -> int:
    """The letters replaced by their sizes, where each has one."""
    sizes = dict(formula.sizes)
    assert len(sizes) == len(formula.sizes)
    return int(eval(formula.text.replace("·", "*").replace("−", "-").replace("/", "//"), {"__builtins__": {}}, sizes))

"""A formula's text is the reckoning that gave its value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.cost.formula import ONE, TWO, ZERO, Formula, halved, letter, number, total
from cost.written import filled_in, worked_out

B, T, D = letter("B", 3), letter("T", 5), letter("D", 4)

leaves = st.one_of(st.sampled_from([B, T, D, ONE, TWO, ZERO]), st.builds(number, st.integers(-3, 9)))
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda a: halved(a * (a + ONE)), inner),
        st.builds(lambda a, b: total([a, b, a]), inner, inner),
    ),
    max_leaves=8,
)


@given(formulas)
def test_the_text_worked_out_gives_the_value(formula: Formula) -> None:
    assert worked_out(formula.numbers) == formula.value
    assert filled_in(formula) == formula.value


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (TWO * B * T * (D * D + D), "2·B·T·(D·D + D)"),
        (B + T + B, "2·B + T"),
        (T - ONE, "T − 1"),
        (B * ZERO + T, "T"),
        (TWO * (T + ONE) - T, "2·(T + 1) − T"),
        (ONE - (T + B), "1 − T − B"),
        (halved(T * (T + ONE)), "T·(T + 1)/2"),
        (number(4) * (TWO * D), "8·D"),
    ],
)
def test_a_formula_is_written_as_one_would_write_it(formula: Formula, text: str) -> None:
    assert formula.text == text

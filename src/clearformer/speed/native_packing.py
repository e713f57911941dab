"""Which packing a weight gets in a model of a number type."""

from __future__ import annotations

from collections.abc import Sequence

from clearformer.native.matrix import Format, Packing, Rows


def packing_of(dtype: Format, stored: Sequence[Rows], *, normalised: bool) -> Packing:
    """int4 is for what nothing finer was chosen for: of GGUF's quantised types its own grid keeps Q4_0's and Q4_1's
    alone, and 8 bits the numbers of all others, K-quants too, as nearly as can be measured.

    `normalised`: its product reads the stream after a norm. Rounding that to one byte is five sixths of what int8 costs
    in KL (docs/results.md), so it is read in two."""
    kept = all(each.source != "Q8_0" and each.decoded in (None, "Q4_1") for each in stored)
    eight = dtype == "int8" or (dtype == "int4" and not kept)
    if not eight:
        return dtype
    return "int8_fine" if normalised else "int8"


def packing_of_table(dtype: Format) -> Packing:
    """Of the token table or the head: in 8 bits where the blocks are int4, for they decide every word. There the stream
    stays in one byte: int4's perplexity lies far within its bound, and its speed at the edge of its own."""
    if dtype == "int4":
        return "int8"
    return "int8_fine" if dtype == "int8" else dtype

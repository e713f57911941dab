"""Every law that `laws(spec)` names holds, on its own terms, over specs drawn from the whole space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from clearformer import spec as s
from clearformer.laws import LawName
from clearformer.layers.kernels import Kernel
from drawing.kernels import everywhere
from law_testers.check import TESTERS, check_all
from law_testers.specs import lawful_spec

SEEDS = st.integers(0, 2**32 - 1)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
DTYPES = st.sampled_from((torch.float64, torch.float64, torch.float32))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Matrices of eight rows wait longer for a second thread than they compute."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_law_has_a_tester() -> None:
    assert TESTERS.keys() == set(get_args(LawName))


def test_every_law_holds() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=100, phases=PHASES)
    @given(lawful_spec, SEEDS, DTYPES)
    def one(spec: s.Spec, seed: int, dtype: torch.dtype) -> None:
        reached.update(check_all(spec, seed, dtype))

    one()
    rare = {name: reached[name] for name in TESTERS if reached[name] < 5}
    assert not rare, f"reached fewer than five times: {rare}"


@settings(max_examples=30, phases=PHASES)
@given(lawful_spec, SEEDS, DTYPES)
def test_every_law_holds_by_tiles(spec: s.Spec, seed: int, dtype: torch.dtype) -> None:
    with everywhere("tiled"):
        check_all(spec, seed, dtype)


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("kernel", ["sdpa", "tiled"])
@settings(max_examples=5000, phases=PHASES)
@given(spec=lawful_spec, seed=SEEDS, dtype=DTYPES)
def test_every_law_holds_long(kernel: Kernel, spec: s.Spec, seed: int, dtype: torch.dtype) -> None:
    with everywhere(kernel):
        check_all(spec, seed, dtype)

"""The seven demonstrations: their figures, their two languages, and that they need NumPy alone."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from clearformer.lab.demos import DEMOS, Outcome, scale


@pytest.fixture(scope="module")
def outcomes() -> dict[int, Outcome]:
    return {n: demo.run() for n, demo in DEMOS.items()}


def figure(outcomes: dict[int, Outcome], n: int, name: str) -> np.ndarray:
    return np.asarray(outcomes[n].figures[name])


def test_seven_pass_in_order(outcomes: dict[int, Outcome]) -> None:
    assert [outcome.n for outcome in outcomes.values()] == [1, 2, 3, 4, 5, 6, 7]
    assert all(outcome.passed and outcome.caught is None for outcome in outcomes.values())
    json.dumps([outcome.figures for outcome in outcomes.values()], allow_nan=False)


@pytest.mark.parametrize("n", DEMOS)
def test_chinese_tells_the_same_run(n: int, outcomes: dict[int, Outcome]) -> None:
    english, chinese = outcomes[n], DEMOS[n].run(language="zh")
    assert chinese.figures == english.figures
    assert len(chinese.lines) == len(english.lines)
    for ours, theirs in zip(english.lines, chinese.lines, strict=True):
        assert not re.search(r"[\u4e00-\u9fff]", ours)
        # A law is a sentence; what is not is an array, which both languages share.
        assert ours == theirs or re.search(r"[\u4e00-\u9fff]", theirs), theirs
        assert ours.count("✓") == theirs.count("✓")


def test_three_tokens_by_hand(outcomes: dict[int, Outcome]) -> None:
    weights = [[0.4011, 0.1978, 0.4011], [0.2483, 0.5035, 0.2483], [0.3954, 0.2092, 0.3954]]
    assert figure(outcomes, 1, "weights").round(4).tolist() == weights
    assert figure(outcomes, 1, "output").round(4).tolist() == [[0.8022, 0.3956], [0.4965, 1.007], [0.7908, 0.4185]]


def test_causal_mask_and_fills(outcomes: dict[int, Outcome]) -> None:
    assert figure(outcomes, 2, "upper_triangle_max") == 0.0
    assert figure(outcomes, 2, "row_0").tolist() == [1.0, 0.0, 0.0, 0.0]
    assert figure(outcomes, 2, "finite_fill_future_weight") == 0.75
    assert not figure(outcomes, 2, "blind_row").any()


@pytest.mark.parametrize("width", [4, 64, 512])
def test_scale_is_the_root_of_the_width(width: int, outcomes: dict[int, Outcome]) -> None:
    error = float(figure(outcomes, 3, f"std_{width}_error"))
    assert abs(figure(outcomes, 3, f"std_{width}") - math.sqrt(width)) < 5 * error
    assert abs(figure(outcomes, 3, f"scaled_std_{width}") - 1) < 5 * error / math.sqrt(width)
    # q·k has kurtosis 3 + 6/d, which fixes the error of 20000 samples.
    assert error == pytest.approx(math.sqrt(width * (2 + 6 / width) / (4 * 20000)), rel=0.1)


def test_standard_error_is_what_repeated_samples_show() -> None:
    rng = np.random.default_rng(0)
    spreads = np.array([scale.spread(rng.exponential(size=2000)) for _ in range(400)])
    # 400 repetitions know their own deviation to about 1/√800 = 3.5 %.
    assert spreads[:, 0].std() == pytest.approx(spreads[:, 1].mean(), rel=0.15)


def test_order(outcomes: dict[int, Outcome]) -> None:
    assert figure(outcomes, 4, "gap_without_positions") < 1e-12
    assert figure(outcomes, 4, "gap_with_positions") > 1e-3
    assert figure(outcomes, 4, "causal_gap_1_layer") < 1e-12
    assert figure(outcomes, 4, "causal_gap_2_layers") > 1e-3


def test_heads_and_layers(outcomes: dict[int, Outcome]) -> None:
    assert figure(outcomes, 5, "split_shape").tolist() == [2, 5, 4]
    assert figure(outcomes, 5, "merged_shape").tolist() == [5, 8]
    assert figure(outcomes, 6, "shape").tolist() == [6, 32]


def test_base_model_is_counted(outcomes: dict[int, Outcome]) -> None:
    figures = outcomes[7].figures
    assert figures["attention"] == 1_048_576
    assert figures["feedforward"] == 2_097_152
    assert figures["layer"] == 3_145_728
    assert figures["encoder"] == 18_874_368
    assert figures["decoder"] == 25_165_824
    assert figures["embedding"] == 18_944_000
    assert figures["matrices"] == 62_984_192
    assert figures["biases_and_norms"] == 98_304
    assert figures["feedforward_share"] == pytest.approx(4 / 7)


def test_runs_where_torch_is_not_installed() -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from clearformer.lab.demos import DEMOS\n"
        "assert all(demo.run().passed for demo in DEMOS.values())\n"
        "assert sys.modules['torch'] is None\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr

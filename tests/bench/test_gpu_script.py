"""The GPU benchmark's parts give figures, here on the CPU at small sizes; without a GPU the script says so."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import torch

from clearformer.bench.shapes import LanguageShape

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


@pytest.fixture(scope="module")
def gpu() -> ModuleType:
    spec = spec_from_file_location("gpu_benchmark", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bench(gpu: ModuleType):
    shape = LanguageShape(layers=1, heads=2, width=16, context=16, batch=2, vocabulary=32)
    return gpu.Bench("cpu", shape, (64, 128), torch.float32, tokens=3, compiling=False)


def test_without_a_gpu_nothing_is_measured_and_it_says_so(gpu, monkeypatch, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert gpu.main([]) == 1
    assert capsys.readouterr().err == f"{gpu.NO_GPU}\n"


def test_kernels_are_equal(gpu, bench) -> None:
    rows = gpu.parity(bench)
    assert [row["kernel"] for row in rows] == ["plain", "tiled", "sdpa"]
    assert all(row["equal"] for row in rows)
    assert 0 < max(row["gap"] for row in rows) < 1e-5


def test_every_part_gives_figures(gpu, bench, monkeypatch) -> None:
    monkeypatch.setattr(gpu, "_free", lambda bench: gpu.held(gpu.Sizes(1, 8, 8, 64, 64), "plain", training=True).value)
    told = gpu.measure(bench)
    assert told["decode"][0]["tok_s"] > 0
    assert told["prefill"][0]["tok_s"] > 0
    assert 0 < told["training"][0]["mfu"] < 1
    outcomes = {(row["kernel"], row["length"]): row for row in told["attention"]}
    assert outcomes["plain", 64]["seconds"] > 0
    assert outcomes["plain", 128]["outcome"] == "would not fit"
    assert outcomes["sdpa flash", 128]["seconds"] > 0


def test_when_the_time_is_over_nothing_more_is_begun(gpu, bench) -> None:
    late = gpu.replace(bench, ends=0.0)
    assert gpu.measure(late) == {"parity": [], "attention": [], "prefill": [], "training": [], "decode": []}
    assert all(row["outcome"] == "out of time" for row in gpu.decode(late) + gpu.training(late))

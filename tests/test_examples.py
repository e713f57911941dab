"""The two single-file scripts: each runs alone, says what it says, and equals the library."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from clearformer.build import build
from clearformer.reference import initial, model
from clearformer.reference.attention import scaled_dot_product_attention
from clearformer.reference.positions.sinusoidal import sinusoidal
from clearformer.spec.presets import modern_decoder, paper

EXAMPLES = Path(__file__).parent.parent / "examples"
SMALL = {"width": 32, "heads": 4, "kv_heads": 2, "hidden": 48, "layers": 3, "vocabulary": 50}


def load(name: str) -> Any:
    """A script as a module, without running it."""
    description = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert description is not None
    assert description.loader is not None
    module = importlib.util.module_from_spec(description)
    sys.modules[name] = module  # dataclasses look their own module up
    description.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def in_numpy() -> ModuleType:
    return load("transformer_numpy")


@pytest.fixture(scope="module")
def in_torch() -> ModuleType:
    return load("transformer_pytorch")


@pytest.mark.parametrize(
    ("script", "stranger"), [("transformer_numpy.py", "torch"), ("transformer_pytorch.py", "transformers")]
)
def test_runs_alone(script: str, stranger: str, tmp_path: Path) -> None:
    alone = shutil.copy(EXAMPLES / script, tmp_path)
    code = (
        f"import runpy, sys; sys.modules[{stranger!r}] = None; sys.modules['clearformer'] = None\n"
        "runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    environment = os.environ | {"PYTHONWARNINGS": "error", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", code, str(alone)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("very assertion held.")


def test_numpy_attention_equals_the_library(in_numpy: Any) -> None:
    rng = np.random.default_rng(0)
    query, key, value = (
        rng.standard_normal((2, 4, 5, 8)),
        rng.standard_normal((2, 2, 7, 8)),
        rng.standard_normal((2, 2, 7, 8)),
    )
    visible = rng.random((2, 1, 5, 7)) < 0.6
    visible[0, 0, 0] = False
    output, weights = in_numpy.scaled_dot_product_attention(query, key, value, visible)
    repeated = [np.repeat(x, 2, axis=1) for x in (key, value)]
    expected, shares = scaled_dot_product_attention(query, *repeated, np.broadcast_to(visible, weights.shape))
    np.testing.assert_allclose(weights, shares, atol=1e-12)
    np.testing.assert_allclose(output, expected, atol=1e-12)
    np.testing.assert_allclose(in_numpy.sinusoidal(np.arange(9), 16), sinusoidal(np.arange(9), 16), atol=1e-12)


def test_numpy_paper_equals_the_library(in_numpy: Any) -> None:
    spec = paper(width=32, heads=4, hidden=48, layers=2, vocabulary=50)
    shapes = initial.shapes(spec)
    assert in_numpy.paper_shapes(D=32, F=48, V=50, layers=2) == shapes
    rng = np.random.default_rng(1)
    weights = initial.draw(spec, rng)
    source, target = rng.integers(0, 50, (2, 7)), rng.integers(0, 50, (2, 5))
    real = np.array([[True] * 7, [True] * 4 + [False] * 3])
    found = in_numpy.decode(weights, target, in_numpy.encode(weights, source, real, 4), real, 4)
    expected = model.translate_logits(spec, weights, source, target, real)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.ptp(expected))


def test_numpy_decoder_equals_the_library(in_numpy: Any) -> None:
    spec = modern_decoder(**SMALL)
    assert in_numpy.decoder_shapes(D=32, H=4, G=2, F=48, V=50, layers=3) == initial.shapes(spec)
    rng = np.random.default_rng(2)
    weights, ids = initial.draw(spec, rng), rng.integers(0, 50, (2, 9))
    expected = model.run(spec, weights, ids)
    np.testing.assert_allclose(in_numpy.decoder_only(weights, ids, 4, 2), expected, atol=1e-9 * np.ptp(expected))
    cache: list[Any] = []
    pieces = [in_numpy.decoder_only(weights, piece, 4, 2, cache) for piece in np.split(ids, [4, 5], axis=1)]
    np.testing.assert_allclose(np.concatenate(pieces, axis=1), expected, atol=1e-9 * np.ptp(expected))


@pytest.fixture(scope="module")
def twins(in_torch: Any) -> tuple[Any, Any]:
    """The example's decoder and the library's, with the same weights of trained size."""
    spec = modern_decoder(**SMALL, rope_base=10000.0)
    library = build(spec).eval()
    example = in_torch.Decoder(in_torch.Config(**SMALL)).eval()
    drawn = initial.draw(spec, np.random.default_rng(3))
    weights = {name: torch.tensor(array, dtype=torch.float32) for name, array in drawn.items()}
    library.load_state_dict(weights, strict=True)
    own = {name.removeprefix("decoder.").removeprefix("embed."): weight for name, weight in weights.items()}
    example.load_state_dict(own, strict=True)
    return example, library


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5 * float(expected.max() - expected.min()))


def test_torch_decoder_equals_the_library(twins: tuple[Any, Any]) -> None:
    example, library = twins
    ids = torch.randint(50, (3, 9), generator=torch.Generator().manual_seed(4))
    with torch.inference_mode():
        close(example(ids), library(ids))


@pytest.mark.parametrize("side", ["left", "right"])
def test_torch_padding_equals_the_library(side: str, twins: tuple[Any, Any]) -> None:
    example, library = twins
    ids = torch.randint(50, (2, 8), generator=torch.Generator().manual_seed(5))
    real = torch.tensor([[True] * 8, [False] * 3 + [True] * 5 if side == "left" else [True] * 5 + [False] * 3])
    with torch.inference_mode():
        close(example(ids, real)[real], library(ids, real=real)[real])


def test_torch_cache_equals_the_library_in_pieces(in_torch: Any, twins: tuple[Any, Any]) -> None:
    example, library = twins
    ids = torch.randint(50, (2, 10), generator=torch.Generator().manual_seed(6))
    real = torch.ones_like(ids, dtype=torch.bool)
    real[1, :3] = False
    cache = in_torch.Cache(example.config, 2, 10)
    with torch.inference_mode():
        pieces = [
            example(part, seen, cache)
            for part, seen in zip(ids.split([5, 1, 4], 1), real.split([5, 1, 4], 1), strict=True)
        ]
        close(torch.cat(pieces, 1)[real], library(ids, real=real)[real])


def test_torch_gradients_are_finite_where_a_row_sees_nothing(in_torch: Any) -> None:
    example = in_torch.Decoder(in_torch.Config(**SMALL))
    ids = torch.zeros(1, 6, dtype=torch.long)
    real = torch.tensor([[False] * 2 + [True] * 4])
    example(ids, real)[real].square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in example.parameters())


def test_torch_loss_shifts_once(in_torch: Any) -> None:
    ids = torch.arange(12).view(2, 6)
    inputs, targets = in_torch.inputs_and_targets(ids)
    assert inputs.tolist() == ids[:, :-1].tolist()
    assert targets.tolist() == [[in_torch.IGNORED, 2, 3, 4, 5], [in_torch.IGNORED, 8, 9, 10, 11]]
    sure = torch.nn.functional.one_hot(targets.clamp(min=0), 12) * 50.0
    assert in_torch.loss_of(sure, targets) < 1e-6

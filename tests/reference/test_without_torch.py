"""The twin runs where NumPy is and torch is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import clearformer.reference

SCRIPT = """
import importlib, pathlib, sys
import numpy as np

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "safetensors", "tokenizers"}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, NoTorch())
root = pathlib.Path(sys.argv[1])
for file in sorted(root.rglob("*.py")):
    name = ".".join(("clearformer.reference", *file.relative_to(root).with_suffix("").parts))
    importlib.import_module(name.removesuffix(".__init__"))

from clearformer.reference.beam import beam_search
from clearformer.reference.generate import generate
from clearformer.reference.initial import draw
from clearformer.reference.model import run, translate_logits
from clearformer.spec import presets

rng = np.random.default_rng(0)
gpt = presets.tiny_gpt(width=16, heads=2, layers=1, vocabulary=11, context=16)
weights = draw(gpt, rng)
assert run(gpt, weights, np.array([[1, 2, 3]])).shape == (1, 3, 11)
assert len(generate(gpt, weights, np.array([[1, 2]]), 4)[0]) == 4
assert beam_search(gpt, weights, np.array([1, 2]), 3, end=0)
paper = presets.paper(width=16, heads=2, hidden=8, layers=1, vocabulary=11)
assert translate_logits(paper, draw(paper, rng), np.array([[1, 2]]), np.array([[3, 4, 5]])).shape == (1, 3, 11)
assert "torch" not in sys.modules
print("spoke without torch")
"""


def test_every_file_imports_and_the_models_run_without_torch() -> None:
    root = Path(clearformer.reference.__file__).parent
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(root)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "spoke without torch"

"""Activations and the logit lens of a small GPT-2 against TransformerLens (Nanda and Bloom 2022).

It wants versions of its own, and so an interpreter of its own: CLEARFORMER_TRANSFORMER_LENS names one that has it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from clearformer.inspect.capture import capture
from clearformer.inspect.lens import lens
from clearformer.load import load

IDS = [[5, 17, 60, 3, 3, 41, 99]]
OURS = {
    "embed": "blocks.0.hook_resid_pre",
    "blocks.{n}.attention.query": "blocks.{n}.attn.hook_q",
    "blocks.{n}.attention.key": "blocks.{n}.attn.hook_k",
    "blocks.{n}.attention.value": "blocks.{n}.attn.hook_v",
    "blocks.{n}.attention.weights": "blocks.{n}.attn.hook_pattern",
    "blocks.{n}.attention.heads": "blocks.{n}.attn.hook_z",
    "blocks.{n}.attention.output": "blocks.{n}.hook_attn_out",
    "blocks.{n}.attention_norm": "blocks.{n}.ln1.hook_out",
    "blocks.{n}.attention_sum": "blocks.{n}.hook_resid_mid",
    "blocks.{n}.feedforward.hidden": "blocks.{n}.mlp.hook_post",
    "blocks.{n}.feedforward.output": "blocks.{n}.hook_mlp_out",
    "blocks.{n}.output": "blocks.{n}.hook_resid_post",
}
LAYERS = 3


def interpreter() -> str:
    named = os.environ.get("CLEARFORMER_TRANSFORMER_LENS")
    if named:
        return named
    if importlib.util.find_spec("transformer_lens") is None:
        pytest.skip("TransformerLens is not installed; CLEARFORMER_TRANSFORMER_LENS may name an interpreter with it")
    return sys.executable


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    """A random GPT-2 in a folder, and what TransformerLens saw in it."""
    python, place = interpreter(), tmp_path_factory.mktemp("gpt2")
    folder, out = place / "model", place / "seen.npz"
    torch.manual_seed(0)
    config = GPT2Config(n_layer=LAYERS, n_embd=32, n_head=4, n_positions=64, vocab_size=101, initializer_range=0.3)
    GPT2LMHeadModel(config).save_pretrained(folder)
    script = Path(__file__).with_name("lens_of_gpt2.py")
    command = [python, str(script), str(folder), json.dumps(IDS), str(out)]
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONWARNINGS")}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    assert ended.returncode == 0, ended.stderr[-2000:]
    with np.load(out) as arrays:
        return folder, dict(arrays)


def test_every_activation_is_transformer_lens(theirs) -> None:
    folder, seen = theirs
    ours = capture(load(folder).model, torch.tensor(IDS))
    compared = 0
    for mine, other in OURS.items():
        for layer in range(LAYERS):
            values, expected = ours[mine.format(n=layer)].numpy(), seen[other.format(n=layer)]
            if values.ndim == 4 and expected.ndim == 4 and not mine.endswith("weights"):
                # Theirs has positions before heads.
                expected = expected.swapaxes(1, 2)
            elif values.ndim == 4 and expected.ndim == 3:
                expected = expected.reshape(*expected.shape[:2], values.shape[1], -1).swapaxes(1, 2)
            np.testing.assert_allclose(values, expected, atol=2e-5, err_msg=mine)
            compared += 1
    assert compared == len(OURS) * LAYERS


def test_the_lens_is_transformer_lens(theirs) -> None:
    folder, seen = theirs
    found = lens(load(folder).model, torch.tensor(IDS))
    probabilities = torch.from_numpy(seen["lens"])[:, 0].softmax(-1)
    assert len(probabilities) == LAYERS + 1 == len(found.layers)
    for row, shares in enumerate(probabilities):
        for position, guesses in enumerate(found.top[row]):
            for guess in guesses:
                assert guess.probability == pytest.approx(float(shares[position, guess.id]), abs=1e-5)
            if position + 1 < len(IDS[0]):
                true = float(shares[position, IDS[0][position + 1]])
                assert float(found.probability[row, position]) == pytest.approx(true, abs=1e-5)
    np.testing.assert_allclose(seen["lens"][-1], seen["logits"], atol=1e-4)

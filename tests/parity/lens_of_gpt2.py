"""Run by `test_transformer_lens` in an interpreter that has TransformerLens: a GPT-2 folder's activations as .npz."""

from __future__ import annotations

import json
import sys

import numpy as np
import torch
from transformer_lens.model_bridge import TransformerBridge
from transformers import GPT2LMHeadModel


def main(folder: str, ids: str, out: str) -> None:
    original = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    model = TransformerBridge.boot_transformers(folder, hf_model=original, device="cpu")
    with torch.no_grad():
        logits, cache = model.run_with_cache(torch.tensor(json.loads(ids)))
        states = cache.accumulated_resid(layer=-1, incl_mid=False, apply_ln=False)
        final = model.original_model.transformer.ln_f
        lens = model.original_model.lm_head(final(states))
    arrays = {name: value.numpy() for name, value in cache.items() if isinstance(value, torch.Tensor)}
    np.savez(out, logits=logits.numpy(), lens=lens.numpy(), **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""GPT-NeoX as transformers computes it, over the choices of its config; and each key that matters, planted wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, GPTNeoXForSequenceClassification, GPTNeoXModel

from clearformer.families.family import difference
from clearformer.families.gpt_neox import GPT_NEOX as FAMILY
from clearformer.spec import Rotary
from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}


def turned(share: float, **scaling: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": share, **scaling}


CHOICES: dict[str, dict[str, Any]] = {
    "parallel": {},
    "sequential": {"use_parallel_residual": False},
    "unbiased": {"attention_bias": False},
    "tied": {"tie_word_embeddings": True, "vocab_size": 97},
    "whole_heads": {"rope_parameters": turned(1.0)},
    "third_of_heads": {"hidden_size": 60, "num_attention_heads": 3, "rope_parameters": turned(0.3)},
    "gelu_tanh": {"hidden_act": "gelu_new", "use_parallel_residual": False},
    "eps": {"layer_norm_eps": 0.1},
}
SHORT = {"original_max_position_embeddings": 16}
ROPES: dict[str, dict[str, Any]] = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 2.0, **SHORT},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **SHORT},
    "longrope": {
        "rope_type": "longrope",
        "short_factor": [1.0, 1.1, 1.3, 1.7],
        "long_factor": [1.5, 2.5, 4.0, 7.0],
        **SHORT,
    },
}
MODEL = GPTNeoXForCausalLM
HEADS = [GPTNeoXModel, GPTNeoXForSequenceClassification]


class TestGPTNeoX(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.fixture(scope="module")
def stretched(save_original):
    """By kind of rope: 8 of 16 numbers a head, read past the trained 16 positions."""

    @cache
    def make(rope: str):
        trained = {"max_position_embeddings": 16} if rope == "dynamic" else {}
        shape = {"hidden_size": 64, "num_attention_heads": 4, "rope_parameters": turned(0.5, **ROPES[rope])}
        return save_original(GPTNeoXForCausalLM(GPTNeoXConfig(**SMALL | trained | shape)))

    return make


@pytest.mark.parametrize("rope", ROPES)
def test_rope_equals_transformers(stretched, load_folder, rope):
    found = stretched(rope)
    assert found.distance(load_folder(found.folder)) <= found.tolerance


@pytest.mark.parametrize("scaling", [{}, {"type": "linear", "factor": 4.0}])
@pytest.mark.parametrize("both", [False, True], ids=["first_names", "both_names"])
def test_old_rope_keys_mean_the_same(stretched, original, with_config, load_folder, scaling, both):
    found = stretched("linear") if scaling else original("third_of_heads")
    share = 0.5 if scaling else 0.3
    old = {"rope_parameters": None, "rope_scaling": scaling or None, "rotary_emb_base": 500, "rotary_pct": share}
    later = {"rope_theta": 500.0, "partial_rotary_factor": share} if both else {}
    loaded = load_folder(with_config(found.folder, old | later))
    assert loaded.spec == load_folder(found.folder).spec
    assert found.agrees(loaded)


def test_one_quarter_is_turned_where_nothing_is_said(original, with_config, load_folder):
    found = original("parallel")
    assert found.agrees(load_folder(with_config(found.folder, {"rope_parameters": None})))


@pytest.mark.parametrize("key_width", [6, 10, 14, 28, 46, 58, 96, 98, 122, 128])
def test_every_even_share_survives_writing(key_width):
    """What is written is a fraction, what is meant its product with the width, rounded down."""
    spec = FAMILY.read({**SMALL, "hidden_size": 2 * key_width, "num_attention_heads": 2, "rotary_pct": 1.0})
    block = spec.decoder.blocks[0]
    for width in range(2, key_width, 2):
        turned = replace(block, attention=replace(block.attention, position=Rotary(width=width)))
        part = replace(spec, decoder=replace(spec.decoder, blocks=(turned,) * 2))
        assert difference(FAMILY.read(FAMILY.write(part)), part) is None


def test_first_checkpoints_names(original, with_config, load_folder):
    """Buffers that only old versions kept; the head's name in the memory of new ones."""
    found = original("parallel")
    folder = with_config(found.folder, {})
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors.pop("embed_out.weight")
    for layer in range(2):
        stem = f"gpt_neox.layers.{layer}.attention"
        tensors[f"{stem}.bias"] = torch.ones(1, 1, 64, 64).tril().bool()
        tensors[f"{stem}.masked_bias"] = torch.tensor(-1e9)
        tensors[f"{stem}.rotary_emb.inv_freq"] = torch.ones(1)
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert found.agrees(load_folder(folder))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("parallel", {"vocab_size": 100}),
    ("parallel", {"hidden_size": 96}),
    ("parallel", {"intermediate_size": 87}),
    ("parallel", {"num_hidden_layers": 1}),
    ("parallel", {"num_hidden_layers": 3}),
    ("parallel", {"num_attention_heads": 3}),
    ("parallel", {"num_attention_heads": 12}),
    ("parallel", {"hidden_act": "gelu_new"}),
    ("gelu_tanh", {"hidden_act": "gelu"}),
    ("parallel", {"layer_norm_eps": 1e-3}),
    ("eps", {"layer_norm_eps": None}),
    ("parallel", {"use_parallel_residual": False}),
    ("sequential", {"use_parallel_residual": None}),
    ("parallel", {"attention_bias": False}),
    ("unbiased", {"attention_bias": None}),
    ("parallel", {"tie_word_embeddings": True}),
    ("tied", {"tie_word_embeddings": False}),
    ("whole_heads", {"rope_parameters": turned(0.5)}),
    ("whole_heads", {"rope_parameters": turned(1.0, rope_theta=510.0)}),
    ("third_of_heads", {"rope_parameters": turned(0.2)}),
    ("third_of_heads", {"rope_parameters": None, "rotary_emb_base": 500}),
    ("third_of_heads", {"rope_parameters": None, "rotary_pct": 0.3}),
    ("third_of_heads", {"rope_parameters": None, "rotary_pct": 0.3, "rope_theta": 500}),
    ("third_of_heads", {"rotary_pct": 0.2}),
    ("third_of_heads", {"rotary_emb_base": 600}),
]

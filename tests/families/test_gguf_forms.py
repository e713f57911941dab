"""GGUF metadata means the same spec as the config that it was converted from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from clearformer import spec as s
from clearformer.build import empty
from clearformer.checkpoint import weight_table
from clearformer.errors import CheckpointError
from clearformer.families import family_of, gguf_form_of
from clearformer.families.bert import BERT
from clearformer.families.gguf.bert import BERT as GGUF_BERT
from clearformer.families.gguf.gpt2 import GPT2 as GGUF_GPT2
from clearformer.families.gguf.llama import LLAMA as GGUF_LLAMA
from clearformer.families.gpt2 import GPT2
from clearformer.families.llama import LLAMA

LLAMA_KEYS: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.vocab_size": 100,
    "llama.embedding_length": 48,
    "llama.feed_forward_length": 88,
    "llama.block_count": 2,
    "llama.attention.head_count": 6,
    "llama.attention.head_count_kv": 2,
    "llama.context_length": 64,
    "llama.rope.freq_base": 500000.0,
    "llama.rope.dimension_count": 8,
    "llama.attention.layer_norm_rms_epsilon": float(np.float32(1e-5)),
}
LLAMA_CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 100,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rope_theta": 500000.0,
    "rms_norm_eps": 1e-5,
}


@dataclass
class Tensors:
    """A weight file in memory."""

    metadata: Mapping[str, object]
    held: dict[str, torch.Tensor] = field(default_factory=dict)
    path: Path = Path("model.gguf")

    def names(self) -> tuple[str, ...]:
        return tuple(self.held)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.held[name].shape)

    def dtype(self, name: str) -> torch.dtype:
        return self.held[name].dtype

    def tensor(self, name: str) -> torch.Tensor:
        return self.held[name]


def table(rows: int = 100) -> dict[str, torch.Tensor]:
    return {"token_embd.weight": torch.zeros(rows, 48)}


def config_spec(**changes: Any) -> s.Spec:
    config = {**LLAMA_CONFIG, **changes}
    return family_of(config).read(config)


def test_llama_as_its_config():
    untied = {**table(), "output.weight": torch.zeros(100, 48)}
    assert GGUF_LLAMA.read(Tensors(LLAMA_KEYS, untied)) == config_spec()
    assert GGUF_LLAMA.read(Tensors(LLAMA_KEYS, table())) == config_spec(tie_word_embeddings=True)
    without = {key: value for key, value in LLAMA_KEYS.items() if key != "llama.vocab_size"}
    assert GGUF_LLAMA.read(Tensors(without, table(77))) == config_spec(vocab_size=77, tie_word_embeddings=True)


@pytest.mark.parametrize(
    ("keys", "scaling"),
    [
        ({"llama.rope.scaling.type": "none"}, None),
        ({"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}, s.LinearScaling(4.0)),
        (
            {
                "llama.rope.scaling.type": "yarn",
                "llama.rope.scaling.factor": 4.0,
                "llama.rope.scaling.original_context_length": 16,
            },
            s.YaRN(4.0, 16),
        ),
    ],
)
def test_scaling_keys(keys, scaling):
    spec = GGUF_LLAMA.read(Tensors(LLAMA_KEYS | keys, table()))
    assert spec.decoder.blocks[0].attention.position == s.Rotary(500000.0, scaling=scaling)


def llama3_divisors(factor: float, length: int, low: float, high: float) -> torch.Tensor:
    """As llama.cpp's converter writes them, from the wavelengths of the four pairs of an 8-wide head."""
    divisors = []
    for pair in range(4):
        wavelength = 2 * np.pi * 500000.0 ** (2 * pair / 8)
        if wavelength < length / high:
            divisors.append(1.0)
        elif wavelength > length / low:
            divisors.append(factor)
        else:
            smooth = (length / wavelength - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
    return torch.tensor(divisors, dtype=torch.float32)


def test_rope_factors_are_llama3s_scaling_or_themselves():
    known = {**table(), "rope_freqs.weight": llama3_divisors(8.0, 8192, 1.0, 4.0)}
    spec = GGUF_LLAMA.read(Tensors(LLAMA_KEYS, known))
    assert spec.decoder.blocks[0].attention.position.scaling == s.Llama3Scaling(8.0, 8192, 1.0, 4.0)

    other = llama3_divisors(8.0, 100, 1.0, 3.0)
    spec = GGUF_LLAMA.read(Tensors(LLAMA_KEYS, {**table(), "rope_freqs.weight": other}))
    scaling = spec.decoder.blocks[0].attention.position.scaling
    assert isinstance(scaling, s.LongRoPE)
    assert scaling.short == scaling.long == tuple(other.double().tolist())
    assert scaling.attention_factor == 1.0
    assert LLAMA.read(LLAMA.write(spec)).decoder == spec.decoder


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"llama.expert_count": 8}, "llama.expert_used_count"),
        ({"llama.expert_count": 8, "llama.expert_used_count": 2}, "llama.expert_count"),
        ({"llama.expert_count": 8, "llama.expert_used_count": 9}, "llama.expert_used_count"),
        ({"llama.expert_count": 2**30, "llama.expert_used_count": 1}, "llama.expert_count"),
        ({"llama.expert_used_count": 2}, "llama.expert_used_count"),
        ({"llama.attention.head_count_kv": 4}, "llama.attention.head_count_kv"),
        ({"llama.rope.scaling.attn_factor": 2.0}, "llama.rope.scaling.attn_factor"),
        ({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.yarn_ext_factor": 0.5}, "yarn_ext_factor"),
        ({"llama.attention.sliding_window": 8}, "llama.attention.sliding_window"),
        ({"llama.rope.dimension_count": 4}, "llama.rope.dimension_count"),
        ({"llama.attention.value_length": 4}, "llama.attention.value_length"),
        ({"llama.embedding_length": 50}, "llama.attention.head_count"),
        ({"llama.rope.scaling.type": "longrope"}, "llama.rope.scaling.type"),
        ({"llama.block_count": [2, 2]}, "llama.block_count"),
        ({"llama.context_length": 2**40}, "llama.context_length"),
    ],
)
def test_refused_by_name(keys, named):
    with pytest.raises(CheckpointError, match=named.replace(".", r"\.")):
        GGUF_LLAMA.read(Tensors(LLAMA_KEYS | keys, table()))


@pytest.mark.parametrize("numbers", [[1.0, 1.0], [1.0, 2.0, float("nan"), 8.0], [-1.0, 0.0, 1.0, 2.0]])
def test_bad_rope_factors_are_refused(numbers):
    held = {**table(), "rope_freqs.weight": torch.tensor(numbers)}
    with pytest.raises(CheckpointError):
        GGUF_LLAMA.read(Tensors(LLAMA_KEYS, held))


def test_unknown_architecture_is_named():
    with pytest.raises(CheckpointError, match=r"gptj.*Known"):
        gguf_form_of({"general.architecture": "gptj"}, "model.gguf")


GPT2_KEYS = {
    "gpt2.embedding_length": 48,
    "gpt2.feed_forward_length": 88,
    "gpt2.block_count": 2,
    "gpt2.attention.head_count": 6,
    "gpt2.context_length": 64,
    "gpt2.attention.layer_norm_epsilon": float(np.float32(1e-5)),
}
BERT_KEYS = {
    "bert.embedding_length": 48,
    "bert.feed_forward_length": 88,
    "bert.block_count": 2,
    "bert.attention.head_count": 6,
    "bert.context_length": 64,
    "bert.attention.layer_norm_epsilon": float(np.float32(1e-12)),
    "bert.attention.causal": False,
}


def test_gpt2_and_bert_metadata():
    gpt2 = GGUF_GPT2.read(Tensors(GPT2_KEYS, table()))
    config = {"model_type": "gpt2", "vocab_size": 100, "n_embd": 48, "n_layer": 2, "n_head": 6, "n_positions": 64}
    assert gpt2 == GPT2.read(config | {"n_inner": 88})

    held = {**table(), "token_types.weight": torch.zeros(2, 48)}
    sizes = {key: LLAMA_CONFIG[key] for key in ("vocab_size", "hidden_size", "intermediate_size")}
    layers = {"num_hidden_layers": 2, "num_attention_heads": 6, "max_position_embeddings": 64}
    plain = BERT.read({"model_type": "bert", **sizes, **layers})
    assert GGUF_BERT.read(Tensors(BERT_KEYS, held)) == plain
    mean = GGUF_BERT.read(Tensors(BERT_KEYS | {"bert.pooling_type": 1}, held))
    assert (mean.encoder, mean.head) == (plain.encoder, s.Vector(s.Pooling(s.Mean())))
    with pytest.raises(CheckpointError, match="pooling_type = 4"):
        GGUF_BERT.read(Tensors(BERT_KEYS | {"bert.pooling_type": 4}, held))


@pytest.mark.parametrize(
    ("family", "form", "keys"),
    [(LLAMA, GGUF_LLAMA, LLAMA_KEYS), (GPT2, GGUF_GPT2, GPT2_KEYS), (BERT, GGUF_BERT, BERT_KEYS)],
)
def test_tables_invert_themselves(family, form, keys):
    """Random weights through each table, out and back in."""
    held = {**table(), "token_types.weight": torch.zeros(2, 48)}
    spec = form.read(Tensors(keys, held))
    generator = torch.Generator().manual_seed(0)
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(spec).named_parameters()}
    ours = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    for rows in (family.table(spec), form.table(spec)):
        foreign = weight_table.dump(rows, ours)
        again = weight_table.load(rows, Tensors({}, foreign), shapes)
        assert all(torch.equal(again[name], ours[name]) for name in ours)


MIXTRAL_KEYS = LLAMA_KEYS | {"llama.expert_count": 3, "llama.expert_used_count": 2}


def test_experts_one_by_one_are_those_that_lie_together():
    """Older files keep each expert's matrices apart: `blk.0.ffn_gate.2.weight`."""
    claimed = {f"blk.{layer}.ffn_down_exps.weight": torch.zeros(3, 48, 88) for layer in range(2)}
    spec = GGUF_LLAMA.read(Tensors(MIXTRAL_KEYS, table() | claimed))
    config = LLAMA_CONFIG | {"model_type": "mixtral", "num_local_experts": 3, "num_experts_per_tok": 2}
    assert spec == family_of(config).read(config | {"tie_word_embeddings": True})
    generator = torch.Generator().manual_seed(0)
    shapes = {name: tuple(parameter.shape) for name, parameter in empty(spec).named_parameters()}
    ours = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    rows = GGUF_LLAMA.table(spec)
    together = weight_table.dump(rows, ours)
    apart: dict[str, torch.Tensor] = {}
    for name, tensor in together.items():
        if "_exps" in name:
            stem = name.removesuffix("_exps.weight")
            apart |= {f"{stem}.{number}.weight": matrix for number, matrix in enumerate(tensor)}
        else:
            apart[name] = tensor
    assert GGUF_LLAMA.read(Tensors(MIXTRAL_KEYS, apart)) == spec
    for held in (together, apart):
        again = weight_table.load(rows, Tensors(MIXTRAL_KEYS, held), shapes)
        assert all(torch.equal(again[name], ours[name]) for name in ours)

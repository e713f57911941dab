"""Faults that converters make, planted into a saved Llama; each is made here by its own few lines, from the formula."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

Weights = dict[str, Tensor]
Config = dict[str, object]
Change = Callable[[Weights, Config], None]

HEADS, KV_HEADS, KEY_WIDTH, LAYERS = 4, 2, 12, 3
WIDTH = HEADS * KEY_WIDTH


def plant(original: Path, suspect: Path, fault: Change) -> Path:
    """A copy of the folder with the fault in its weights or its config."""
    weights, config = load_file(original / "model.safetensors"), json.loads((original / "config.json").read_text())
    fault(weights, config)
    suspect.mkdir()
    save_file({name: value.contiguous() for name, value in weights.items()}, suspect / "model.safetensors")
    (suspect / "config.json").write_text(json.dumps(config))
    return suspect


def to_pairs(rows: Tensor, heads: int) -> Tensor:
    """Two halves of each head dealt out as neighbours: row j and row j + K/2 become rows 2j and 2j + 1."""
    width = len(rows) // heads
    order = [
        head * width + half * (width // 2) + j for head in range(heads) for j in range(width // 2) for half in (0, 1)
    ]
    return rows[order]


def to_halves(rows: Tensor, heads: int) -> Tensor:
    """The inverse."""
    width = len(rows) // heads
    halves = [2 * j + half for half in (0, 1) for j in range(width // 2)]
    return rows[[head * width + row for head in range(heads) for row in halves]]


def each_layer(weights: Weights, name: str, change: Callable[[Tensor], Tensor], layers=range(LAYERS)) -> None:
    for layer in layers:
        key = f"model.layers.{layer}.{name}.weight"
        weights[key] = change(weights[key])


def pairs_for_halves(weights: Weights, config: Config) -> None:
    """GGUF's order, never undone."""
    each_layer(weights, "self_attn.q_proj", lambda rows: to_pairs(rows, HEADS))
    each_layer(weights, "self_attn.k_proj", lambda rows: to_pairs(rows, KV_HEADS))


def halves_for_pairs(weights: Weights, config: Config) -> None:
    """GGUF's order undone where it was never made."""
    each_layer(weights, "self_attn.q_proj", lambda rows: to_halves(rows, HEADS))
    each_layer(weights, "self_attn.k_proj", lambda rows: to_halves(rows, KV_HEADS))


def keys_as_many_as_queries(weights: Weights, config: Config) -> None:
    """Permuted as if there were as many key heads as query heads, and undone by the right number."""
    each_layer(weights, "self_attn.k_proj", lambda rows: to_halves(to_pairs(rows, HEADS), KV_HEADS))


def keys_undone_as_queries(weights: Weights, config: Config) -> None:
    """Permuted by the right number, and undone by that of the query heads."""
    each_layer(weights, "self_attn.k_proj", lambda rows: to_halves(to_pairs(rows, KV_HEADS), HEADS))


def dealt_heads(weights: Weights, config: Config) -> None:
    """Query heads laid out for key head h mod G."""
    order = [row * KEY_WIDTH + k for row in (0, 2, 1, 3) for k in range(KEY_WIDTH)]
    each_layer(weights, "self_attn.q_proj", lambda rows: rows[order])
    each_layer(weights, "self_attn.o_proj", lambda columns: columns[:, order])


def transposed_output(weights: Weights, config: Config) -> None:
    each_layer(weights, "self_attn.o_proj", lambda matrix: matrix.t())


def transposed_query_in_one_layer(weights: Weights, config: Config) -> None:
    each_layer(weights, "self_attn.q_proj", lambda matrix: matrix.t(), layers=[1])


def tied_head(weights: Weights, config: Config) -> None:
    """A head of its own lost on the way."""
    del weights["lm_head.weight"]
    config["tie_word_embeddings"] = True


def another_head(weights: Weights, config: Config) -> None:
    """A head that was never learnt, as where a converter initialised it anew."""
    weights["lm_head.weight"] = torch.randn(weights["lm_head.weight"].shape, generator=torch.Generator().manual_seed(1))


def norms_one_more(weights: Weights, config: Config) -> None:
    for name, value in weights.items():
        if "norm" in name:
            weights[name] = value + 1


def norms_one_less(weights: Weights, config: Config) -> None:
    for name, value in weights.items():
        if "norm" in name:
            weights[name] = value - 1


def one_norm_one_more(weights: Weights, config: Config) -> None:
    weights["model.norm.weight"] = weights["model.norm.weight"] + 1


def wrong_eps(weights: Weights, config: Config) -> None:
    config["rms_norm_eps"] = 1e-5


def wrong_base(weights: Weights, config: Config) -> None:
    config["rope_parameters"] = {"rope_type": "default", "rope_theta": 500000.0}


def wrong_scaling(weights: Weights, config: Config) -> None:
    config["rope_parameters"] = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}


def swapped_gate_and_up(weights: Weights, config: Config) -> None:
    for layer in range(LAYERS):
        gate, up = (f"model.layers.{layer}.mlp.{name}_proj.weight" for name in ("gate", "up"))
        weights[gate], weights[up] = weights[up], weights[gate]


@dataclass(frozen=True)
class Fault:
    """What is planted, the hypothesis that is to be named, and the first tensor that shows it."""

    plant: Change
    named: str
    first: str


_BLOCK = "decoder.blocks.0"
FAULTS: dict[str, Fault] = {
    "pairs for halves": Fault(pairs_for_halves, "rotary_layout", f"{_BLOCK}.attention.query"),
    "halves for pairs": Fault(halves_for_pairs, "rotary_layout", f"{_BLOCK}.attention.query"),
    "keys as many as queries": Fault(keys_as_many_as_queries, "key_permutation", f"{_BLOCK}.attention.key"),
    "keys undone as queries": Fault(keys_undone_as_queries, "key_permutation", f"{_BLOCK}.attention.key"),
    "dealt heads": Fault(dealt_heads, "gqa_order", f"{_BLOCK}.attention.query"),
    "transposed output": Fault(transposed_output, "transposed_linear", f"{_BLOCK}.attention.output"),
    "transposed query": Fault(transposed_query_in_one_layer, "transposed_linear", "decoder.blocks.1.attention.query"),
    "tied head": Fault(tied_head, "untied_head", "head.logits"),
    "another head": Fault(another_head, "untied_head", "head.logits"),
    "norms one more": Fault(norms_one_more, "norm_offset", f"{_BLOCK}.attention_norm"),
    "norms one less": Fault(norms_one_less, "norm_offset", f"{_BLOCK}.attention_norm"),
    "one norm one more": Fault(one_norm_one_more, "norm_offset", "decoder.final_norm"),
    "wrong eps": Fault(wrong_eps, "norm_eps", f"{_BLOCK}.attention_norm"),
    "wrong base": Fault(wrong_base, "rope_base", f"{_BLOCK}.attention.query_rotated"),
    "wrong scaling": Fault(wrong_scaling, "rope_base", f"{_BLOCK}.attention.query_rotated"),
    "swapped gate and up": Fault(swapped_gate_and_up, "gate_up_swapped", f"{_BLOCK}.feedforward.gate"),
}

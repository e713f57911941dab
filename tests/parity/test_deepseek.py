"""DeepSeek-V2 and V3 as transformers computes them, over the choices of their configs; each key planted wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers as hf
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from clearformer.errors import CheckpointError
from parity.decoder_checks import DecoderChecks

SMALL: dict[str, Any] = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "moe_intermediate_size": 24,
    "num_hidden_layers": 3,
    "first_k_dense_replace": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "q_lora_rank": 20,
    "kv_lora_rank": 28,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 6,
    "v_head_dim": 14,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "eos_token_id": None,
    "attn_implementation": "eager",
}
YARN = {"rope_type": "yarn", "rope_theta": 500.0, "factor": 4.0, "original_max_position_embeddings": 16}
SHARP = {"mscale": 1.0, "mscale_all_dim": 0.707}
LIMITED = {"topk_method": "group_limited_greedy", "n_group": 4, "topk_group": 2}
V2: dict[str, dict[str, Any]] = {
    "greedy": {"routed_scaling_factor": 1.5},
    "limited": {**LIMITED, "routed_scaling_factor": 16.0},
    "direct": {"q_lora_rank": None, "first_k_dense_replace": 0},
    "biases": {"attention_bias": True, "mlp_bias": True},
    "tied": {"tie_word_embeddings": True, "n_shared_experts": 1, "vocab_size": 97},
    "yarn": {"rope_parameters": {**YARN, **SHARP}},
    "eps": {"rms_norm_eps": 0.1},
}
GROUPS = {"n_group": 4, "topk_group": 2}
V3: dict[str, dict[str, Any]] = {
    "groups": GROUPS,
    "one_group": {"n_group": 1, "topk_group": 1, "n_shared_experts": 1},
    "unnormalised": {"n_group": 2, "topk_group": 1, "norm_topk_prob": False, "routed_scaling_factor": 1.5},
    "halves": {"n_group": 4, "topk_group": 2, "rope_interleave": False, "q_lora_rank": None},
    "biases": {"n_group": 4, "topk_group": 3, "attention_bias": True, "vocab_size": 97},
    "yarn": {"n_group": 4, "topk_group": 2, "rope_parameters": {**YARN, **SHARP}},
    "half_yarn": {"n_group": 4, "topk_group": 2, "rope_parameters": {**YARN, "mscale_all_dim": 1.0}},
    "linear": {"n_group": 4, "topk_group": 2, "rope_parameters": {"rope_type": "linear", "factor": 3.0}},
}
CHOICES = {f"V2 {name}": (hf.DeepseekV2ForCausalLM, changes) for name, changes in V2.items()}
CHOICES |= {f"V3 {name}": (hf.DeepseekV3ForCausalLM, changes) for name, changes in V3.items()}
HEADS = [
    (hf.DeepseekV2Model, {}),
    (hf.DeepseekV3Model, GROUPS),
    (hf.DeepseekV3ForSequenceClassification, GROUPS),
]
SPEAKING = ["V2 limited", "V2 direct", "V3 groups", "V3 yarn"]


class TestDeepSeek(DecoderChecks):
    """Every check of the frame, over these tables."""


@pytest.mark.parametrize("choice", CHOICES)
def test_no_expert_is_chosen_otherwise_in_float64(original, choice):
    """Or the noise floor would hide everything."""
    found = original(choice)
    assert found.tolerance < 1e-4 * float(found.answer.max() - found.answer.min())


@pytest.mark.parametrize("choice", ["V2 yarn", "V3 yarn"])
def test_published_rope_keys_mean_the_same(original, with_config, load_folder, choice):
    found = original(choice)
    scaling = {"type": "yarn", "factor": 4, "original_max_position_embeddings": 16, **SHARP}
    old = {"rope_parameters": None, "rope_theta": 500, "rope_scaling": scaling}
    loaded = load_folder(with_config(found.folder, old))
    assert loaded.spec == load_folder(found.folder).spec
    assert found.agrees(loaded)


@pytest.mark.parametrize("choice", ["V2 limited", "V3 groups"])
def test_experts_are_read_alone_and_stacked(original, load_folder, tmp_path, choice):
    """The Hub holds each expert's matrices alone; what transformers keeps in memory can be saved as it stands."""
    found = original(choice)
    found.model.save_pretrained(tmp_path / "stacked", save_original_format=False)
    stacked, alone = names_in(tmp_path / "stacked"), names_in(found.folder)
    assert "model.layers.1.mlp.experts.gate_up_proj" in stacked - alone
    assert "model.layers.1.mlp.experts.7.gate_proj.weight" in alone - stacked
    assert found.agrees(load_folder(tmp_path / "stacked"))


def names_in(folder):
    with safe_open(folder / "model.safetensors", "pt") as file:
        return set(file.keys())


def test_the_layer_behind_the_last_of_v3_is_passed_over(save_original, with_config, load_folder):
    tiny = {"hidden_size": 16, "intermediate_size": 8, "moe_intermediate_size": 4, "kv_lora_rank": 4, "q_lora_rank": 4}
    deep = {"num_hidden_layers": 61, "first_k_dense_replace": 60, "n_routed_experts": 4, "n_group": 1, "topk_group": 1}
    found = save_original(hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(**SMALL | tiny | deep)))
    folder = with_config(found.folder, {"num_nextn_predict_layers": 1})
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    further = {"model.layers.61.eh_proj.weight": torch.ones(16, 32), "model.layers.61.enorm.weight": torch.ones(16)}
    save_file(tensors | further, folder / "model.safetensors", {"format": "pt"})
    assert found.distance(load_folder(folder)) <= found.tolerance
    with pytest.raises(CheckpointError, match=r"model\.layers\.60"):
        load_folder(with_config(folder, {"num_hidden_layers": 60}))


def test_of_a_shallower_model_nothing_is_passed_over(original, with_config, load_folder):
    folder = with_config(original("V3 groups").folder, {})
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    save_file(tensors | {"model.layers.61.enorm.weight": torch.ones(48)}, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"model\.layers\.61"):
        load_folder(folder)


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("V2 greedy", {"vocab_size": 100}),
    ("V2 greedy", {"hidden_size": 96}),
    ("V2 greedy", {"intermediate_size": 87}),
    ("V2 greedy", {"moe_intermediate_size": 23}),
    ("V2 greedy", {"num_hidden_layers": 2}),
    ("V2 greedy", {"first_k_dense_replace": 2}),
    ("V2 greedy", {"first_k_dense_replace": 0}),
    ("V2 greedy", {"num_attention_heads": 2, "num_key_value_heads": 2}),
    ("V2 greedy", {"num_key_value_heads": 2}),
    ("V2 greedy", {"q_lora_rank": None}),
    ("V2 greedy", {"kv_lora_rank": 30, "qk_rope_head_dim": 4, "head_dim": None, "qk_head_dim": None}),
    ("V2 greedy", {"qk_nope_head_dim": 14, "v_head_dim": 10, "qk_head_dim": None}),
    ("V2 greedy", {"n_routed_experts": 9}),
    ("V2 greedy", {"n_shared_experts": 1}),
    ("V2 greedy", {"num_experts_per_tok": 2}),
    ("V2 greedy", {"routed_scaling_factor": None}),
    ("V2 greedy", LIMITED),
    ("V2 greedy", {"norm_topk_prob": True}),
    ("V2 greedy", {"scoring_func": "sigmoid"}),
    ("V2 greedy", {"hidden_act": "gelu"}),
    ("V2 greedy", {"rms_norm_eps": 1e-3}),
    ("V2 greedy", {"tie_word_embeddings": True}),
    ("V2 greedy", {"attention_bias": True}),
    ("V2 greedy", {"moe_layer_freq": 2}),
    ("V2 greedy", {"rope_parameters": {"rope_type": "default", "rope_theta": 9000.0}}),
    ("V2 limited", {"n_group": 2}),
    ("V2 limited", {"topk_group": 3}),
    ("V2 limited", {"topk_method": None}),
    ("V2 biases", {"mlp_bias": False}),
    ("V2 biases", {"attention_bias": False}),
    ("V2 eps", {"rms_norm_eps": None}),
    ("V2 tied", {"tie_word_embeddings": None}),
    ("V2 yarn", {"rope_parameters": {**YARN, **SHARP, "mscale": 0.9}}),
    ("V2 yarn", {"rope_parameters": {**YARN, **SHARP, "mscale_all_dim": 0.6}}),
    ("V2 yarn", {"rope_parameters": {**YARN, **SHARP, "factor": 4.1}}),
    ("V3 groups", {"n_group": 2}),
    ("V3 groups", {"topk_group": 3}),
    ("V3 groups", {"norm_topk_prob": False}),
    ("V3 groups", {"routed_scaling_factor": 2.4}),
    ("V3 groups", {"rope_interleave": False}),
    ("V3 groups", {"topk_method": "greedy"}),
    ("V3 groups", {"scoring_func": "softmax"}),
    ("V3 halves", {"rope_interleave": None}),
    ("V3 unnormalised", {"norm_topk_prob": None}),
    ("V3 one_group", {"n_group": 2}),
    ("V3 yarn", {"rope_parameters": {**YARN, **SHARP, "mscale_all_dim": 1.0}}),
    ("V3 half_yarn", {"rope_parameters": YARN}),
    ("V3 half_yarn", {"rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}}),
]

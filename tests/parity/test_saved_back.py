"""What we load and save again, transformers loads: same config meaning, no tensor missing or left over, same logits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BloomConfig,
    BloomForCausalLM,
    BloomModel,
    DeepseekV2Config,
    DeepseekV2ForCausalLM,
    DeepseekV3Config,
    DeepseekV3ForCausalLM,
    DeepseekV3Model,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    GPTNeoXForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    MptConfig,
    MptForCausalLM,
)

from clearformer.checkpoint import weight_table
from clearformer.checkpoint.writing import save_folder
from clearformer.families import family_for
from clearformer.families.generation import token_keys

LLAMA = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
GPT2 = {"vocab_size": 101, "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 64, "eos_token_id": 0}
BERT = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
NEOX = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
MPT = {"vocab_size": 101, "d_model": 48, "n_layers": 2, "n_heads": 6, "max_seq_len": 64}
LATENT = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "moe_intermediate_size": 24,
    "num_hidden_layers": 2,
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
    "n_group": 4,
    "topk_group": 2,
    "max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
HALF_YARN = YARN | {"partial_rotary_factor": 0.5}
MODELS: dict[str, tuple[Any, Any]] = {
    "llama": (LlamaForCausalLM, LlamaConfig(**LLAMA, head_dim=12, attention_bias=True, rope_parameters=YARN)),
    "llama_tied": (LlamaForCausalLM, LlamaConfig(**LLAMA, tie_word_embeddings=True, mlp_bias=True)),
    "llama_labels": (LlamaForSequenceClassification, LlamaConfig(**LLAMA, num_labels=4)),
    "gpt2": (GPT2LMHeadModel, GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True)),
    "gpt2_untied": (GPT2LMHeadModel, GPT2Config(**GPT2, tie_word_embeddings=False, scale_attn_weights=False)),
    "gpt2_headless": (GPT2Model, GPT2Config(**GPT2, n_inner=80)),
    "bert": (BertModel, BertConfig(**BERT)),
    "bert_masked": (BertForMaskedLM, BertConfig(**BERT, hidden_act="gelu_new")),
    "bert_untied": (BertForMaskedLM, BertConfig(**BERT, tie_word_embeddings=False)),
    "bert_labels": (BertForSequenceClassification, BertConfig(**BERT, num_labels=3)),
    "gpt_neox": (GPTNeoXForCausalLM, GPTNeoXConfig(**NEOX, attention_bias=False)),
    "gpt_neox_tied": (
        GPTNeoXForCausalLM,
        GPTNeoXConfig(**NEOX, tie_word_embeddings=True, use_parallel_residual=False, rope_parameters=HALF_YARN),
    ),
    "gpt_neox_labels": (GPTNeoXForSequenceClassification, GPTNeoXConfig(**NEOX, num_labels=4)),
    "bloom": (BloomForCausalLM, BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=6)),
    "bloom_untied": (
        BloomForCausalLM,
        BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=6, tie_word_embeddings=False),
    ),
    "bloom_headless": (BloomModel, BloomConfig(vocab_size=101, hidden_size=48, n_layer=2, n_head=8)),
    "mpt": (MptForCausalLM, MptConfig(**MPT, attn_config={"softmax_scale": 0.3})),
    "mpt_untied": (MptForCausalLM, MptConfig(**MPT, tie_word_embeddings=False)),
    "deepseek_v2": (
        DeepseekV2ForCausalLM,
        DeepseekV2Config(**LATENT, topk_method="group_limited_greedy", mlp_bias=True, rope_parameters=YARN),
    ),
    "deepseek_v2_greedy": (
        DeepseekV2ForCausalLM,
        DeepseekV2Config(**LATENT | {"q_lora_rank": None}, attention_bias=True, tie_word_embeddings=True),
    ),
    "deepseek_v3": (DeepseekV3ForCausalLM, DeepseekV3Config(**LATENT, rope_parameters=YARN | {"mscale_all_dim": 0.9})),
    "deepseek_v3_headless": (
        DeepseekV3Model,
        DeepseekV3Config(**LATENT | {"n_group": 1, "topk_group": 1}, rope_interleave=False, norm_topk_prob=False),
    ),
}


# Parameters that the answer does not depend on.
UNUSED = {"bert": {"pooler.dense.weight", "pooler.dense.bias"}, "bert_untied": {"cls.predictions.bias"}}


@pytest.mark.parametrize("name", MODELS)
def test_transformers_loads_what_we_save(save_original, load_folder, tmp_path, name):
    kind, config = MODELS[name]
    found = save_original(kind(config))
    ours = load_folder(found.folder)
    family, written = family_for(ours.spec)
    tensors = weight_table.dump(family.table(ours.spec), dict(ours.model.named_parameters()))
    save_folder(tmp_path / "saved", written | token_keys(ours.generation), tensors)

    again, report = kind.from_pretrained(tmp_path / "saved", output_loading_info=True, attn_implementation="eager")
    assert set(report["missing_keys"]) <= UNUSED.get(name, set())
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    again.eval()
    weights = dict(again.named_parameters())
    for key, value in found.model.named_parameters():
        assert key in UNUSED.get(name, set()) or torch.equal(weights[key], value)
    extra = {"token_type_ids": found.batch.segments} if family.model_type == "bert" else {}
    with torch.no_grad():
        output = again(found.batch.ids, attention_mask=found.batch.real.long(), **extra)
    answer = output.logits if "logits" in output else output.last_hidden_state
    difference = (answer - found.answer).abs()
    assert float((difference[found.batch.real] if difference.dim() == 3 else difference).max()) <= found.tolerance

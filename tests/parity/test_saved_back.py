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
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    Gemma3TextModel,
    GemmaConfig,
    GemmaForCausalLM,
    GemmaForSequenceClassification,
    Glm4Config,
    Glm4ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    Olmo2Config,
    Olmo2ForCausalLM,
    Olmo2Model,
    Phi3Config,
    Phi3ForCausalLM,
    SmolLM3Config,
    SmolLM3ForCausalLM,
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
YARN = {"rope_type": "yarn", "rope_theta": 1e3, "factor": 4.0, "original_max_position_embeddings": 16}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.2, 1.5], "long_factor": [2.0, 3.0, 5.0]}
BY_KIND = {"full_attention": YARN, "sliding_attention": {"rope_type": "linear", "rope_theta": 1e2, "factor": 2.0}}
# Three layers, one of them local; a sequence is longer than the window.
SLIDING = LLAMA | {
    "num_hidden_layers": 3,
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
    "sliding_window": 8,
}
HALF = {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}
MODELS: dict[str, tuple[Any, Any]] = {
    "llama": (LlamaForCausalLM, LlamaConfig(**LLAMA, head_dim=12, attention_bias=True, rope_parameters=YARN)),
    "llama_tied": (LlamaForCausalLM, LlamaConfig(**LLAMA, tie_word_embeddings=True, mlp_bias=True)),
    "llama_labels": (LlamaForSequenceClassification, LlamaConfig(**LLAMA, num_labels=4)),
    "gpt2": (GPT2LMHeadModel, GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True)),
    "gpt2_untied": (GPT2LMHeadModel, GPT2Config(**GPT2, tie_word_embeddings=False, scale_attn_weights=False)),
    "gpt2_headless": (GPT2Model, GPT2Config(**GPT2, n_inner=80)),
    "gemma": (GemmaForCausalLM, GemmaConfig(**LLAMA, head_dim=16, attention_bias=True, rope_parameters=YARN)),
    "gemma_labels": (GemmaForSequenceClassification, GemmaConfig(**LLAMA, head_dim=8, num_labels=1)),
    "gemma2": (Gemma2ForCausalLM, Gemma2Config(**SLIDING, head_dim=16, query_pre_attn_scalar=24)),
    "gemma2_uncapped": (
        Gemma2ForCausalLM,
        Gemma2Config(**SLIDING, head_dim=8, attn_logit_softcapping=None, final_logit_softcapping=None),
    ),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig(**SLIDING, head_dim=16, final_logit_softcapping=5.0)),
    "gemma3_scaled": (Gemma3ForCausalLM, Gemma3TextConfig(**SLIDING, head_dim=12, rope_parameters=BY_KIND)),
    "gemma3_both_ways": (Gemma3TextModel, Gemma3TextConfig(**SLIDING, head_dim=8, use_bidirectional_attention=True)),
    "olmo2": (Olmo2ForCausalLM, Olmo2Config(**LLAMA, attention_bias=True, tie_word_embeddings=True)),
    "olmo2_headless": (Olmo2Model, Olmo2Config(**LLAMA, rope_parameters=YARN)),
    "phi3": (
        Phi3ForCausalLM,
        Phi3Config(
            **LLAMA,
            rope_parameters={**LONG, "rope_theta": 1e3, "partial_rotary_factor": 0.75},
            original_max_position_embeddings=16,
            sliding_window=9,
        ),
    ),
    "phi3_half": (Phi3ForCausalLM, Phi3Config(**LLAMA, rope_parameters=HALF, tie_word_embeddings=True)),
    "smollm3": (SmolLM3ForCausalLM, SmolLM3Config(**SLIDING, use_sliding_window=True, no_rope_layers=[0, 1, 0])),
    "smollm3_untied": (
        SmolLM3ForCausalLM,
        SmolLM3Config(**LLAMA, no_rope_layer_interval=2, mlp_bias=True, attention_bias=True, tie_word_embeddings=False),
    ),
    "glm4": (Glm4ForCausalLM, Glm4Config(**LLAMA, head_dim=12, attention_bias=True)),
    "glm4_whole": (Glm4ForCausalLM, Glm4Config(**LLAMA, head_dim=8, attention_bias=False, partial_rotary_factor=1.0)),
    "bert": (BertModel, BertConfig(**BERT)),
    "bert_masked": (BertForMaskedLM, BertConfig(**BERT, hidden_act="gelu_new")),
    "bert_untied": (BertForMaskedLM, BertConfig(**BERT, tie_word_embeddings=False)),
    "bert_labels": (BertForSequenceClassification, BertConfig(**BERT, num_labels=3)),
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

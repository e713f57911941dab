"""Configs are read strictly: what is unknown, contradictory or beyond the spec is an error that names the key."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.errors import CheckpointError
from clearformer.families import FAMILIES, PUBLISHED, family_for, family_of
from clearformer.spec.presets import tiny_gpt, transformer_base

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 100,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "rope_theta": 10000.0,
}
GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "vocab_size": 100,
    "n_embd": 48,
    "n_layer": 2,
    "n_head": 6,
    "n_positions": 64,
}
BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 100,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
}
MISTRAL: dict[str, Any] = LLAMA | {"model_type": "mistral", "architectures": ["MistralForCausalLM"]}
MIXTRAL: dict[str, Any] = LLAMA | {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"]}
QWEN2: dict[str, Any] = LLAMA | {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
QWEN3_MOE: dict[str, Any] = LLAMA | {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "moe_intermediate_size": 24,
}
SLIDES, SEES_ALL = "sliding_attention", "full_attention"
WINDOW = {"use_sliding_window": True, "sliding_window": 16}
LINEAR = {"rope_type": "linear", "factor": 2.0}
LABELS = BERT | {"architectures": ["BertForSequenceClassification"]}
LONG = {"rope_type": "longrope", "short_factor": [1.0], "long_factor": "x"}
ORIGINAL = "original_max_position_embeddings"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}


def read(config: dict[str, Any]) -> s.Spec:
    return family_of(config).read(config)


@pytest.mark.parametrize("config", [LLAMA, MISTRAL, MIXTRAL, QWEN2, QWEN3_MOE, GPT2, BERT])
def test_plain_configs_are_read(config):
    read(config)


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        # unknown
        (LLAMA, {"sliding_window": 16}, ["sliding_window", "16"]),
        (LLAMA, {"hiden_act": "silu"}, ["hiden_act", "Did you mean hidden_act?"]),
        (LLAMA, {"quantization_config": {"bits": 4}}, ["quantization_config"]),
        (LLAMA, {"rope_scaling": {"type": "linear", "factor": 2.0, "beta": 3}}, ["rope_scaling.beta"]),
        (GPT2, {"n_ctxx": 64}, ["n_ctxx"]),
        # contradictory
        (LLAMA, {"hidden_size": 50}, ["hidden_size", "num_attention_heads"]),
        (LLAMA, {"num_key_value_heads": 4}, ["num_attention_heads", "num_key_value_heads"]),
        (LLAMA, {"rope_scaling": LINEAR, "rope_parameters": YARN}, ["rope_scaling", "rope_parameters"]),
        (LLAMA, {"rope_parameters": {"rope_type": "default", "rope_theta": 5.0}}, ["rope_theta", "5.0", "10000.0"]),
        (LLAMA, {"rope_scaling": {"rope_type": "linear", "type": "dynamic", "factor": 2.0}}, ["rope_type", "type"]),
        (LLAMA, {"rope_parameters": YARN, ORIGINAL: 32}, [ORIGINAL, "32"]),
        (GPT2, {"n_embd": 50}, ["n_embd", "n_head"]),
        (GPT2, {"n_ctx": 128}, ["n_ctx", "128", "64"]),
        (BERT, {"hidden_size": 50}, ["hidden_size", "num_attention_heads"]),
        (LABELS, {"num_labels": 3, "id2label": {"0": "a"}}, ["num_labels", "id2label"]),
        (QWEN2, {"layer_types": [SLIDES, SEES_ALL]}, ["layer_types", "use_sliding_window"]),
        (QWEN2, {**WINDOW, "sliding_window": None, "layer_types": [SLIDES] * 2}, ["layer_types", "sliding_window"]),
        (QWEN2, {**WINDOW, "layer_types": [SLIDES]}, ["layer_types", "num_hidden_layers"]),
        (MIXTRAL, {"num_local_experts": 4, "num_experts": 5}, ["num_local_experts", "4", "num_experts", "5"]),
        # beyond the spec
        (MISTRAL, {"layer_types": [SLIDES] * 2}, ["layer_types"]),
        (QWEN2, {**WINDOW, "layer_types": [SLIDES, "chunked_attention"]}, ["layer_types", "chunked_attention"]),
        (QWEN2, {"attention_bias": True}, ["attention_bias"]),
        (LLAMA, {"pretraining_tp": 2}, ["pretraining_tp", "2"]),
        (LLAMA, {"hidden_act": "relu2"}, ["hidden_act", "relu2"]),
        (LLAMA, {"rope_scaling": {"rope_type": "mrope"}}, ["rope_scaling.rope_type", "mrope"]),
        (LLAMA, {"architectures": ["LlamaForTokenClassification"]}, ["LlamaForTokenClassification"]),
        (GPT2, {"add_cross_attention": True}, ["add_cross_attention"]),
        (BERT, {"position_embedding_type": "relative_key"}, ["position_embedding_type", "relative_key"]),
        (BERT, {"is_decoder": True}, ["is_decoder"]),
        # not values at all
        (LLAMA, {"num_hidden_layers": "2"}, ["num_hidden_layers", "whole number"]),
        (LLAMA, {"num_hidden_layers": 2.0}, ["num_hidden_layers"]),
        (LLAMA, {"num_hidden_layers": True}, ["num_hidden_layers", "true"]),
        (LLAMA, {"num_hidden_layers": 10**9}, ["num_hidden_layers", "1024"]),
        (LLAMA, {"hidden_size": 10**400}, ["hidden_size", "bits"]),
        (LLAMA, {"vocab_size": 0}, ["vocab_size"]),
        (LLAMA, {"rms_norm_eps": float("nan")}, ["rms_norm_eps", "finite"]),
        (LLAMA, {"rope_theta": 10**400}, ["rope_theta"]),
        (LLAMA, {"attention_bias": 1}, ["attention_bias", "true or false"]),
        (LLAMA, {"rope_scaling": [1]}, ["rope_scaling", "an object"]),
        (LLAMA, {"rope_scaling": LONG}, ["long_factor"]),
        (LLAMA, {"architectures": "LlamaForCausalLM "}, ["LlamaForCausalLM "]),
        (LLAMA, {"architectures": [["LlamaForCausalLM"]]}, ["architectures"]),
        (MISTRAL, {"sliding_window": "x"}, ["sliding_window", "whole number"]),
        (QWEN2, {**WINDOW, "layer_types": SLIDES}, ["layer_types", "a list"]),
        (QWEN3_MOE, {"mlp_only_layers": [True]}, ["mlp_only_layers", "a list of whole numbers"]),
        (QWEN3_MOE, {"mlp_only_layers": 1}, ["mlp_only_layers", "a list of whole numbers"]),
        # impossible
        (MIXTRAL, {"num_local_experts": 2, "num_experts_per_tok": 3}, ["3", "2"]),
        (LLAMA, {"head_dim": 7}, ["7"]),
        (LLAMA, {"rope_scaling": {"rope_type": "linear", "factor": -2.0}}, ["factor", "-2.0"]),
        (LLAMA, {"attention_dropout": 1.5}, ["dropout", "1.5"]),
        (LLAMA, {"rope_theta": 0.0}, ["base", "0.0"]),
    ],
)  # fmt: skip
def test_refused_by_name(config, changes, named):
    with pytest.raises(CheckpointError) as caught:
        read({**config, **changes})
    for word in named:
        assert word in str(caught.value)
    assert caught.value.cause("zh") != caught.value.cause("en")


def test_a_null_window_is_none_and_an_absent_one_the_familys_own():
    def window(config: dict[str, Any]) -> int | None:
        return read(config).decoder.blocks[1].attention.visibility.window

    on = {"use_sliding_window": True, "max_window_layers": 1}
    assert [window(each) for each in (MISTRAL, MIXTRAL, QWEN2, QWEN2 | on)] == [4096, None, None, 4096]
    assert [window(each | on | {"sliding_window": None}) for each in (QWEN2, QWEN3_MOE)] == [None, None]
    assert window(MISTRAL | {"sliding_window": None}) is None
    assert read(QWEN2 | on).decoder.blocks[0].attention.visibility == s.Causal()


@pytest.mark.parametrize(("config", "absent"), [(LLAMA, 6), (MISTRAL, 8), (QWEN3_MOE, 4), (QWEN2, 32)])
def test_null_groups_are_one_a_head_and_absent_ones_the_familys_own(config, absent):
    heads = {"num_attention_heads": absent, "hidden_size": absent * 8, "head_dim": 8}
    lacking = {key: value for key, value in config.items() if key != "num_key_value_heads"}
    assert read(lacking | heads).decoder.blocks[0].attention.kv_heads == absent
    twice = heads | {"num_attention_heads": 2 * absent}
    found = read(lacking | twice | {"num_key_value_heads": None}).decoder.blocks[0].attention.kv_heads
    assert found == 2 * absent


@pytest.mark.parametrize("key", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"])
def test_missing_sizes_are_named(key):
    with pytest.raises(CheckpointError, match=key):
        read({name: value for name, value in LLAMA.items() if name != key})


def test_unknown_type_names_the_nearest_and_all():
    with pytest.raises(CheckpointError) as caught:
        family_of({"model_type": "lama"})
    for word in ("lama", "Did you mean llama?", *(family.model_type for family in FAMILIES)):
        assert word in str(caught.value)
    for wrong in ({}, {"model_type": None}, {"model_type": ["llama"]}, {"model_type": "x" * 10_000}):
        with pytest.raises(CheckpointError):
            family_of(wrong)


@pytest.mark.parametrize(
    "scaling",
    [
        None,
        s.LinearScaling(3.0),
        s.DynamicNTK(2.0, 64),
        s.YaRN(4.0, 16),
        s.YaRN(4.0, 16, 8.0, 2.0, 1.3, False),
        s.Llama3Scaling(8.0, 32),
        s.LongRoPE((1.0, 2.0, 3.0, 4.0), (2.0, 3.0, 4.0, 5.0), 32, 1.2),
    ],
)
def test_every_rope_is_written_and_read_back(scaling):
    norm, attention = s.RMSNorm(), s.Attention(6, 2, 8, 8, position=s.Rotary(500.0, scaling=scaling))
    block = s.Block(attention, s.Gated(88), norm, norm)
    context = 128 if isinstance(scaling, s.DynamicNTK) else 64  # Dynamic NTK alone writes the trained length.
    spec = s.DecoderOnly(s.Stack(48, s.Tokens(100), (block,) * 2, norm), s.Language(False), context)
    family, config = family_for(spec)
    assert family.model_type == "llama"
    assert family.read(config).decoder == spec.decoder


def test_the_family_of_a_spec():
    assert family_for(tiny_gpt())[0].model_type == "gpt2"
    assert family_for(transformer_base())[0].model_type == "clearformer"
    with pytest.raises(CheckpointError, match=r"in the way: marian \(.*, bart \("):
        family_for(transformer_base(), PUBLISHED)


def test_what_a_family_cannot_say_is_named():
    gpt = tiny_gpt()
    block = s.Block(
        gpt.decoder.blocks[0].attention, s.Dense(512, "gelu_tanh", bias=False), s.LayerNorm(), s.LayerNorm()
    )
    spec = s.DecoderOnly(s.Stack(128, gpt.decoder.input, (block,) * 4, s.LayerNorm()), s.Language(), 256)
    with pytest.raises(CheckpointError, match=r"spec\.decoder\.blocks\[0\]\.feedforward\.bias"):
        next(family for family in FAMILIES if family.model_type == "gpt2").write(spec)


@pytest.mark.parametrize("config", [LLAMA, GPT2, BERT])
def test_every_key_in_turn_replaced_by_nonsense(config):
    """Whatever stands in a config, the answer is a spec or a CheckpointError."""
    keys = [*config, "rope_scaling", "rope_parameters", "id2label", "n_inner", "tie_word_embeddings", "head_dim"]
    for key in keys:
        for value in (None, True, -1, 0, 1e308, float("inf"), "", "x", [], [1], {}, {"rope_type": "yarn"}, 10**30):
            try:
                read({**config, key: value})
            except CheckpointError:
                continue

"""Configs that choose layer by layer, or turn part of a head: what contradicts itself or exceeds the spec is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clearformer import spec as s
from clearformer.errors import CheckpointError
from clearformer.families import PUBLISHED, family_for, family_of

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
GEMMA = SIZES | {"model_type": "gemma", "head_dim": 16}
GEMMA2 = SIZES | {"model_type": "gemma2", "head_dim": 16}
GEMMA3 = SIZES | {"model_type": "gemma3_text", "head_dim": 16}
OLMO2 = SIZES | {"model_type": "olmo2"}
PHI3 = SIZES | {"model_type": "phi3"}
SMOLLM3 = SIZES | {"model_type": "smollm3"}
GLM4 = SIZES | {"model_type": "glm4", "head_dim": 16}
ALL = [GEMMA, GEMMA2, GEMMA3, OLMO2, PHI3, SMOLLM3, GLM4]
LOCAL, GLOBAL = "sliding_attention", "full_attention"
ORIGINAL, PART = "original_max_position_embeddings", "partial_rotary_factor"
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}
LINEAR = {"rope_type": "linear", "factor": 2.0}
YARN = {"rope_type": "yarn", "factor": 2.0, ORIGINAL: 32}


def read(config: dict[str, Any]) -> s.Spec:
    return family_of(config).read(config)


@pytest.mark.parametrize("config", ALL, ids=lambda config: config["model_type"])
def test_sizes_alone_are_read(config):
    """What is left out has a default; what is read is written, and says the same."""
    spec = read(config)
    assert family_for(spec, [family_of(config)])[1]["num_hidden_layers"] == 2


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        (GEMMA, {"hidden_act": "silu", "hidden_activation": "gelu"}, ["hidden_act", "hidden_activation"]),
        (GEMMA, {"use_bidirectional_attention": True}, ["use_bidirectional_attention"]),
        (GEMMA, {PART: 0.5}, [PART]),
        (GEMMA, {"sliding_window": 8}, ["sliding_window"]),
        (GEMMA, {"layer_types": [GLOBAL] * 2}, ["layer_types"]),
        (GEMMA2, {"hidden_size": 50}, ["hidden_size", "num_attention_heads"]),
        (GEMMA2, {"layer_types": [GLOBAL] * 3}, ["num_hidden_layers", "layer_types", "3"]),
        (GEMMA2, {"layer_types": [GLOBAL, "linear_attention"]}, ["layer_types", "linear_attention"]),
        (GEMMA2, {"layer_types": [GLOBAL, ["x"]]}, ["layer_types"]),
        (GEMMA2, {"layer_types": LOCAL}, ["layer_types"]),
        (GEMMA2, {"sliding_window": None}, ["sliding_window", "null"]),
        (GEMMA2, {"query_pre_attn_scalar": 25.5}, ["query_pre_attn_scalar"]),
        (GEMMA2, {"final_logit_softcapping": -1.0}, ["cap", "-1.0"]),
        (GEMMA2, {"rope_local_base_freq": 1e4}, ["rope_local_base_freq"]),
        (GEMMA3, {"attn_logit_softcapping": 50.0}, ["attn_logit_softcapping", "50.0"]),
        (GEMMA3, {"sliding_window_pattern": 1, "layer_types": [LOCAL] * 2}, ["layer_types", "sliding_window_pattern"]),
        (GEMMA3, {"_sliding_window_pattern": 3}, ["_sliding_window_pattern"]),
        (GEMMA3, {"rope_parameters": LINEAR}, ["rope_parameters.rope_type"]),
        (GEMMA3, {"rope_parameters": {LOCAL: {**LINEAR, "beta": 1}}}, [f"rope_parameters.{LOCAL}.beta"]),
        (GEMMA3, {"rope_parameters": {LOCAL: {"rope_theta": 5.0}}, "rope_local_base_freq": 6.0}, ["5.0", "6.0"]),
        (GEMMA3, {"rope_parameters": {GLOBAL: YARN}, "rope_scaling": LINEAR}, ["rope_scaling"]),
        (GEMMA3, {"rope_parameters": {GLOBAL: {**YARN, "truncate": False}}}, ["truncate"]),
        (GEMMA3, {"rope_parameters": {GLOBAL: {PART: 0.5}}}, [PART]),
        (OLMO2, {"clip_qkv": 8.0}, ["clip_qkv"]),
        (OLMO2, {"num_attention_heads": 5}, ["hidden_size", "num_attention_heads"]),
        (PHI3, {"head_dim": 16}, ["head_dim", "16"]),
        (PHI3, {"rope_scaling": LINEAR}, ["rope_scaling.rope_type", "linear"]),
        (PHI3, {"rope_scaling": {**LONG, ORIGINAL: 32}}, [ORIGINAL, "4096"]),
        (PHI3, {"rope_scaling": LONG, PART: 0.5}, ["4", "2"]),
        (PHI3, {"rope_parameters": {PART: 0.5}, PART: 0.75}, [PART, "0.75"]),
        (GLM4, {"rope_parameters": {PART: 1.0}, "rope_scaling": {PART: 0.5}}, ["rope_parameters", "rope_scaling"]),
        (PHI3, {PART: 1.5}, [PART, "1.5"]),
        (PHI3, {PART: 1e308}, [PART]),
        (PHI3, {PART: 0.4}, ["3"]),
        (PHI3, {"mlp_bias": True}, ["mlp_bias"]),
        (SMOLLM3, {"no_rope_layers": [1]}, ["num_hidden_layers", "no_rope_layers"]),
        (SMOLLM3, {"no_rope_layers": [1, 2]}, ["no_rope_layers"]),
        (SMOLLM3, {"no_rope_layers": [1, True]}, ["no_rope_layers"]),
        (SMOLLM3, {"layer_types": [LOCAL] * 2, "sliding_window": 8}, ["layer_types", "use_sliding_window"]),
        (SMOLLM3, {"layer_types": [LOCAL] * 2, "use_sliding_window": True}, ["sliding_window"]),
        (GLM4, {PART: 0.1}, ["1"]),
        (GLM4, {"rope_scaling": {"rope_type": "mrope"}}, ["mrope"]),
    ],
)  # fmt: skip
def test_refused_by_name(config, changes, named):
    with pytest.raises(CheckpointError) as caught:
        read({**config, **changes})
    for word in named:
        assert word in str(caught.value)
    assert caught.value.cause("zh") != caught.value.cause("en")


KEYS = [
    "layer_types",
    "sliding_window",
    "sliding_window_pattern",
    "no_rope_layers",
    "no_rope_layer_interval",
    "use_sliding_window",
    "use_bidirectional_attention",
    "query_pre_attn_scalar",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "rope_local_base_freq",
    "rope_parameters",
    "rope_scaling",
    PART,
    ORIGINAL,
]


@pytest.mark.parametrize("config", ALL, ids=lambda config: config["model_type"])
def test_every_key_in_turn_replaced_by_nonsense(config):
    """Whatever stands in a config, the answer is a spec or a CheckpointError; a spec can be written again."""
    nested = [{LOCAL: {"rope_type": "yarn"}}, {GLOBAL: []}, {LOCAL: {PART: 2}}]
    for key in [*config, *KEYS]:
        for value in (None, True, -1, 0, 1e308, float("inf"), "", "x", [], [1, 1], [LOCAL] * 2, {}, *nested, 10**30):
            try:
                spec = read({**config, key: value})
            except CheckpointError:
                continue
            family_for(spec)


def test_a_part_of_a_head_is_written_so_that_it_is_read_again():
    """Where width / head width rounds down, their product cut to a whole number would lose one."""
    for head_width in (10, 22, 46, 98, 128):
        for width in range(2, head_width, 2):
            attention = s.Attention(6, 2, head_width, head_width, position=s.Rotary(width=width, layout="interleaved"))
            spec = with_attention(read(GLM4), replace(attention, bias=s.Biases(query=True, key=True, value=True)))
            found = family_for(spec, [family_of(GLM4)])[1]
            assert found["rope_parameters"][PART] <= 1


def with_attention(spec: s.Spec, *attentions: s.Attention) -> s.DecoderOnly:
    assert isinstance(spec, s.DecoderOnly)
    blocks = spec.decoder.blocks
    several = attentions * (len(blocks) // len(attentions))
    changed = tuple(replace(block, attention=each) for block, each in zip(blocks, several, strict=True))
    return replace(spec, decoder=replace(spec.decoder, blocks=changed))


def test_what_the_nearest_config_cannot_mean_is_an_obstacle_and_no_crash():
    """LongRoPE over half a head: as Llama's config it would be impossible, as Phi-3's it is plain."""
    scaling = s.LongRoPE((1.0, 1.0), (2.0, 2.0), 32, 1.2)
    attention = s.Attention(6, 2, 8, 8, position=s.Rotary(width=4, scaling=scaling))
    spec = with_attention(read(PHI3), attention)
    assert family_for(spec)[0].model_type == "phi3"
    with pytest.raises(CheckpointError, match=r"phi3 \(spec\.decoder"):
        family_for(with_attention(read(PHI3), replace(attention, scale=0.3)), PUBLISHED)
    with pytest.raises(CheckpointError, match="impossible model"):
        family_of({"model_type": "llama"}).write(spec)


@pytest.mark.parametrize("family", PUBLISHED, ids=lambda family: family.model_type)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scales_out_of_all_proportion_are_refused(family, scale):
    local = s.Attention(6, 2, 16, 16, s.Causal(8), s.Rotary(), scale=scale)
    with pytest.raises(CheckpointError):
        family.write(with_attention(read(GEMMA2), local))

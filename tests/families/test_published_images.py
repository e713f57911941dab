"""Configs of models that see, ViT and CLIP, as they stand on the Hub, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from clearformer import spec as s
from clearformer.errors import CheckpointError
from clearformer.families import family_for, family_of
from clearformer.families.family import difference
from clearformer.spec.presets import vit

VIT_BASE: dict[str, Any] = {
    "architectures": ["ViTForImageClassification"],
    "attention_probs_dropout_prob": 0.0,
    "encoder_stride": 16,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 768,
    "id2label": {str(label): f"class {label}" for label in range(1000)},
    "image_size": 224,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "label2id": {f"class {label}": label for label in range(1000)},
    "layer_norm_eps": 1e-12,
    "model_type": "vit",
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
    "qkv_bias": True,
    "transformers_version": "4.13.0.dev0",
}
# What every section of CLIP's first configs carries: all defaults of that day.
OF_THAT_DAY: dict[str, Any] = {
    "_name_or_path": "",
    "add_cross_attention": False,
    "architectures": None,
    "attention_dropout": 0.0,
    "bos_token_id": 0,
    "chunk_size_feed_forward": 0,
    "cross_attention_hidden_size": None,
    "do_sample": False,
    "dropout": 0.0,
    "eos_token_id": 2,
    "hidden_act": "quick_gelu",
    "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    "initializer_factor": 1.0,
    "initializer_range": 0.02,
    "is_decoder": False,
    "is_encoder_decoder": False,
    "layer_norm_eps": 1e-05,
    "num_hidden_layers": 12,
    "pad_token_id": 1,
    "projection_dim": 512,
    "pruned_heads": {},
    "return_dict": True,
    "tie_encoder_decoder": False,
    "tie_word_embeddings": True,
    "torch_dtype": None,
    "typical_p": 1.0,
}
TEXT_B32 = OF_THAT_DAY | {
    "hidden_size": 512,
    "intermediate_size": 2048,
    "max_position_embeddings": 77,
    "model_type": "clip_text_model",
    "num_attention_heads": 8,
    "vocab_size": 49408,
}
IMAGE_B32 = OF_THAT_DAY | {
    "hidden_size": 768,
    "image_size": 224,
    "intermediate_size": 3072,
    "model_type": "clip_vision_model",
    "num_attention_heads": 12,
    "patch_size": 32,
}
CLIP_B32: dict[str, Any] = {
    "architectures": ["CLIPModel"],
    "initializer_factor": 1.0,
    "logit_scale_init_value": 2.6592,
    "model_type": "clip",
    "projection_dim": 512,
    "text_config": TEXT_B32,
    "text_config_dict": None,
    "torch_dtype": "float32",
    "transformers_version": None,
    "vision_config": IMAGE_B32,
    "vision_config_dict": None,
}
CLIP_TEXT = TEXT_B32 | {"architectures": ["CLIPTextModelWithProjection"]}
CLIP_IMAGE = IMAGE_B32 | {"architectures": ["CLIPVisionModelWithProjection"]}
PUBLISHED = [VIT_BASE, CLIP_B32, CLIP_TEXT, CLIP_IMAGE]


def read(config: dict[str, Any]) -> s.Spec:
    return family_of(config).read(config)


def test_vit_is_the_preset_but_for_its_eps():
    spec = read(VIT_BASE | {"layer_norm_eps": 1e-6})
    assert difference(spec, vit()) is None
    assert family_for(vit())[0].model_type == "vit"


def test_clip():
    spec = read(CLIP_B32)
    assert spec.text.head == s.Vector(s.Pooling(s.EndToken(49407)), width=512)
    assert spec.text.decoder.blocks[0].feedforward == s.Dense(2048, "quick_gelu")
    assert (spec.image.context, spec.image.encoder.input.norm) == (50, s.LayerNorm(1e-5))
    alone = read(CLIP_TEXT)
    assert (alone.decoder, alone.head.normalise) == (spec.text.decoder, False)
    laion = {"text_config_dict": {"hidden_act": "quick_gelu", "num_hidden_layers": 12}, "vision_config_dict": {}}
    assert read(CLIP_B32 | laion) == spec
    assert read({"model_type": "clip", "text_config": {}, "vision_config": {}}) == spec


@pytest.mark.parametrize("config", PUBLISHED)
def test_written_and_read_again(config):
    family = family_of(config)
    spec = family.read(config)
    again, written = family_for(spec)
    assert again is family
    assert difference(family.read(written), spec) is None


@pytest.mark.parametrize(
    ("config", "changes", "named"),
    [
        (VIT_BASE, {"patch_size": [16, 8]}, "patch_size"),
        (VIT_BASE, {"image_size": 230}, "230"),
        (VIT_BASE, {"image_size": [224, 0]}, "image_size"),
        (VIT_BASE, {"use_mask_token": True}, "use_mask_token"),
        (CLIP_B32, {"text_config": TEXT_B32 | {"eos_token_id": 50000}}, "50000|vocabulary"),
        (CLIP_B32, {"text_config": TEXT_B32 | {"moe": 1}}, "text_config.moe"),
        (CLIP_B32, {"vision_config": IMAGE_B32 | {"hidden_size": 770}}, "vision_config.hidden_size"),
        (CLIP_B32, {"vision_config_dict": {"patch_size": 16}}, "vision_config_dict"),
        (CLIP_B32, {"text_config": [1]}, "text_config"),
    ],
)
def test_refused_by_name(config, changes, named):
    with pytest.raises(CheckpointError, match=named.replace(".", r"\.")) as caught:
        read({**config, **changes})
    assert caught.value.cause("zh") != caught.value.cause("en")


@pytest.mark.parametrize("config", PUBLISHED)
def test_every_key_in_turn_replaced_by_nonsense(config):
    """Whatever stands in a config, the answer is a spec or a CheckpointError."""
    keys = [*config, "text_config_dict", "id2label", "tie_word_embeddings"]
    for key in set(keys) - {"model_type"}:
        for value in (None, True, -1, 0, 1e308, float("inf"), "", "x", [], [1], [1, 2], {}, {"rope_type": "yarn"}):
            try:
                read({**config, key: value})
            except CheckpointError:
                continue


def test_what_a_family_cannot_say_is_named():
    pooled = vit(pooled=True)
    with pytest.raises(CheckpointError, match=r"class_token"):
        family_of(VIT_BASE).write(pooled)
    assert family_for(pooled)[0].model_type == "clearformer"

"""The presets for images and series, held against the sizes of the published models."""

from __future__ import annotations

import pytest
import torch
from transformers import PatchTSTConfig, PatchTSTForPrediction, ViTConfig, ViTForImageClassification

from clearformer.build import empty
from clearformer.errors import SpecError
from clearformer.spec.presets import patch_forecaster, vit


def size(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def test_vit_has_the_parameters_of_vit_b_16() -> None:
    with torch.device("meta"):
        published = ViTForImageClassification(ViTConfig(num_labels=1000))
    assert size(empty(vit())) == size(published)
    small = vit(size=(8, 12), channels=1, patch=4, classes=3, width=8, heads=2, hidden=16, layers=1)
    with torch.device("meta"):
        config = ViTConfig(
            image_size=(8, 12),
            patch_size=4,
            num_channels=1,
            num_labels=3,
            hidden_size=8,
            num_attention_heads=2,
            num_hidden_layers=1,
            intermediate_size=16,
        )
        assert size(empty(small)) == size(ViTForImageClassification(config))


def test_the_forecaster_has_the_parameters_of_patch_tst() -> None:
    """And those of the norm behind the last block, which pre-norm needs."""
    config = PatchTSTConfig(
        num_input_channels=7,
        context_length=336,
        prediction_length=96,
        patch_length=16,
        patch_stride=8,
        d_model=128,
        num_attention_heads=16,
        num_hidden_layers=3,
        ffn_dim=256,
        use_cls_token=False,
        pooling_type=None,
        positional_encoding_type="random",
        loss="mse",
        head_dropout=0.0,
    )
    assert size(empty(patch_forecaster())) == size(PatchTSTForPrediction(config)) + 2 * 128


def test_a_look_back_shorter_than_a_patch_is_refused() -> None:
    with pytest.raises(SpecError):
        patch_forecaster(lookback=15, patch=16)

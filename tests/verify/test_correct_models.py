"""Models in which nothing is wrong are called so, whatever their family and head."""

from __future__ import annotations

import pytest
import torch

from clearformer.verify.verifying import verify
from parity.conftest import draw
from parity.saved_models import MODELS

NAMES = (
    *(
        "llama",
        "llama_labels",
        "mistral",
        "mixtral",
        "qwen2_moe",
        "qwen3",
        "gpt2_untied",
        "gemma",
        "gemma2",
        "gemma3_scaled",
    ),
    *("olmo2", "phi3", "smollm3", "glm4", "gpt_neox", "bloom", "mpt", "deepseek_v2", "deepseek_v3"),
    *("bert_masked", "roberta_labels", "distilbert", "modernbert", "vit_labels", "clip", "clip_image"),
    *("t5_gated", "t5_own_head", "marian_apart", "bart"),
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    def save(name: str):
        kind, config = MODELS[name]
        model = kind(config)
        if name == "t5_own_head":
            model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
        draw(model, seed=3)
        folder = tmp_path_factory.mktemp("correct") / name
        model.save_pretrained(folder)
        return folder

    return save


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_a_correct_model_is_equal_or_rounds(saved, name) -> None:
    folder = saved(name)
    beside_twin, beside_original = verify(folder, against="numpy"), verify(folder, against="hf")
    assert beside_twin.verdict == "equal"
    assert beside_original.verdict in ("equal", "rounding")
    for found in (beside_twin, beside_original):
        assert (found.first_difference, found.hypothesis) == (None, None)
        outputs = [row for row in found.rows if row.name.endswith(".output") and ".blocks." in row.name]
        # Every block is compared; an answer alone would not say where two models part.
        assert {row.name.split(".blocks.")[1].split(".")[0] for row in outputs} >= {"0", "1"}

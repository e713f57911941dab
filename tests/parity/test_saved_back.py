"""What we load and save again, transformers loads: same config meaning, no tensor missing or left over, same logits."""

from __future__ import annotations

import pytest
import torch

from clearformer.checkpoint import weight_table
from clearformer.checkpoint.writing import save_folder
from clearformer.families import family_for, family_of
from clearformer.families.generation import token_keys
from parity.saved_models import MODELS, UNUSED


@pytest.mark.parametrize("name", MODELS)
def test_transformers_loads_what_we_save(save_original, load_folder, tmp_path, name):
    kind, config = MODELS[name]
    found = save_original(kind(config), own_head=name == "t5_own_head")
    ours = load_folder(found.folder)
    family, written = family_for(ours.spec, (family_of(found.model.config.to_dict()),))
    tensors = weight_table.dump(family.table(ours.spec), dict(ours.model.named_parameters()))
    save_folder(tmp_path / "saved", token_keys(ours.generation) | written, tensors)

    again, report = kind.from_pretrained(tmp_path / "saved", output_loading_info=True, attn_implementation="eager")
    assert set(report["missing_keys"]) <= UNUSED.get(name, set())
    assert not report["unexpected_keys"]
    assert not report["mismatched_keys"]
    again.eval()
    weights = dict(again.named_parameters())
    for key, value in found.model.named_parameters():
        assert key in UNUSED.get(name, set()) or torch.equal(weights[key], value)
    assert found.distance_of(again) <= found.tolerance

"""Our own form says every spec, to the last field; its weights keep their names."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch
from hypothesis import given, settings

from clearformer.build import build, empty
from clearformer.checkpoint.writing import save_folder
from clearformer.errors import CheckpointError
from clearformer.families import FAMILIES, family_for, family_of
from clearformer.families.own import OWN
from clearformer.load import load
from clearformer.spec.presets import PRESETS, paper, preset
from drawing.models import any_spec


@settings(max_examples=60)
@given(spec=any_spec)
def test_every_spec_is_written_and_read_back_whole(spec):
    config = json.loads(json.dumps(OWN.write(spec)))
    assert family_of(config) is OWN
    assert OWN.read(config) == spec


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_with_their_weights(name):
    """Every parameter has its row, under its own name; shapes alone, for the big ones."""
    from clearformer.checkpoint import weight_table

    spec = preset(name)
    ours = dict(empty(spec).named_parameters())
    assert weight_table.dump(OWN.table(spec), ours).keys() == ours.keys()


def test_it_is_the_last_to_be_asked():
    assert FAMILIES[-1] is OWN
    spec = dataclasses.replace(paper(width=16, heads=2, hidden=32, layers=1, vocabulary=11), context=9)
    assert family_for(spec)[0] is OWN


def test_saved_and_loaded_the_numbers_are_the_same(tmp_path):
    model = build(paper(width=16, heads=2, hidden=32, layers=1, vocabulary=11), generator=torch.Generator())
    weights = dict(model.named_parameters())
    save_folder(tmp_path / "m", OWN.write(model.spec), {name: w.bfloat16() for name, w in weights.items()})
    found = dict(load(tmp_path / "m", dtype=torch.bfloat16).model.named_parameters())
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[name], weights[name].bfloat16()) for name in found)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"spec": None}, "found None"),
        ({"spec": {"type": "DecoderOnyl"}}, "Did you mean DecoderOnly"),
        ({"spec": []}, "spec"),
        ({"spce": 1}, "Did you mean spec"),
        ({"architectures": ["GPT2Model"]}, "GPT2Model"),
        ({"context": 9}, "context"),
    ],
)
def test_what_is_no_spec_is_refused_by_name(change, named):
    with pytest.raises(CheckpointError, match=named):
        OWN.read(OWN.write(paper()) | change)


def test_weights_of_another_spec_are_refused(tmp_path):
    spec = paper(width=16, heads=2, hidden=32, layers=1, vocabulary=11)
    weights = dict(build(spec).named_parameters())
    taken = weights.pop("encoder.blocks.0.attention.query.weight")
    save_folder(tmp_path / "lacking", OWN.write(spec), weights)
    with pytest.raises(CheckpointError, match=r"missing: encoder\.blocks\.0\.attention\.query\.weight"):
        load(tmp_path / "lacking")
    save_folder(
        tmp_path / "more",
        OWN.write(spec),
        {**weights, "query": taken.clone(), "encoder.blocks.0.attention.query.weight": taken},
    )
    with pytest.raises(CheckpointError, match="no place in this model: query"):
        load(tmp_path / "more")

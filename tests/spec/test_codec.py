"""A spec written as JSON and read back is the same spec; what is not a spec is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from clearformer import spec as s
from clearformer.errors import SpecError
from clearformer.messages import spec as messages
from clearformer.spec.codec import from_json, to_json
from clearformer.spec.presets import PRESETS, tiny_gpt
from drawing.models import any_spec


@settings(max_examples=100)
@given(any_spec)
def test_round_trip_over_the_whole_space(spec: s.Spec) -> None:
    assert from_json(json.loads(json.dumps(to_json(spec)))) == spec


@pytest.mark.parametrize("name", PRESETS)
def test_presets_round_trip(name: str) -> None:
    assert from_json(json.loads(json.dumps(to_json(PRESETS[name]())))) == PRESETS[name]()


def test_fields_left_out_take_their_defaults() -> None:
    block = {
        "type": "Block",
        "attention": {"type": "Attention", "heads": 2, "kv_heads": 1, "key_width": 4, "value_width": 4},
        "feedforward": {"type": "Dense", "width": 8},
        "attention_norm": {"type": "RMSNorm"},
        "feedforward_norm": None,
    }
    stack = {"type": "Stack", "width": 8, "input": {"type": "Tokens", "vocabulary": 9}, "blocks": [block]}
    written = {"type": "DecoderOnly", "decoder": stack, "head": {"type": "Language"}, "context": 16}
    expected = s.Block(s.Attention(2, 1, 4, 4), s.Dense(8), s.RMSNorm(), None)
    assert from_json(written) == s.DecoderOnly(s.Stack(8, s.Tokens(9), (expected,)), s.Language(), context=16)


def changed(path: str, value: object) -> dict[str, Any]:
    """A small GPT's JSON with one value replaced or added; numbers in the path index lists."""
    data = to_json(tiny_gpt(layers=1))
    *parents, last = path.split(".")
    place: Any = data
    for name in parents:
        place = place[int(name)] if name.isdigit() else place[name]
    place[int(last) if last.isdigit() else last] = value
    return data


BLOCK = "decoder.blocks.0"
WRONG = [
    ("context", "256", messages.WRONG_KIND, "DecoderOnly.context"),
    ("context", True, messages.WRONG_KIND, "DecoderOnly.context"),
    ("context", 256.0, messages.WRONG_KIND, "DecoderOnly.context"),
    ("context", None, messages.WRONG_KIND, "DecoderOnly.context"),
    ("decoder", [], messages.WRONG_KIND, "DecoderOnly.decoder"),
    ("decoder.blocks", {"0": 1}, messages.UNKNOWN_TYPE, "None"),
    ("decoder.blocks", "blocks", messages.WRONG_KIND, "Stack.blocks"),
    (BLOCK, 3, messages.WRONG_KIND, "Stack.blocks"),
    (f"{BLOCK}.dropout", "0.1", messages.WRONG_KIND, "Block.dropout"),
    (f"{BLOCK}.attention.type", "Atention", messages.UNKNOWN_TYPE, "Did you mean Attention?"),
    (f"{BLOCK}.attention.type", ["Attention"], messages.UNKNOWN_TYPE, "Attention"),
    (f"{BLOCK}.attention.type", "Dense", messages.WRONG_KIND, "Block.attention"),
    (f"{BLOCK}.attention.visibility", {"type": "Tokens", "vocabulary": 3}, messages.WRONG_KIND, "Causal"),
    (f"{BLOCK}.attention.head", 2, messages.UNKNOWN_FIELD, "Did you mean heads?"),
    (f"{BLOCK}.attention.zz", 2, messages.UNKNOWN_FIELD, "Attention has no field 'zz'"),
    (f"{BLOCK}.attention.scale", True, messages.WRONG_KIND, "Attention.scale"),
    (f"{BLOCK}.attention.scale", 10**400, messages.OUT_OF_RANGE, "inf"),
    (f"{BLOCK}.attention.scale", float("nan"), messages.OUT_OF_RANGE, "nan"),
    (f"{BLOCK}.feedforward.activation", 3, messages.WRONG_KIND, "Dense.activation"),
    (f"{BLOCK}.feedforward.activation", "swish", messages.NOT_ONE_OF, "swish"),
    ("head.type", "Patches", messages.WRONG_KIND, "DecoderOnly.head"),
]


@pytest.mark.parametrize(("path", "value", "failure", "said"), WRONG, ids=[f"{p}={str(v)[:9]}" for p, v, *_ in WRONG])
def test_what_is_wrong_is_named(path: str, value: object, failure: object, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_json(changed(path, value))
    assert caught.value.failure is failure
    assert said in str(caught.value)


def test_a_missing_field_is_named() -> None:
    data = changed("context", 256)
    del data["decoder"]["input"]["vocabulary"]
    with pytest.raises(SpecError, match="Tokens needs the field vocabulary"):
        from_json(data)


@pytest.mark.parametrize("data", [None, 3, [], "x", {}, {"type": None}, {"type": "Block"}, {"type": "__class__"}])
def test_what_is_no_spec_is_refused(data: object) -> None:
    with pytest.raises(SpecError):
        from_json(data)

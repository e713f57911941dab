"""Configs from other hands: a key left out, null, or of another kind means what transformers takes it to mean, or is
refused; nothing but CheckpointError is ever raised."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import transformers

from clearformer.errors import CheckpointError
from clearformer.families import family_of
from clearformer.families.family import difference
from clearformer.spec import Spec
from parity.saved_models import MODELS

# What some published model has where a config says nothing: transformers completes it, and we want it said.
SIZES = {
    *("vocab_size", "hidden_size", "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size"),
    *("num_hidden_layers", "num_attention_heads", "max_position_embeddings"),
    *("n_positions", "n_embd", "n_head", "n_heads", "n_layer", "n_layers", "dim", "hidden_dim"),
    *("d_ff", "d_model", "d_kv", "num_layers", "num_heads"),
    *(f"{side}_{size}" for side in ("encoder", "decoder") for size in ("layers", "attention_heads", "ffn_dim")),
    *("kv_lora_rank", "v_head_dim", "n_routed_experts", "n_shared_experts", "num_experts_per_tok"),
}
ABSENT = object()
ODD: list[Any] = [ABSENT, None, 0, -1, 1, 1.0, 2.5, "2", "x", True, False, [], {}, [1], 1e30]
FEW: list[Any] = [ABSENT, None, 0, 2.5, "2", [1]]
# One config of each family; the rest of them, and every odd value, in the long run.
FIRST = list({type(config): name for name, (_, config) in reversed(MODELS.items())}.values())
# A switch that transformers 5 reads as the scale of logits, and ties T5's head all the same; a length that it takes
# from outside where the rope's own differs, and we refuse.
READ_OTHERWISE = {("t5", "tie_word_embeddings"), ("phi3", "original_max_position_embeddings")}


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    """What transformers says of each odd value."""
    before = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity(logging.CRITICAL)
    yield
    transformers.logging.set_verbosity(before)


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a value stands: every key, and every member of an object or of a list's beginning."""
    if at:
        yield at
    members = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*at, key))


def changed(config: dict[str, Any], place: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    inner = config = copy.deepcopy(config)
    for key in place[:-1]:
        inner = inner[key]
    if odd is ABSENT:
        del inner[place[-1]]
    else:
        inner[place[-1]] = odd
    return config


def meaning(config: dict[str, Any]) -> Spec | None:
    """None for what is refused; any other exception is a fault."""
    try:
        return family_of(config).read(config)
    except CheckpointError:
        return None


def completed(kind: type[Any], config: dict[str, Any]) -> dict[str, Any] | None:
    """The config as transformers completes it; None where it refuses, in whatever way."""
    try:
        filled = kind.from_dict(copy.deepcopy(config))
    except Exception:
        return None
    return {**json.loads(filled.to_json_string()), "architectures": config["architectures"]}


def require_one_meaning(name: str, odd_values: list[Any]) -> None:
    model, config = MODELS[name]
    written = {**json.loads(config.to_json_string()), "architectures": [model.__name__]}
    assert meaning(written) is not None
    for place in list(places(written)):
        if place[0] in {"architectures", "model_type"} or (config.model_type, place[0]) in READ_OTHERWISE:
            continue
        for odd in odd_values:
            given = changed(written, place, odd)
            ours, theirs = meaning(given), completed(type(config), given)
            if ours is not None and theirs is not None and (full := meaning(theirs)) is not None:
                assert difference(ours, full) is None, (place, odd)


@pytest.mark.parametrize("name", FIRST)
def test_an_odd_value_means_what_transformers_takes_it_to_mean(name):
    require_one_meaning(name, FEW)


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_every_odd_value_means_what_transformers_takes_it_to_mean(name):
    require_one_meaning(name, ODD)


@pytest.mark.parametrize("name", MODELS)
def test_an_absent_key_is_completed_as_transformers_completes_it(name):
    """Where a config lacks one key: both mean the same model, or both refuse."""
    model, config = MODELS[name]
    written = {**json.loads(config.to_json_string()), "architectures": [model.__name__]}
    for key in written.keys() - SIZES - {"architectures", "model_type"}:
        if (config.model_type, key) in READ_OTHERWISE:
            continue
        lacking = changed(written, (key,), ABSENT)
        filled = completed(type(config), lacking)
        ours, theirs = meaning(lacking), None if filled is None else meaning(filled)
        # Too few key heads of the rest for transformers' default is its own error, at its first product.
        if theirs is not None or key != "num_key_value_heads":
            assert difference(ours, theirs) is None, key


@pytest.mark.parametrize("found", [0, -1, 1.0, "2", "x", True, [], [1]])
def test_labels_that_are_no_object_are_refused_by_name(found):
    config = json.loads(MODELS["bert_labels"][1].to_json_string())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": found}
    with pytest.raises(CheckpointError, match=r"id2label: expected an object"):
        family_of(config).read(config)


@pytest.mark.parametrize("name", ["deepseek_v2", "deepseek_v3"])
def test_a_rank_left_out_is_the_published_one_and_null_is_none(name):
    model, config = MODELS[name]
    written = {**json.loads(config.to_json_string()), "architectures": [model.__name__]}
    for odd, rank in ((ABSENT, 1536), (None, None)):
        spec = meaning(changed(written, ("q_lora_rank",), odd))
        assert spec is not None
        assert spec.decoder.blocks[0].attention.query_rank == rank

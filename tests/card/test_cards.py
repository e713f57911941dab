"""A card knows old spellings, nested sections, foreign families; it marks what contradicts and what is unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from card.configs import CLIP, DEEPSEEK, GEMMA3, GPT2, LLAMA, LLAVA, MIXTRAL, T5
from clearformer.card import Card, Row, card
from clearformer.card.layout import as_text
from clearformer.errors import ClearformerError
from clearformer.messages import Language
from clearformer.messages import card as say
from clearformer.spec.codec import to_json
from clearformer.spec.presets import PRESETS, tiny_gpt

EVERY = {"llama": LLAMA, "gpt2": GPT2, "gemma3": GEMMA3, "mixtral": MIXTRAL, "deepseek": DEEPSEEK, "t5": T5}
EVERY |= {"clip": CLIP, "llava": LLAVA}


def row(found: Card, key: str) -> Row:
    (one,) = [each for each in found.rows if each.key == key]
    return one


def leaves(config: dict[str, Any], stem: str = "") -> list[str]:
    return [
        key
        for name, value in config.items()
        for key in (leaves(value, f"{stem}{name}.") if isinstance(value, dict) and value else [stem + name])
    ]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_key_has_its_row_or_is_unknown(name: str, language: Language) -> None:
    found = card(EVERY[name], language=language)
    assert sorted([each.key for each in found.rows] + [key for key, _ in found.unknown]) == sorted(leaves(EVERY[name]))
    assert all(each.meaning and each.cost for each in found.rows)
    assert found.unknown == ((("image_token_index", 100),) if name == "llava" else ())
    assert found.refused is None


def test_old_spellings_say_what_new_ones_say() -> None:
    old, new = card(GPT2), card(LLAMA)
    for theirs, ours in (
        ("n_embd", "hidden_size"),
        ("n_head", "num_attention_heads"),
        ("n_layer", "num_hidden_layers"),
    ):
        assert row(old, theirs).meaning == row(new, ours).meaning
    flat = {**LLAMA, "rope_scaling": {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32}}
    nested = {key: value for key, value in LLAMA.items() if key != "rope_theta"}
    rope = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 32, "rope_theta": 5000.0}
    before, after = card(flat), card({**nested, "rope_parameters": rope})
    assert row(before, "rope_scaling.type").why == row(after, "rope_parameters.rope_type").why
    assert row(before, "rope_theta").cost == row(after, "rope_parameters.rope_theta").cost


def test_values_of_a_kind_of_their_own_are_explained_apart() -> None:
    kinds = [card({**LLAMA, "num_key_value_heads": count}) for count in (1, 2, 6)]
    assert len({row(each, "num_key_value_heads").why for each in kinds}) == 3
    acts = [card({**GPT2, "activation_function": name}) for name in ("relu", "gelu", "gelu_new", "quick_gelu", "silu")]
    assert len({row(each, "activation_function").meaning for each in acts}) == 5
    assert "RMSNorm" in row(card(T5), "layer_norm_epsilon").meaning
    assert "LayerNorm" in row(card(GPT2), "layer_norm_epsilon").meaning


def test_what_changes_nothing_says_so() -> None:
    found = card({**MIXTRAL, "output_router_logits": True, "bos_token_id": 1, "sliding_window": None})
    harmless = say.HARMLESS.en
    assert row(found, "output_router_logits").cost == harmless
    assert row(found, "bos_token_id").cost == harmless
    qwen = {**LLAMA, "model_type": "qwen2", "architectures": None, "sliding_window": 8, "max_window_layers": 2}
    qwen = {key: value for key, value in qwen.items() if key not in ("attention_bias", "mlp_bias")}
    off, on = (card({**qwen, "use_sliding_window": used}) for used in (False, True))
    assert row(off, "sliding_window").cost == harmless
    assert row(on, "sliding_window").cost != harmless


def test_a_special_token_that_is_read_is_not_called_harmless() -> None:
    found = row(card(CLIP), "text_config.eos_token_id")
    assert (found.section, found.cost == say.HARMLESS.en) == ("output", False)


def test_unknown_and_unread_keys_stand_apart() -> None:
    found = card({**GPT2, "rope_theta": 1e4, "unheard_of": [1, 2]})
    assert found.unknown == (("unheard_of", [1, 2]),)
    assert "gpt2" in row(found, "rope_theta").cost
    assert found.refused is not None
    assert "rope_theta" in found.refused
    assert "unheard_of" in found.refused
    # The rest is priced all the same.
    assert row(found, "n_embd").cost == row(card(GPT2), "n_embd").cost
    assert "type" in dict(card({**LLAMA, "type": "x"}).unknown)


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        ({"num_attention_heads": 5, "num_key_value_heads": 5}, "hidden_size", "num_attention_heads"),
        ({"num_key_value_heads": 4}, "num_attention_heads", "num_key_value_heads"),
        ({"bos_token_id": 101}, "vocab_size", "bos_token_id"),
        ({"layer_types": ["full_attention"] * 2}, "num_hidden_layers", "layer_types"),
        ({"model_type": "unheard", "num_attention_heads": 10}, "hidden_size", "num_attention_heads"),
        (
            {"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 3},
            "num_local_experts",
            "num_experts_per_tok",
        ),
    ],
)
def test_values_that_cannot_both_hold_are_marked(changes: dict[str, Any], first: str, second: str) -> None:
    found = card({**LLAMA, **changes})
    for key, other in ((first, second), (second, first)):
        mark = row(found, key).conflict
        assert mark is not None
        assert other in mark
    assert all(each.conflict is None for each in found.rows if each.key not in (first, second))
    assert all(each.conflict is None for each in card(LLAMA).rows)


def test_a_value_that_the_family_refuses_is_marked_in_the_users_language() -> None:
    found = card({**LLAMA, "pretraining_tp": 4}, language="zh")
    mark = row(found, "pretraining_tp").conflict
    assert mark is not None
    assert "拒绝" in mark
    assert found.refused is not None
    assert "pretraining_tp" in found.refused


def test_a_family_that_is_not_loaded_is_explained_all_the_same() -> None:
    found = card({"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 4, "multi_query": True})
    assert (found.family, found.loaded) == ("falcon", False)
    assert "not loaded" in found.summary
    assert row(found, "hidden_size").meaning == row(card(LLAMA), "hidden_size").meaning
    assert found.unknown == (("multi_query", True),)


def test_towers_are_sections_with_prices_of_their_own() -> None:
    alone, inside = card(LLAMA), card(LLAVA)
    assert not inside.loaded
    for key in ("hidden_size", "num_key_value_heads", "intermediate_size"):
        assert row(inside, f"text_config.{key}").cost == row(alone, key).cost
    text = as_text(card(CLIP), 80)
    assert "text_config: Attention" in text
    assert "vision_config: Attention" in text


def test_a_model_may_be_named_in_every_way(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "own.json").write_text(json.dumps(to_json(tiny_gpt())))
    folder, file = card(str(tmp_path)), card(tmp_path / "config.json")
    assert folder.rows == file.rows == card(LLAMA).rows
    own, preset, spec = card(tmp_path / "own.json"), card("tiny-gpt"), card(tiny_gpt())
    assert own.rows == preset.rows == spec.rows
    run = card({"model_type": "clearformer", "architectures": ["Clearformer"], "spec": to_json(tiny_gpt())})
    assert [each.cost for each in run.rows if each.key.startswith("spec.")] == [each.cost for each in own.rows]
    with pytest.raises(ClearformerError):
        card(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_card(name: str) -> None:
    for language, word in (("en", "costs"), ("zh", "代价")):
        found = card(name, language=language)  # type: ignore[arg-type]
        assert found.unknown == ()
        assert found.refused is None
        assert word in as_text(found, 80)


@pytest.mark.real
def test_gguf_metadata_say_what_the_config_says(smollm2_gguf: Path) -> None:
    found = card(str(smollm2_gguf))
    assert found.unknown == ()
    assert found.refused is None
    assert "grouped queries 9:3" in found.summary
    assert "134.5M parameters" in found.summary
    assert row(found, "llama.attention.head_count_kv").why == row(card(LLAMA), "num_key_value_heads").why
    assert all(each.cost == say.HARMLESS.en for each in found.rows if each.key.startswith("tokenizer."))

"""Every key that a family's reader asks for has its explanation in both languages, and so has every field of a spec."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from clearformer.card import names
from clearformer.card.costs import COSTS
from clearformer.card.explained import CASES, EXPLAINED, HARMLESS, SECTION_OF
from clearformer.families import FAMILIES, GGUF_FORMS, PUBLISHED, Family
from clearformer.families.config_reader import ConfigReader
from clearformer.families.pretrained_config import HARMLESS as DECLARED
from clearformer.messages import Message
from clearformer.messages import card as say
from clearformer.spec import Spec
from clearformer.spec.typed import types_within
from families.test_gguf_forms import LLAMA_KEYS, Tensors

FOLDER = Path(__file__).parents[2] / "src" / "clearformer" / "families"
READERS = {"config", "section", "metadata", "reader", "inner", "nested"}
METHODS = {name for name in vars(ConfigReader) if not name.startswith("_")} - {"finish", "unread", "unused"}
# Of sentence-transformers' own files, and pieces of a key that has an index.
NOT_OF_CONFIGS = {"word_embedding_dimension", "include_prompt", "pooling_mode_*", "{key}[0]", "{key}[1]"}
NOT_OF_CONFIGS |= {"rope_freqs.weight"}
PAPER = re.compile(r"\d{4}\.\d{4,5}")
PLAIN = str.maketrans("（），；：。", "(),;:.")
WITHIN_ROPE = "rope_parameters"


def concept(key: str) -> str | None:
    if "." in key and not key.startswith("transformers."):
        first = key.split(".")[0]
        return names.of_gguf(key, "" if first in ("split", "general") else first, SECTION_OF)
    return names.of_config(key, SECTION_OF) or names.of_config(key, SECTION_OF, within=WITHIN_ROPE)


def constants(tree: ast.Module) -> dict[str, list[str]]:
    """A module's own names for keys, one or several."""
    found = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found[name.id] = list(texts(value, {}))
    return found


def texts(node: ast.AST, known: dict[str, list[str]]) -> Iterator[str]:
    """The keys that an argument stands for."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name):
        yield from known.get(node.id, [])
    elif isinstance(node, ast.Tuple | ast.List):
        for each in node.elts:
            yield from texts(each.value if isinstance(each, ast.Starred) else each, known)


def asks(called: ast.expr) -> bool:
    """Whether this is a method of a reader."""
    owner = called.value if isinstance(called, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in READERS and getattr(called, "attr", "") in METHODS


def written_keys() -> set[str]:
    """Keys that stand as words where a reader is asked for them."""
    found: set[str] = set()
    for path in sorted(FOLDER.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = constants(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and asks(node.func):
                asked = node.args[:2] if getattr(node.func, "attr", "") == "contradiction" else node.args[:1]
                found.update(key for each in asked for key in texts(each, known))
    return found - NOT_OF_CONFIGS


def asked_keys(monkeypatch: pytest.MonkeyPatch, families: Sequence[Family] = PUBLISHED) -> set[str]:
    """Keys that are asked for while each family reads a config, its sections' too, present or not."""
    found: set[str] = set()

    class Listening(ConfigReader):
        def _get(self, key: str) -> object:
            found.add(key)
            return super()._get(key)

        def harmless(self, keys) -> None:  # type: ignore[no-untyped-def]
            keys = list(keys)
            found.update(keys)
            super().harmless(keys)

        def section(self, key: str) -> ConfigReader | None:
            inner = super().section(key)
            if inner is not None:
                inner.__class__ = Listening
            return inner

    monkeypatch.setattr("clearformer.families.family.ConfigReader", Listening)
    for family in families:
        for kind in ("default", "linear", "dynamic", "yarn", "llama3", "longrope"):
            for architecture in family.architectures:
                family.examine(sized(family.model_type, architecture, kind))
    return found - NOT_OF_CONFIGS


def asked_gguf_keys(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Keys that are asked for while each architecture of llama.cpp reads a file's metadata, present or not."""
    found: set[str] = set()

    class Listening(ConfigReader):
        def _get(self, key: str) -> object:
            found.add(key)
            return super()._get(key)

    monkeypatch.setattr("clearformer.families.gguf.form.ConfigReader", Listening)
    for form in GGUF_FORMS:
        own = {key.replace("llama.", f"{form.architecture}."): value for key, value in LLAMA_KEYS.items()}
        own |= {f"{form.architecture}.attention.layer_norm_epsilon": 1e-5}
        tables = {name: torch.zeros(100, 48) for name in ("token_embd.weight", "token_types.weight")}
        form.examine(Tensors(own | {"bert.attention.causal": False}, tables))
    return found - NOT_OF_CONFIGS


def sized(model_type: str, architecture: str, kind: str) -> dict[str, object]:
    """A config with every size that any family may require."""
    whole = {
        **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "n_embed"), 64),
        **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"), 4),
        **dict.fromkeys(("decoder_attention_heads",), 4),
        **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"), 2),
        **dict.fromkeys(("decoder_layers", "num_experts_per_tok", "n_shared_experts"), 2),
        **dict.fromkeys(("intermediate_size", "d_ff", "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim"), 96),
        **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "vocab_size"), 96),
        **dict.fromkeys(("max_position_embeddings", "n_positions", "seq_length", "max_seq_len"), 128),
        **dict.fromkeys(("d_kv", "kv_lora_rank", "qk_nope_head_dim", "v_head_dim", "qk_rope_head_dim"), 16),
        "n_routed_experts": 8,
    }
    factors = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    rope = {"rope_type": kind, "factor": 2.0, "original_max_position_embeddings": 64, **factors}
    sections = {"text_config": {}, "vision_config": {}, "attn_config": {}}
    return {"model_type": model_type, "architectures": [architecture], **whole, **sections, "rope_scaling": rope}


def test_every_key_that_is_read_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    found = written_keys() | asked_keys(monkeypatch) | asked_gguf_keys(monkeypatch) | set(DECLARED)
    assert len(found) > 250
    assert {"num_key_value_heads", "rope_theta", "decoder_ffn_dim", "llama.block_count", "truncate"} <= found
    assert sorted(key for key in found if concept(key) is None) == []


def test_every_field_of_a_spec_is_explained() -> None:
    lacking = [
        f"{name}.{field.name}"
        for name, kind in types_within(Spec).items()
        for field in dataclasses.fields(kind)
        if names.of_field(name, field.name, SECTION_OF) is None
    ]
    assert lacking == []


def test_every_spelling_leads_to_an_explanation() -> None:
    for table in (names.SPELLINGS, names.GGUF, names.FIELDS):
        assert set(table.values()) <= set(SECTION_OF)
    assert set(COSTS) <= set(EXPLAINED)
    assert {case.split(":")[0] for case in CASES} <= set(EXPLAINED)
    assert set(SECTION_OF.values()) == set(say.SECTIONS)


def sentences() -> Iterator[Message]:
    for each in EXPLAINED.values():
        yield from (each.meaning, each.in_2017, each.why)
    for case in CASES.values():
        yield from (case.meaning, case.why)
    yield from HARMLESS.values()


def test_every_explanation_is_written_in_both_languages() -> None:
    for message in sentences():
        if message == say.NOTHING:
            continue
        assert (message.en[-1], message.zh[-1]) == (".", "。"), message
        chinese = any(unicodedata.name(letter, "").startswith("CJK") for letter in message.zh)
        assert chinese or message.zh.translate(PLAIN).replace(" ", "") == message.en.replace(" ", ""), message
        assert not any(unicodedata.name(letter, "").startswith("CJK") for letter in message.en), message
        # A paper is named alike in both.
        cited = [word.strip("(),;:.（），；：。、") for text in (message.en, message.zh) for word in split(text)]
        papers = [
            word for word in cited if len(word) in (9, 10) and word[4:5] == "." and word.replace(".", "").isdigit()
        ]
        half = len(papers) // 2
        assert papers[:half] == papers[half:], message


def split(text: str) -> list[str]:
    for mark in "（），；：、。":
        text = text.replace(mark, " ")
    return text.split()


def test_a_key_without_explanation_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk sees what a reader asks for: a planted key is found."""
    translate = FAMILIES[0].translate

    def planted(config: ConfigReader, architecture: str) -> Spec:
        config.flag("planted_key", False)
        return translate(config, architecture)

    assert "planted_key" in asked_keys(monkeypatch, [dataclasses.replace(FAMILIES[0], translate=planted)])
    assert concept("planted_key") is None


def test_the_room_imports_no_torch_for_a_config() -> None:
    code = (
        "import sys, json; from clearformer.card import card;"
        f"found = card(json.loads({json.dumps(json.dumps(sized('llama', 'LlamaForCausalLM', 'yarn')))}));"
        "assert found.rows; sys.exit('torch' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr

"""llama.cpp's `gemma`, `gemma2` and `gemma3`. Its converter adds the 1 of every norm to the stored weights."""

from __future__ import annotations

from clearformer.checkpoint.renames import Raised, Table
from clearformer.checkpoint.tensor_file import TensorFile
from clearformer.errors import CheckpointError
from clearformer.families import gemma, gemma2, gemma3
from clearformer.families.config_reader import ConfigReader
from clearformer.families.gguf.decoder import (
    ATTENTION,
    GATED,
    HEAD_NORMS,
    NORMS,
    Dialect,
    Metadata,
    Pairs,
    Parts,
    block_rows,
    decoder_form,
    decoder_table,
    require_tied,
)
from clearformer.families.gguf.form import refuse
from clearformer.families.gguf.rotary import Words
from clearformer.families.gguf.values import decimal
from clearformer.families.layer_kinds import GLOBAL, LOCAL, reach_of
from clearformer.families.rope import write_rotary
from clearformer.messages import families as say
from clearformer.spec import Attention, Language, LinearScaling, Rotary, Spec

_SANDWICH: Pairs = (("post_attention_norm", "attention_output_norm"), ("post_ffw_norm", "feedforward_output_norm"))
# Of how many layers one is global, and how many layers the one size has whose scores are scaled by D / heads.
_PATTERN = {"gemma2": 2, "gemma3": 6}
_SCALED_BY_WIDTH = {"gemma2": 46, "gemma3": 62}


def table(spec: Spec) -> Table:
    norms = block_rows(NORMS + HEAD_NORMS + _SANDWICH, Raised)
    return decoder_table(block_rows(ATTENTION + GATED) + norms, Raised)


def _write_gemma(parts: Parts) -> Metadata:
    require_tied("gemma", parts)
    return {}


def _read_layered(architecture: str, metadata: ConfigReader, sizes: Metadata, window: int) -> Metadata:
    """What Gemma 2 and 3 share: which layers are local, none without a window, and how scores are scaled."""
    layers, width, heads = (_whole(sizes[key]) for key in ("num_hidden_layers", "hidden_size", "num_attention_heads"))
    local = _read_pattern(f"{architecture}.attention.sliding_window_pattern", metadata, layers, architecture)
    by_width = layers == _SCALED_BY_WIDTH[architecture]
    return {
        "sliding_window": window or None,
        "layer_types": [LOCAL if each and window else GLOBAL for each in local],
        "query_pre_attn_scalar": width // heads if by_width else sizes["head_dim"],
    }


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _read_pattern(key: str, metadata: ConfigReader, layers: int, architecture: str) -> tuple[bool, ...]:
    """One in how many layers is global, or a list of which are local."""
    given = metadata.raw(key)
    if isinstance(given, list):
        if len(given) != layers or not all(type(each) in (bool, int) and each in (0, 1) for each in given):
            found = str(given)[:80]
            raise CheckpointError(say.BAD_VALUE, path=metadata.path, key=key, expected=f"{layers} × 0 | 1", found=found)
        return tuple(bool(each) for each in given)
    return _implied(layers, metadata.whole(key, _PATTERN[architecture], at_least=0))


def _implied(layers: int, every: int) -> tuple[bool, ...]:
    return tuple(every == 0 or layer % every < every - 1 for layer in range(layers))


def _write_pattern(architecture: str, parts: Parts) -> Metadata:
    attentions = _attentions(parts)
    local = [reach_of(each) is not None for each in attentions]
    window = next((reach_of(each) for each in attentions if reach_of(each) is not None), None)
    written: Metadata = {} if window is None else {f"{architecture}.attention.sliding_window": window}
    if any(local) and tuple(local) != _implied(len(local), _PATTERN[architecture]):
        written[f"{architecture}.attention.sliding_window_pattern"] = local
    return written


def _attentions(parts: Parts) -> tuple[Attention, ...]:
    return tuple(block.attention for block in parts.spec.decoder.blocks if isinstance(block.attention, Attention))


def _read_gemma2(metadata: ConfigReader, tensors: TensorFile, sizes: Metadata) -> Metadata:
    base = sizes["rope_parameters"]
    assert isinstance(base, dict)
    metadata.only("gemma2.rope.freq_base_swa", base["rope_theta"])
    return {
        **_read_layered("gemma2", metadata, sizes, metadata.whole("gemma2.attention.sliding_window", 4096)),
        "attn_logit_softcapping": decimal(metadata.number("gemma2.attn_logit_softcapping", 50.0)),
        "final_logit_softcapping": decimal(metadata.number("gemma2.final_logit_softcapping", 30.0)),
    }


def _write_gemma2(parts: Parts) -> Metadata:
    require_tied("gemma2", parts)
    caps = {
        "gemma2.attn_logit_softcapping": parts.attention.score_cap,
        "gemma2.final_logit_softcapping": parts.spec.head.cap if isinstance(parts.spec.head, Language) else None,
    }
    if not any(reach_of(each) for each in _attentions(parts)):
        refuse("gemma2", "visibility", "Causal()", "Causal(window)")
    return {**_write_pattern("gemma2", parts), **{key: cap for key, cap in caps.items() if cap is not None}}


def _read_gemma3(metadata: ConfigReader, tensors: TensorFile, sizes: Metadata) -> Metadata:
    """Local layers have a base of their own and are not stretched; without a window there are none."""
    window = metadata.whole("gemma3.attention.sliding_window", 0, at_least=0)
    local = decimal(metadata.number("gemma3.rope.freq_base_swa", 10000.0))
    cap = decimal(metadata.number("gemma3.final_logit_softcapping", 0.0))
    return {
        **_read_layered("gemma3", metadata, sizes, window),
        "final_logit_softcapping": cap or None,
        "rope_parameters": {GLOBAL: sizes["rope_parameters"], LOCAL: write_rotary(Rotary(local))},
    }


def _write_gemma3(parts: Parts) -> Metadata:
    head, attentions = parts.spec.head, _attentions(parts)
    written: Metadata = _write_pattern("gemma3", parts)
    if isinstance(head, Language) and head.cap is not None:
        written["gemma3.final_logit_softcapping"] = head.cap
    for kind in (False, True):
        rotary = next((each.position for each in attentions if (reach_of(each) is not None) == kind), None)
        if not isinstance(rotary, Rotary):
            continue
        if kind:
            written["gemma3.rope.freq_base_swa"] = rotary.base
        else:
            written["gemma3.rope.freq_base"] = rotary.base
            if isinstance(rotary.scaling, LinearScaling):
                written |= {"gemma3.rope.scaling.type": "linear", "gemma3.rope.scaling.factor": rotary.scaling.factor}
    return written


GEMMA = decoder_form(Dialect("gemma", "GemmaForCausalLM", gemma.translate, table, write=_write_gemma))
GEMMA2 = decoder_form(Dialect("gemma2", "Gemma2ForCausalLM", gemma2.translate, table, _read_gemma2, _write_gemma2))
# YaRN's sharpening would fall on Gemma 3's local layers too, where llama.cpp leaves half of it out.
GEMMA3 = decoder_form(
    Dialect(
        *("gemma3", "Gemma3ForCausalLM", gemma3.translate, table, _read_gemma3, _write_gemma3),
        rotary=Words("gemma3.", kinds=("linear", "none")),
    )
)
